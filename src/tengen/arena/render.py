"""Reports as terminal output, as Markdown, as HTML, and as a folder with all files."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.arena.report import ReportTable, as_json, summary, tables
from tengen.arena.standings import Standings
from tengen.core.files import replace_file, writing
from tengen.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console

_WORDS_WIDTH = 16
"""Width in characters beyond which a text column may wrap if the terminal is narrow."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 0.5rem 0; }
th, td { border-bottom: 1px solid #ddd; padding: 0.15rem 0.6rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #999; }
.words { text-align: left; white-space: normal; }
.note { color: #666; margin-top: 0; }
.scrolls { overflow-x: auto; }
svg { max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #ddd; }
  th, td { border-color: #444; }
  .picture { background: #fff; }
}
"""


def print_tables(standings: Standings, console: Console) -> None:
    """Print the report without the detail tables. Tables wider than the terminal are split, so no number is cut off."""
    from rich.table import Table as RichTable
    from rich.text import Text

    console.print(Text.assemble((standings.name, "bold"), f": {summary(standings)}"), highlight=False)
    for table in tables(standings):
        if table.is_detail:
            continue
        for part in _parts(table, console.width):
            shown = RichTable(title=part.title, caption=part.note or None, title_justify="left", caption_justify="left")
            for place, column in enumerate(part.columns):
                if place < part.left:
                    shown.add_column(Text(column), overflow="fold")
                else:
                    shown.add_column(Text(column), justify="right", no_wrap=True)
            for row in part.rows:
                shown.add_row(*map(Text, row))
            console.print(shown)


def _parts(table: ReportTable, width: int) -> list[ReportTable]:
    """Split a table between its number columns so that each part fits; the text columns are repeated."""
    widths = [max(map(len, cells)) + 3 for cells in zip(table.columns, *table.rows, strict=True)]
    room = width - 1 - sum(min(each, _WORDS_WIDTH) for each in widths[: table.left])
    groups: list[list[int]] = [[]]
    for place in range(table.left, len(table.columns)):
        if groups[-1] and sum(widths[each] for each in groups[-1]) + widths[place] > room:
            groups.append([])
        groups[-1].append(place)
    if len(groups) == 1:
        return [table]

    def take(cells: Sequence[str], group: Sequence[int]) -> tuple[str, ...]:
        return (*cells[: table.left], *(cells[place] for place in group))

    return [
        dataclasses.replace(
            table,
            title=table.title if group is groups[0] else f"{table.title} (continued)",
            columns=take(table.columns, group),
            rows=tuple(take(row, group) for row in table.rows),
            note=table.note if group is groups[-1] else "",
        )
        for group in groups
    ]


def to_markdown(standings: Standings, pictures: Sequence[str] = ()) -> str:
    """Return the report as Markdown; `pictures` are file names in the same folder."""
    parts = [f"# {_markdown_cell(standings.name)}", summary(standings)]
    parts += [f"![{Path(picture).stem}]({picture})" for picture in pictures]
    for table in tables(standings):
        parts.append(f"## {table.title}")
        marks = [":--" if place < table.left else "--:" for place in range(len(table.columns))]
        lines = [table.columns, marks, *table.rows]
        parts.append("\n".join("| " + " | ".join(map(_markdown_cell, line)) + " |" for line in lines))
        if table.note:
            parts.append(table.note)
    return "\n\n".join(parts) + "\n"


def _markdown_cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def to_html(standings: Standings, drawings: Sequence[str] = ()) -> str:
    """Return the report as a self-contained page; `drawings` are SVG documents."""
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(standings.name)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(standings.name)}</h1><p>{html.escape(summary(standings))}</p>",
        *(f'<div class="picture">{drawing}</div>' for drawing in drawings),
        *(_html_table(table) for table in tables(standings)),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _html_table(table: ReportTable) -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(
            f"<{tag}{' class=words' if place < table.left else ''}>{html.escape(cell)}</{tag}>"
            for place, cell in enumerate(cells)
        )

    lines = [f"<h2>{html.escape(table.title)}</h2>", '<div class="scrolls"><table>', row("th", table.columns)]
    lines += [row("td", cells) for cells in table.rows]
    lines.append("</table></div>")
    if table.note:
        lines.append(f'<p class="note">{html.escape(table.note)}</p>')
    return "\n".join(lines)


def write_report(standings: Standings, folder: Path) -> str | None:
    """Write report.md, report.html, report.json and the plots to a folder.

    Without matplotlib, there are no plots, and a warning is returned; otherwise None is returned.
    """
    from tengen.arena.pictures import draw_pictures

    drawings: dict[str, str] = {}
    missing: str | None = None
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            drawings = draw_pictures(standings, folder)
        except MissingExtraError as error:
            missing = f"the report has no plots: {error}"
        markdown = to_markdown(standings, [f"{name}.png" for name in drawings])
        replace_file(folder / "report.md", markdown.encode())
        replace_file(folder / "report.html", to_html(standings, list(drawings.values())).encode())
        text = json.dumps(as_json(standings), indent=2, ensure_ascii=False)
        replace_file(folder / "report.json", f"{text}\n".encode())
    return missing
