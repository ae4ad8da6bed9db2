"""Tengen's JSON format, which stores complete records, and the simple JSON lines of game collections.

A game is one object:

    {"format": "tengen-game", "version": 1, "ruleset": "15x15:5:renju", "black": "Ann", "white": "Bob",
     "result": "black", "result_reason": "five", "moves": "h8i9j10"}

A game with more than plain moves has `nodes` instead of `moves`: a list of objects in which every node comes after its
parent. `parent` is the parent's index in the list; it is omitted if the parent is the preceding node. (A deeply nested
tree would break recursive JSON parsers.) A `.json` file has one such object or a list of them; a `.jsonl` file has one
object per line.

Simple objects without `format` are accepted, too. Their ruleset is `ruleset`, or `size` (or `board_size`) and `rule`. A
game has `moves`, `result` (or `outcome`) and `event`. A position has `to_move`, and `black` and `white` as lists of
points. Other keys are stored as properties.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.errors import InputError, RecordError
from tengen.records import position_string
from tengen.records.features import Feature
from tengen.records.game import (
    PASS,
    GameRecord,
    Mark,
    MarkKind,
    Move,
    Node,
    Setup,
    collect,
    main_plies,
    move_of,
    ruleset_of,
)
from tengen.records.limits import MAX_NODES, MAX_TIME_MS
from tengen.records.report import DAMAGED_LINES
from tengen.records.sgf_vocabulary import FIELD_PROPERTIES, escape
from tengen.records.text import as_text, shorten, split_lines, text_chunks, tidy, tidy_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tengen.records.report import ReadReport

FORMAT = "tengen-game"
VERSION = 1
HOLDS = frozenset(Feature)

_HEADER_TEXTS = ("black", "white", "result_reason", "event", "round", "date", "comment")
_GAME_KEYS = frozenset({"format", "version", "ruleset", "result", "moves", "nodes", *_HEADER_TEXTS})
_NODE_KEYS = frozenset(
    {"parent", "black", "white", "moves", "setup", "comment", "label", "time_ms", "clock_ms", "value", "marks"}
    | {"bookmarked", "properties"}
)
_SETUP_KEYS = frozenset({"black", "white", "empty", "to_move"})
_SIMPLE_KEYS = frozenset(
    {"ruleset", "size", "board_size", "rule", "moves", "result", "outcome", "black", "white", "event", "to_move", "n"}
)

_BLANK = re.compile(r"[ \t\n\r]*+")

Json = dict[str, Any]
T = TypeVar("T")

_TYPE_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}


# ---- Reading --------------------------------------------------------------------------------------------------------


def read(data: bytes | str, *, ruleset: Ruleset | None = None) -> list[GameRecord]:
    """Read a game, a list of games, or JSON lines; `ruleset` supplies any rules that a simple object does not state."""
    return collect(iterate(data, ruleset=ruleset))


def iterate(data: bytes | str, *, ruleset: Ruleset | None = None) -> Iterator[GameRecord]:
    """Yield the games that `read` returns; an error is raised when the reader reaches it."""
    text = as_text(data)
    if text.lstrip()[:1] == "[":
        for number, entry in enumerate(_entries(text), start=1):
            yield _game(entry, f"game {number}", ruleset)
        return
    first_line, _, others = text.strip().partition("\n")
    if others.lstrip()[:1] == "{" and first_line.rstrip()[-1:] == "}":
        yield from iterate_lines(split_lines([text]), ruleset=ruleset)
    else:
        yield _game(_load(text, "line 1"), "game 1", ruleset)


def read_lines(data: bytes | str, *, ruleset: Ruleset | None = None) -> list[GameRecord]:
    """Read JSON lines: one game per line; blank lines are skipped."""
    return collect(iterate_lines(split_lines(text_chunks(data)), ruleset=ruleset))


def iterate_lines(
    lines: Iterable[str], *, ruleset: Ruleset | None = None, damage: ReadReport | None = None
) -> Iterator[GameRecord]:
    """Yield the games in a JSON lines file, for collections that are too large for memory.

    Damaged lines are counted in `damage`; if it is None, they raise an error.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            game = _game(_load(line, f"line {number}"), f"line {number}", ruleset)
        except RecordError as error:
            if damage is None:
                raise
            damage.skip(DAMAGED_LINES, str(error))
            continue
        yield game


