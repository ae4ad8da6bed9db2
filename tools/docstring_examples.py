"""Show the examples in docstrings as Python code on the pages of the documentation (an extension of griffe)."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>>.*(?:\n(?!$).*)*", re.MULTILINE)


class DocstringExamples(griffe.Extension):
    """Put every example into a fenced block; Markdown would render `>>>` as a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object before it is rendered."""
        if obj.docstring is not None:
            obj.docstring.value = fence_examples(obj.docstring.value)


def fence_examples(docstring: str) -> str:
    r"""Return the docstring with fenced examples; an example ends at an empty line.

    >>> fence_examples("Add.\n\n>>> 1 + 1\n2\n\nMore.").splitlines()
    ['Add.', '', '```pycon', '>>> 1 + 1', '2', '```', '', 'More.']
    """
    return _EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", docstring)
