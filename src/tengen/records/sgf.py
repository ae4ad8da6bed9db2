r"""SGF, FF[4] GM[4] ("Gomoku+Renju"): the exchange format of servers, editors and match tools.

The reader supports collections, variations, set-up stones, compressed point lists, escapes, soft line breaks, the long
property names of old files (`Black[…]`), code pages named by CA, passes written as `[]` or `[tt]`, rectangular boards,
and rules given by name or by Gomocup's number. Points are counted from the top left corner, so rows are flipped.
Properties that have no field in a record, and known properties with invalid values, are stored unchanged and written
back in the same order.

Private properties, which other programs ignore: SBKV (evaluation as black's win rate 0–100, as in Sabaki), EMT (seconds
the move took), RR (reason for the result if RE has no letter for it), OPENINGSTONES (number of initial moves that
were a given opening, not chosen by the players).
"""

from __future__ import annotations

import io
import re
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from tengen.core.contracts import Opening, Outcome
from tengen.core.geometry import MAX_SIZE
from tengen.errors import RecordError
from tengen.records.features import Feature
from tengen.records.game import MarkKind, collect
from tengen.records.sgf_reader import Reader
from tengen.records.sgf_vocabulary import (
    FIELD_PROPERTIES,
    HEADER,
    LETTERS,
    MARKS,
    NAME,
    NODE_PROPERTIES,
    REASON_LETTERS,
    REASONS,
    VALUE,
    escape,
    labelled_point,
)
from tengen.records.text import code_page, encode, stream_bytes, stream_text, text_chunks, tidy, tidy_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tengen.core.contracts import Ruleset
    from tengen.core.geometry import Point
    from tengen.records.game import GameRecord, Node, Properties

HOLDS = frozenset(Feature)
NODES_PER_LINE = 8

_CHARSET = re.compile(rb"CA\s*\[([^\]]{0,40})\]")


def read(data: bytes | str, *, ruleset: Ruleset | None = None, encoding: str | None = None) -> list[GameRecord]:
    """Read all games in a file. `ruleset` supplies any rules that a game does not state (default: 15x15 freestyle).

    Bytes are decoded with `encoding`, else with the code page in the file's CA property, else as UTF-8. Error
    messages contain the line and column.
    """
    return collect(iterate(data, ruleset=ruleset, encoding=encoding))


def iterate(
    source: bytes | str | BinaryIO, *, ruleset: Ruleset | None = None, encoding: str | None = None
) -> Iterator[GameRecord]:
    """Yield the games in a file, given as its content or as an open file; the options are those of `read`.

    Only the current game is in memory. An error is raised when the reader reaches it.
    """
    if isinstance(source, str):
        return Reader(text_chunks(source), ruleset).games()
    chunks = stream_bytes(io.BytesIO(source) if isinstance(source, bytes) else source)
    start = next(chunks, b"")
    page = _code_page(start) if encoding is None else code_page(encoding)
    return Reader(stream_text(chain([start], chunks), page), ruleset).games()


def _code_page(start: bytes) -> str:
    """Return the code page named at the start of a file."""
    stated = _CHARSET.search(start[:4096])
    if stated is not None:
        try:
            return code_page(stated[1].decode("latin-1"))
        except RecordError:
            pass  # unknown code page: decode as UTF-8, which preserves invalid bytes
    return "utf-8"


def write(records: Iterable[GameRecord]) -> bytes:
    """Return a collection in UTF-8; undecodable bytes from another code page stay unchanged."""
    out: list[str] = []
    for record in records:
        _write_game(record, out)
    return encode("".join(out))


def _write_game(record: GameRecord, out: list[str]) -> None:
    from tengen import __version__

    out.append(f"(;FF[4]GM[4]CA[UTF-8]AP[Tengen:{__version__}]")
    kept = {name: values for name, values in record.properties.items() if name not in FIELD_PROPERTIES}
    if record.result is not None:
        kept.pop("RE", None)  # the file's RE was invalid; the result has since been set
    _write_header(record, out)
    if "RE" not in kept:
        _write_result(record, out)
    _write_node(record.root, record.ruleset, kept, out)
    out.append("\n")
    # Strings on the stack are written unchanged; they open and close variations.
    stack: list[Node | str] = [")\n"]
    _push_children(record.root, stack)
    on_line = 0
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            out.append(entry)
            on_line = 0
            continue
        if on_line >= NODES_PER_LINE:
            out.append("\n")
            on_line = 0
        on_line += 1
        out.append(";")
        _write_node(entry, record.ruleset, entry.properties, out)
        _push_children(entry, stack)