def _entries(text: str) -> Iterator[Any]:
    """Yield the entries of a JSON list one by one."""
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    offset = _skip_blank(text, text.index("[") + 1)
    if text[offset : offset + 1] != "]":
        while True:
            with _json_errors("line 1"):
                entry, offset = decoder.raw_decode(text, offset)
            yield entry
            offset = _skip_blank(text, offset)
            if text[offset : offset + 1] != ",":
                break
            offset = _skip_blank(text, offset + 1)
    with _json_errors("line 1"):
        if text[offset : offset + 1] != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, offset)
        if (end := _skip_blank(text, offset + 1)) != len(text):
            raise json.JSONDecodeError("Extra data", text, end)


def _skip_blank(text: str, offset: int) -> int:
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


def _load(text: str, where: str) -> Any:
    with _json_errors(where):
        return json.loads(text, parse_constant=_reject_constant)


@contextmanager
def _json_errors(where: str) -> Iterator[None]:
    """Convert errors from the JSON decoder to `RecordError`; `where` names the first line."""
    try:
        yield
    except json.JSONDecodeError as error:
        place = f"{where}, column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise RecordError(f"{place}: invalid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}: unusable JSON: {shorten(str(error), 80)}") from None


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _game(found: Any, where: str, default: Ruleset | None) -> GameRecord:
    try:
        game = _of_type(found, dict, "a game")
        if "format" not in game:
            return _simple_game(game, default)
        if game["format"] != FORMAT:
            raise RecordError(f"format {shorten(repr(game['format']))} is not {FORMAT!r}")
        if game.get("version") != VERSION:
            raise RecordError(f"unknown version {shorten(repr(game.get('version')))} (newest known: {VERSION})")
        return _own_game(game)
    except InputError as error:
        raise RecordError(f"{where}: {error}") from None


def _own_game(game: Json) -> GameRecord:
    _reject_unknown(game, _GAME_KEYS, "a game")
    ruleset = Ruleset.parse(_of_type(game.get("ruleset"), str, "ruleset"))
    record = GameRecord(ruleset=ruleset, result=_result(game.get("result")))
    for name in _HEADER_TEXTS:
        clean = tidy if name == "comment" else tidy_line
        setattr(record, name, clean(_of_type(game.get(name, ""), str, name)))
    if "nodes" in game:
        record.root = _tree(_of_type(game["nodes"], list, "nodes"), ruleset)
    else:
        moves = _of_type(game.get("moves", ""), str, "moves")
        record.root = position_string.parse(moves, ruleset=ruleset).root
    return record


def _result(value: object) -> Outcome | None:
    if value is None or value == "unknown":
        return None
    return _member(Outcome, value, "result")


def _tree(entries: list[Any], ruleset: Ruleset) -> Node:
    """Build the tree from nodes listed after their parents, then check every branch."""
    if not entries or len(entries) > MAX_NODES:
        raise RecordError(f"the number of nodes must be between 1 and {MAX_NODES}, not {len(entries)}")
    nodes: list[Node] = []
    for index, entry in enumerate(entries):
        try:
            fields = _of_type(entry, dict, "a node")
            node = _node(fields)
            if index:
                parent = _integer(fields.get("parent", index - 1), "parent", index - 1)
                nodes[parent].add(node)
            nodes.append(node)
        except InputError as error:
            raise RecordError(f"node {index}: {error}") from None
    record = GameRecord(ruleset=ruleset, root=nodes[0])
    record.check()
    return nodes[0]


def _node(fields: Json) -> Node:
    _reject_unknown(fields, _NODE_KEYS, "a node")
    node = Node(moves=_moves(fields))
    if "setup" in fields:
        node.setup = _setup(_of_type(fields["setup"], dict, "setup")) or None
    node.comment = tidy(_of_type(fields.get("comment", ""), str, "comment"))
    node.label = tidy_line(_of_type(fields.get("label", ""), str, "label"))
    for name in ("time_ms", "clock_ms"):
        if fields.get(name) is not None:
            setattr(node, name, _integer(fields[name], name, MAX_TIME_MS))
    if fields.get("value") is not None:
        node.value = _value(fields["value"])
    node.marks = tuple(_mark(mark) for mark in _of_type(fields.get("marks", []), list, "marks"))
    node.bookmarked = _of_type(fields.get("bookmarked", False), bool, "bookmarked")
    if fields.get("properties"):
        node.properties = _properties(_of_type(fields["properties"], dict, "properties"))
    return node


