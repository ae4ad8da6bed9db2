"""Metadata for the package index: README.md with absolute links as the description, and the project's URLs.

scikit-build-core calls `dynamic_metadata` when it builds a package (see pyproject.toml). The links need the address of
the repository: continuous integration sets TENGEN_REPOSITORY_URL, and TENGEN_REPOSITORY_REF to the tag or branch.
Without the address, the links stay relative and there are no URLs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)]+)\)")
_PAGES = {
    "Repository": "",
    "Documentation": "/tree/{ref}/docs",
    "Changelog": "/blob/{ref}/CHANGELOG.md",
    "Issues": "/issues",
}


def absolute_links(text: str, repository: str, ref: str) -> str:
    """Return Markdown whose relative links point to files of the repository at a tag or branch.

    >>> absolute_links("See [the rules](docs/reference/rules.md#terms).", "https://host/tengen", "v1")
    'See [the rules](https://host/tengen/blob/v1/docs/reference/rules.md#terms).'
    """
    return _LINK.sub(lambda link: f"]({repository}/blob/{ref}/{link[1]})", text)


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields `readme` and `urls` of the project."""
    text = Path("README.md").read_text(encoding="utf-8")
    repository = os.environ.get("TENGEN_REPOSITORY_URL", "").rstrip("/")
    ref = os.environ.get("TENGEN_REPOSITORY_REF", "main")
    urls = {}
    if repository:
        text = absolute_links(text, repository, ref)
        urls = {name: repository + page.format(ref=ref) for name, page in _PAGES.items()}
    return {"readme": {"content-type": "text/markdown", "text": text}, "urls": urls}