def _push_children(node: Node, stack: list[Node | str]) -> None:
    if len(node.children) == 1:
        stack.append(node.children[0])
        return
    for child in reversed(node.children):
        stack += [")", child, "\n("]


def _write_header(record: GameRecord, out: list[str]) -> None:
    ruleset = record.ruleset
    size = str(ruleset.width) if ruleset.is_square else f"{ruleset.width}:{ruleset.height}"
    out.append(f"SZ[{size}]")
    is_plain = ruleset.win_length == 5 and ruleset.opening is Opening.FREE
    out.append(f"RU[{ruleset.rule if is_plain else ruleset}]")
    for name, field_name in HEADER.items():
        text = getattr(record, field_name)
        if text:
            out.append(f"{name}[{_escape_text(tidy_line(text))}]")
    if record.comment:
        out.append(f"GC[{_escape_text(tidy(record.comment))}]")


def _write_result(record: GameRecord, out: list[str]) -> None:
    winner = record.result.winner if record.result else None
    letter = REASON_LETTERS.get(record.result_reason, "") if winner else ""
    if winner:
        out.append(f"RE[{LETTERS[winner]}+{letter}]")
    elif record.result is not None:
        out.append("RE[0]" if record.result is Outcome.DRAW else "RE[Void]")
    if record.result_reason and REASONS.get(letter.lower()) != record.result_reason:
        out.append(f"RR[{_escape_text(tidy_line(record.result_reason))}]")


def _write_node(node: Node, ruleset: Ruleset, kept: Properties, out: list[str]) -> None:
    if node.setup:
        for name, points in (("AB", node.setup.black), ("AW", node.setup.white), ("AE", node.setup.empty)):
            _write_points(name, points, ruleset, out)
        if node.setup.to_move:
            out.append(f"PL[{LETTERS[node.setup.to_move]}]")
    for colour, point in node.moves:
        out.append(f"{LETTERS[colour]}[{_letters(point, ruleset) if point else ''}]")
    _write_clocks(node, out)
    if node.value is not None:
        out.append(f"SBKV[{_decimal(50 * (node.value + 1), 5)}]")
    for name, kind in MARKS.items():
        _write_points(name, [mark.point for mark in node.marks if mark.kind is kind], ruleset, out)
    _write_labels(node, ruleset, out)
    if node.bookmarked:
        out.append("HO[1]")
    if node.comment:
        out.append(f"C[{_escape_text(tidy(node.comment))}]")
    for name, values in kept.items():
        if NAME.fullmatch(name) and name not in NODE_PROPERTIES:
            out.append(name + "".join(f"[{_terminated(value)}]" for value in values or ("",)))


def _write_clocks(node: Node, out: list[str]) -> None:
    if not node.moves:
        return
    if node.time_ms is not None:
        out.append(f"EMT[{_decimal(node.time_ms / 1000, 3)}]")
    if node.clock_ms is not None:
        out.append(f"{LETTERS[node.moves[-1].colour]}L[{_decimal(node.clock_ms / 1000, 3)}]")


def _write_labels(node: Node, ruleset: Ruleset, out: list[str]) -> None:
    own = labelled_point(node)
    labels = [(mark.point, mark.text) for mark in node.marks if mark.kind is MarkKind.LABEL]
    if node.label and own is not None:
        labels.insert(0, (own, node.label))
    elif node.label:
        out.append(f"N[{_escape_text(tidy_line(node.label))}]")
    if labels:
        values = "".join(f"[{_letters(point, ruleset)}:{escape(tidy_line(text))}]" for point, text in labels)
        out.append(f"LB{values}")


def _write_points(name: str, points: Iterable[Point], ruleset: Ruleset, out: list[str]) -> None:
    values = "".join(f"[{_letters(point, ruleset)}]" for point in points)
    if values:
        out.append(name + values)


def _letters(point: Point, ruleset: Ruleset) -> str:
    assert ruleset.height <= MAX_SIZE
    return chr(ord("a") + point.x) + chr(ord("a") + ruleset.height - 1 - point.y)


def _escape_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _terminated(raw: str) -> str:
    """Return a stored raw value, escaped if a bracket would end it early; only code can have set such a value."""
    return raw if VALUE.fullmatch(f"[{raw}]") else _escape_text(raw)


def _decimal(number: float, places: int) -> str:
    text = f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