def _moves(fields: Json) -> tuple[Move, ...]:
    pairs: list[tuple[object, object]] = [(str(colour), fields[colour]) for colour in Colour if colour in fields]
    if "moves" in fields:
        pairs += [_pair(pair) for pair in _of_type(fields["moves"], list, "moves")]
    if len(pairs) > 1 and "moves" not in fields:
        raise RecordError("a node has both a black move and a white move: use 'moves' to specify their order")
    return tuple(move_of(_member(Colour, colour, "colour"), _point_or_pass(point)) for colour, point in pairs)


def _pair(value: object) -> tuple[object, object]:
    pair = _of_type(value, list, "a move")
    if len(pair) != 2:
        raise RecordError(f"a move must be a colour and a point, not {shorten(repr(pair))}")
    return pair[0], pair[1]


def _point_or_pass(value: object) -> Point | None:
    return None if value == PASS else Point(_of_type(value, str, "a point"))


def _setup(fields: Json) -> Setup:
    _reject_unknown(fields, _SETUP_KEYS, "setup")
    black, white, empty = (
        parse_points(_of_type(fields.get(name, ""), str, name)) for name in ("black", "white", "empty")
    )
    to_move = fields.get("to_move")
    return Setup(black, white, empty, _member(Colour, to_move, "to_move") if to_move is not None else None)


def _mark(value: object) -> Mark:
    parts = _of_type(value, list, "a mark")
    if not 2 <= len(parts) <= 3:
        raise RecordError(f"a mark must be a kind, a point and, optionally, a text, not {shorten(repr(parts))}")
    kind = _member(MarkKind, parts[0], "mark")
    text = tidy_line(_of_type(parts[2], str, "text of a mark")) if len(parts) == 3 else ""
    return Mark(kind, Point(_of_type(parts[1], str, "point of a mark")), text)


def _properties(fields: Json) -> Mapping[str, tuple[str, ...]]:
    return {
        name: tuple(_of_type(value, str, f"property {name}") for value in _of_type(values, list, f"property {name}"))
        for name, values in fields.items()
    }


