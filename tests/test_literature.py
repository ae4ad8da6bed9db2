"""Everything that is cited by author and year is listed in docs/results/literature.md, with its title."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CITATION = re.compile(r"([A-Z][\w'-]+)(?: et al\.| and [A-Z][\w]+)?,? \(?((?:19[5-9]|20[0-2])\d)\b")
SOURCES = [
    path
    for folder, endings in (("src/tengen", {".py"}), ("cpp", {".h", ".cpp"}), ("docs", {".md"}))
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in endings and path.name != "literature.md"
]
NOT_AUTHORS = {"Gomocup", "January", "June", "November", "October", "Since", "In", "Python", "NNUE", "OpenVINO"}


def citations() -> dict[tuple[str, str], Path]:
    found: dict[tuple[str, str], Path] = {}
    for path in SOURCES:
        for author, year in CITATION.findall(path.read_text(encoding="utf-8")):
            if author not in NOT_AUTHORS:
                found.setdefault((author, year), path)
    return found


def test_every_citation_is_listed() -> None:
    text = (ROOT / "docs" / "results" / "literature.md").read_text(encoding="utf-8")
    entries = [" ".join(entry.split()) for entry in re.split(r"\n\n|\n- ", text)]
    cited = citations()
    assert len(cited) > 20
    missing = [
        f"{author} {year} in {path.relative_to(ROOT)}"
        for (author, year), path in cited.items()
        if not any(author in entry and year in entry for entry in entries)
    ]
    assert missing == []


def test_every_paper_is_cited_in_full() -> None:
    index = (ROOT / "papers" / "README.md").read_text(encoding="utf-8")
    for readme in sorted((ROOT / "papers").glob("*/README.md")):
        assert f"]({readme.parent.name}/README.md)" in index
        if readme.parent.name != "comparison":
            assert "Source: " in readme.read_text(encoding="utf-8")
