"""Convert the raw properties of an SGF node to the fields of a record."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import InputError, RecordError, RulesetError
from tengen.records.game import GameRecord, Mark, MarkKind, Move, Node, Setup, move_of, ruleset_of
from tengen.records.limits import MAX_TIME_MS
from tengen.records.sgf_vocabulary import (
    COLOURS,
    FILE_PROPERTIES,
    HEADER,
    MARKS,
    REASONS,
    RENJU_OPENINGS,
    RULE_TEXT,
    RULES,
    labelled_point,
    unescape,
)
from tengen.records.text import shorten, tidy, tidy_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_RESULT = re.compile(r"([BW])(?:\+(.*))?", re.IGNORECASE | re.DOTALL)

Property = tuple[str, list[str], int]
"""A property: its name, raw values and offset in the text."""


def parse_ruleset(values: Mapping[str, list[str]], default: Ruleset | None) -> Ruleset:
    """Return the ruleset that the root properties state; `default` supplies what they omit."""
    default_size = (default.width, default.height) if default else (15, 15)
    width, height = _size(values["SZ"][0]) if "SZ" in values else default_size
    stated = _stated_rule(tidy_line(unescape(values["RU"][0]))) if "RU" in values else None
    if isinstance(stated, Ruleset):
        return replace(stated, width=width, height=height)
    if stated is not None and (default is None or default.rule is not stated):
        return Ruleset(width, height, 5, stated)
    return ruleset_of(width, height, default)


def _size(value: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,4})\s*(?:[:x]\s*(\d{1,4})\s*)?", value, re.ASCII)
    if match is None:
        raise RulesetError(f"SZ[{shorten(value)}] is not a board size")
    return int(match[1]), int(match[2] or match[1])


def _stated_rule(text: str) -> Rule | Ruleset | None:
    """Parse the RU property: a full ruleset text, a rule name or a number; None if it is unknown."""
    lowered = text.lower()
    if ":" in lowered:
        try:
            return Ruleset.parse(lowered)
        except InputError:
            return None
    if lowered in RULES:
        return RULES[lowered]
    return Rule.RENJU if any(lowered.startswith(name) for name in RENJU_OPENINGS) else None


def read_header(record: GameRecord, name: str, values: list[str]) -> bool:
    """Store a root property in the header; return False if it belongs to the node or must be stored unchanged."""
    if name in FILE_PROPERTIES or name == "SZ":
        return True
    if name in HEADER:
        setattr(record, HEADER[name], tidy_line(unescape(values[0])))
    elif name == "GC":
        record.comment = tidy(unescape(values[0]))
    elif name == "RU":
        text = tidy_line(unescape(values[0]))
        if text.lower() not in RULES and not isinstance(_stated_rule(text), Ruleset):
            record.root.properties = {RULE_TEXT: (values[0],)}
    elif name == "RE":
        return _read_result(record, tidy_line(unescape(values[0])))
    elif name == "RR":
        record.result_reason = tidy_line(unescape(values[0]))
    else:
        return False
    return True


def _read_result(record: GameRecord, text: str) -> bool:
    lowered = text.lower()
    if lowered in ("0", "draw", "jigo", "b+draw"):
        record.result = Outcome.DRAW
    elif lowered == "void":
        record.result = Outcome.ONGOING
    elif lowered not in ("", "?"):
        match = _RESULT.fullmatch(text)
        if match is None:
            return False
        record.result = Outcome.win_for(COLOURS[match[1].upper()])
        reason = (match[2] or "").strip().lower()
        is_score = re.fullmatch(r"[0-9.]+", reason) is not None  # a score as in Go; gomoku has none
        record.result_reason = record.result_reason or REASONS.get(reason, "" if is_score else reason)
    return True


@dataclass(slots=True)
class _Parts:
    """The fields of a node while its properties are being parsed."""

    moves: list[Move] = field(default_factory=list)
    setup: dict[str, tuple[Point, ...]] = field(default_factory=dict)
    to_move: Colour | None = None
    marks: list[Mark] = field(default_factory=list)
    kept: dict[str, tuple[str, ...]] = field(default_factory=dict)


def build_node(properties: list[Property], ruleset: Ruleset, where: Callable[[int], str]) -> Node:
    """Build a node. Moves and set-up stones must be valid; any other invalid property is stored unchanged."""
    node, parts = Node(), _Parts()
    later: list[Property] = []
    for name, values, offset in properties:
        try:
            if name in COLOURS:
                if len(values) > 1:
                    raise RecordError(f"{name} has {len(values)} values, but a move must have exactly one")
                parts.moves.append(move_of(COLOURS[name], _point(values[0], ruleset)))
            elif name in ("AB", "AW", "AE"):
                parts.setup[name] = _point_list(values, ruleset)
            else:
                later.append((name, values, offset))
        except RecordError as error:
            raise RecordError(f"{where(offset)}: {error}") from None
    node.moves = tuple(parts.moves)
    for name, values, _ in later:
        try:
            is_valid = _read_annotation(node, parts, name, values, ruleset)
        except RecordError:
            is_valid = False
        if not is_valid:
            parts.kept[name] = tuple(values)
    setup = Setup(
        parts.setup.get("AB", ()), parts.setup.get("AW", ()), parts.setup.get("AE", ()), to_move=parts.to_move
    )
    node.setup = setup or None
    node.marks = tuple(parts.marks)
    if parts.kept:
        node.properties = parts.kept
    return node


def _read_annotation(node: Node, parts: _Parts, name: str, values: list[str], ruleset: Ruleset) -> bool:
    """Read a property other than moves and stones.

    If it has no field or is invalid, change nothing and return False or raise `RecordError`.
    """
    raw = values[0]
    if name == "C":
        node.comment = tidy(unescape("\n".join(values)))
    elif name in MARKS:
        parts.marks += [Mark(MARKS[name], point) for point in _point_list(values, ruleset)]
    elif name == "LB":
        _read_labels(node, parts, values, ruleset)
    elif name == "N" and labelled_point(node) is None:
        node.label = tidy_line(unescape(raw))
    elif name == "HO" and raw.strip() == "1":
        node.bookmarked = True
    elif name == "PL" and raw.strip()[:1].upper() in COLOURS:
        parts.to_move = COLOURS[raw.strip()[:1].upper()]
    elif name == "SBKV":
        win_rate = _number(raw, 100)
        node.value = round(win_rate / 50 - 1, 6)
    elif name == "EMT" and node.moves:
        node.time_ms = round(1000 * _number(raw, MAX_TIME_MS / 1000))
    elif name in ("BL", "WL") and node.moves and node.moves[-1].colour is COLOURS[name[0]]:
        node.clock_ms = round(1000 * _number(raw, MAX_TIME_MS / 1000))
    else:
        return False
    return True


def _read_labels(node: Node, parts: _Parts, values: list[str], ruleset: Ruleset) -> None:
    own = labelled_point(node)
    marks: list[Mark] = []
    label = ""
    for raw in values:
        where, colon, text = raw.partition(":")
        point = _stone(where, ruleset)
        if not colon:
            raise RecordError(f"LB[{shorten(raw)}] has no text")
        if point == own and not label:
            label = tidy_line(unescape(text))
        else:
            marks.append(Mark(MarkKind.LABEL, point, tidy_line(unescape(text))))
    node.label = label or node.label
    parts.marks += marks


def _number(raw: str, largest: float) -> float:
    try:
        number = float(raw)
    except ValueError:
        number = math.nan
    if not 0 <= number <= largest:
        raise RecordError(f"{shorten(raw)!r} is not a number between 0 and {largest}")
    return number


def _point(raw: str, ruleset: Ruleset) -> Point | None:
    """Parse a point; None for a pass, which is an empty value, or `tt` on boards up to 19x19."""
    value = raw.strip()
    if not value or (value.lower() == "tt" and max(ruleset.width, ruleset.height) <= 19):
        return None
    return _stone(value, ruleset)


def _stone(raw: str, ruleset: Ruleset) -> Point:
    value = raw.strip()
    if re.fullmatch("[a-z]{2}", value) is None:
        raise RecordError(f"[{shorten(raw)}] is not a point")
    x, row = ord(value[0]) - ord("a"), ord(value[1]) - ord("a")
    if x >= ruleset.width or row >= ruleset.height:
        raise RecordError(f"[{value}] is not on a {ruleset.width}x{ruleset.height} board")
    return Point.at(x, ruleset.height - 1 - row)


def _point_list(values: list[str], ruleset: Ruleset) -> tuple[Point, ...]:
    """Parse points and rectangles `aa:cc` in order, without duplicates. `AB[]` is an empty list."""
    points: dict[Point, None] = {}
    for raw in values:
        if not raw.strip() and len(values) == 1:
            break
        first, colon, second = raw.partition(":")
        if not colon:
            points[_stone(raw, ruleset)] = None
            continue
        left, right = sorted((_stone(first, ruleset).x, _stone(second, ruleset).x))
        low, high = sorted((_stone(first, ruleset).y, _stone(second, ruleset).y))
        points |= {Point.at(x, y): None for y in range(high, low - 1, -1) for x in range(left, right + 1)}
    return tuple(points)