def _value(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value <= 1:
        raise RecordError(f"value {shorten(repr(value))} is not a number in [-1, 1]")
    return float(value)


def _integer(value: object, what: str, largest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise RecordError(f"{what} {shorten(repr(value))} is not an integer from 0 to {largest}")
    return value


def _of_type(value: object, kind: type[T], what: str) -> T:
    if not isinstance(value, kind):
        raise RecordError(f"{what}: {shorten(repr(value))} is not {_TYPE_NAMES[kind]}")
    return value


def _member(kind: Callable[[Any], T], value: object, what: str) -> T:
    try:
        return kind(value)
    except ValueError:
        raise RecordError(f"unknown {what} {shorten(repr(value))}") from None


def _reject_unknown(fields: Json, known: frozenset[str], what: str) -> None:
    unknown = sorted(set(fields) - known)
    if unknown:
        raise RecordError(f"{what} has the unknown key {shorten(unknown[0])!r} (known: {', '.join(sorted(known))})")


# ---- Simple objects -------------------------------------------------------------------------------------------------


def _simple_game(game: Json, default: Ruleset | None) -> GameRecord:
    is_position = isinstance(game.get("black"), list) or isinstance(game.get("white"), list)
    if "moves" not in game and not is_position:
        raise RecordError(f"it has no 'format', 'moves' or stones, only the keys {shorten(', '.join(game))!r}")
    ruleset = _simple_ruleset(game, default)
    moves = game.get("moves", "")
    if isinstance(moves, list):
        moves = "".join(_of_type(move, str, "a move") for move in moves)
    record = position_string.parse(_of_type(moves, str, "moves"), ruleset=ruleset)
    if is_position:
        _add_stones(record, game)
    else:
        record.black = tidy_line(str(game.get("black") or ""))
        record.white = tidy_line(str(game.get("white") or ""))
    record.result = _result(game.get("result", game.get("outcome")))
    record.event = tidy_line(str(game.get("event") or ""))
    kept = {_property_name(key): (_property_value(game[key]),) for key in game if key not in _SIMPLE_KEYS}
    kept.pop("", None)
    if kept:
        record.root.properties = kept
    return record


def _simple_ruleset(game: Json, default: Ruleset | None) -> Ruleset:
    if "ruleset" in game:
        return Ruleset.parse(_of_type(game["ruleset"], str, "ruleset"))
    size = game.get("size", game.get("board_size"))
    if size is None:
        width, height = (default.width, default.height) if default else (15, 15)
    elif isinstance(size, list) and len(size) == 2:
        width, height = _integer(size[0], "size", 99), _integer(size[1], "size", 99)
    else:
        width = height = _integer(size, "size", 99)
    if game.get("rule") not in (None, "unknown"):
        return ruleset_of(width, height, None, _member(Rule, game["rule"], "rule"))
    return ruleset_of(width, height, default)


def _add_stones(record: GameRecord, game: Json) -> None:
    """Set up the stones of a position before the moves; the side to move makes the first move."""
    to_move = _member(Colour, game.get("to_move", "black"), "to_move")
    stones = [
        tuple(Point(_of_type(point, str, "a point")) for point in _of_type(game.get(name, []), list, name))
        for name in ("black", "white")
    ]
    colour = to_move
    for node in record.main_line():
        if node.moves:
            node.moves = (move_of(colour, node.moves[0].point),)
            colour = colour.opponent
    record.root.setup = Setup(stones[0], stones[1], to_move=to_move)
    record.check()


def _property_name(key: str) -> str:
    """Convert a key to a property name that does not clash with the properties SGF generates from fields."""
    name = re.sub("[^A-Z0-9]", "", key.upper())
    return f"X{name}" if name in FIELD_PROPERTIES else name


def _property_value(value: object) -> str:
    return escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


# ---- Writing --------------------------------------------------------------------------------------------------------


def write(records: Iterable[GameRecord]) -> bytes:
    """Write a JSON list of games, one per line."""
    return _encode("[\n" + ",\n".join(_dump(record) for record in records) + "\n]\n")


def write_lines(records: Iterable[GameRecord]) -> bytes:
    """Write JSON lines: one game per line."""
    return _encode("".join(_dump(record) + "\n" for record in records))


def _encode(text: str) -> bytes:
    # Undecodable bytes are lone surrogates; their Python escapes are also valid JSON escapes.
    return text.encode("utf-8", "backslashreplace")


def _dump(record: GameRecord) -> str:
    return json.dumps(as_dict(record), ensure_ascii=False, separators=(",", ":"))


def as_dict(record: GameRecord) -> Json:
    """Return the record as a JSON object in the current version of the format."""
    game: Json = {"format": FORMAT, "version": VERSION, "ruleset": str(record.ruleset)}
    for name in _HEADER_TEXTS:
        text = getattr(record, name)
        if text:
            game[name] = text
    if record.result is not None:
        game["result"] = record.result.value
    if _is_bare(record):
        game["moves"] = "".join(point or PASS for point in main_plies(record, passes=True))
    else:
        game["nodes"] = _node_list(record.root)
    return game


def _is_bare(record: GameRecord) -> bool:
    """Return whether the record consists only of alternating moves."""
    if record.root.content() != Node().content():
        return False
    for ply, node in enumerate(record.main_line()):
        if len(node.children) > 1:
            return False
        if ply == 0:
            continue
        point = node.moves[0].point if node.moves else None
        colour = Colour.BLACK if ply % 2 else Colour.WHITE
        if node.content() != Node(moves=(move_of(colour, point),)).content():
            return False
    return True


def _node_list(root: Node) -> list[Json]:
    entries: list[Json] = []
    stack = [(root, -1)]
    while stack:
        node, parent = stack.pop()
        index = len(entries)
        fields = _node_fields(node)
        if parent != index - 1:
            fields["parent"] = parent
        entries.append(fields)
        stack.extend((child, index) for child in reversed(node.children))
    return entries


def _node_fields(node: Node) -> Json:
    fields: Json = {}
    if len(node.moves) == 1:
        fields[node.moves[0].colour.value] = node.moves[0].point or PASS
    elif node.moves:
        fields["moves"] = [[colour.value, point or PASS] for colour, point in node.moves]
    if node.setup:
        fields["setup"] = _setup_fields(node.setup)
    for name in ("comment", "label", "time_ms", "clock_ms", "value"):
        content = getattr(node, name)
        if content is not None and content != "":
            fields[name] = content
    if node.marks:
        fields["marks"] = [[mark.kind.value, mark.point, *filter(None, [mark.text])] for mark in node.marks]
    if node.bookmarked:
        fields["bookmarked"] = True
    if node.properties:
        fields["properties"] = {name: list(values) for name, values in node.properties.items()}
    return fields


def _setup_fields(setup: Setup) -> Json:
    fields: Json = {}
    for name, points in (("black", setup.black), ("white", setup.white), ("empty", setup.empty)):
        if points:
            fields[name] = "".join(points)
    if setup.to_move:
        fields["to_move"] = setup.to_move.value
    return fields
