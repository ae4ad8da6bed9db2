"""Parse SGF text into games, one at a time."""

from __future__ import annotations

import re
import string
from functools import cache
from typing import TYPE_CHECKING

from tengen.core.geometry import Point
from tengen.errors import InputError, RecordError
from tengen.records.game import Branch, GameRecord, Node, move_of
from tengen.records.limits import MAX_FILE_BYTES, MAX_NODES
from tengen.records.sgf_properties import Property, build_node, parse_ruleset, read_header
from tengen.records.sgf_vocabulary import COLOURS, NAME, VALUE
from tengen.records.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tengen.core.contracts import Ruleset

_BLANK = re.compile(r"\s*+")
_GAME_START = re.compile(r"\(\s*+;")
_OPEN_END = re.compile(r"\(\s*+\Z")
"""A parenthesis at the end of the window; it starts a game if the next character is a semicolon."""
_PLAIN_MOVE = re.compile(r"\s*+([BW])\[([a-z]{2})\]\s*+(?=[;()])")
"""A node with one move and nothing else, by far the most common kind."""


class _IncompleteError(Exception):
    """Raised when the text read so far may end inside a node."""


class Reader:
    """Parses games one by one, each with a stack of open variations.

    `text` is a window into the file. If it ends inside a game, it is extended and the game is parsed again. The window
    at least doubles each time, so every character is parsed at most a few times.
    """

    def __init__(self, chunks: Iterator[str], default: Ruleset | None) -> None:
        self.chunks = chunks
        self.default = default
        self.text = ""
        self.offset = 0
        self.is_at_end = False
        """Whether the window reaches the end of the file."""
        self.lines_before = 0
        """Number of line breaks before the window."""
        self.columns_before = 0
        """Number of characters before the window that belong to its first line."""
        self.node_count = 0

    def games(self) -> Iterator[GameRecord]:
        self._extend(0)
        beginning = shorten(self.text)
        found = False
        while self._find_game():
            found = True
            yield self._whole_game()
        if not found:
            raise RecordError(f"line 1, column 1: no SGF game '(;…)' in {beginning!r}")

    def _find_game(self) -> bool:
        """Advance to the next '(;'; return False at the end of the file."""
        while (start := _GAME_START.search(self.text, self.offset)) is None:
            if self.is_at_end:
                return False
            last = _OPEN_END.search(self.text, self.offset)
            self._extend(last.start() if last else len(self.text))
        self.offset = start.start()
        return True

    def _whole_game(self) -> GameRecord:
        while True:
            start = self.offset
            match = _GAME_START.match(self.text, start)
            assert match is not None
            self.offset = match.end()
            try:
                return self._game()
            except _IncompleteError:
                if len(self.text) - start > MAX_FILE_BYTES:
                    raise self._error(start, f"a game has more than {MAX_FILE_BYTES} characters") from None
            self._extend(start)

    def _extend(self, keep_from: int) -> None:
        """Drop the text before `keep_from`, continue reading there, and at least double the length of the window."""
        dropped, kept = self.text[:keep_from], self.text[keep_from:]
        breaks = dropped.count("\n")
        self.lines_before += breaks
        self.columns_before = len(dropped) - dropped.rfind("\n") - 1 + (0 if breaks else self.columns_before)
        parts = [kept]
        length = 0
        while length <= len(kept):
            chunk = next(self.chunks, None)
            if chunk is None:
                self.is_at_end = True
                break
            parts.append(chunk)
            length += len(chunk)
        self.text = "".join(parts)
        self.offset = 0

    def _check_complete(self) -> None:
        """Raise `_IncompleteError` if the current node may continue after the window."""
        if not self.is_at_end and self.text[self.offset : self.offset + 1] in ("", "["):
            raise _IncompleteError

    def _game(self) -> GameRecord:
        """Read one game, starting after its first semicolon."""
        self.node_count = 0
        start = self.offset - 1
        record = self._root(self._properties(), start)
        branch = Branch(record.ruleset)
        points = _points_by_letters(record.ruleset.width, record.ruleset.height)
        self._enter(branch, record.root, start)
        current = record.root
        open_variations: list[tuple[Node, int]] = [(current, 0)]
        while open_variations:
            self._skip_blank()
            self._check_complete()
            start, sign = self.offset, self.text[self.offset : self.offset + 1]
            self.offset += 1
            if sign == ";":
                node = self._plain_move(points) or build_node(self._properties(), record.ruleset, self._where)
                self._enter(branch, node, start)
                current = current.add(node)
            elif sign == "(":
                self._skip_blank()
                self._check_complete()
                if self.text[self.offset : self.offset + 1] != ";":
                    raise self._error(start, "a variation must start with ';'")
                open_variations.append((current, len(branch)))
            elif sign == ")":
                current, depth = open_variations.pop()
                branch.leave_to(depth)
            elif sign:
                raise self._error(start, f"{shorten(self.text[start:], 12)!r} is neither a node nor a variation")
            else:
                raise self._error(start, "the file ends inside a game")
        return record

    def _enter(self, branch: Branch, node: Node, start: int) -> None:
        self.node_count += 1
        if self.node_count > MAX_NODES:
            raise self._error(start, f"the game has more than {MAX_NODES} nodes")
        try:
            branch.enter(node)
        except RecordError as error:
            raise self._error(start, str(error)) from None

    def _plain_move(self, points: Mapping[str, Point]) -> Node | None:
        """Parse a node with one move and nothing else (the fast path); None for any other node."""
        match = _PLAIN_MOVE.match(self.text, self.offset)
        point = points.get(match[2]) if match else None
        if match is None or point is None:
            return None
        self.offset = match.end()
        return Node(moves=(move_of(COLOURS[match[1]], point),))

    def _properties(self) -> list[Property]:
        """Parse the properties of a node. The values of a repeated property are joined, except those of moves."""
        found: list[Property] = []
        places: dict[str, int] = {}
        while True:
            self._skip_blank()
            name = NAME.match(self.text, self.offset)
            if name is None:
                self._check_complete()
                return found
            self.offset = name.end()
            self._skip_blank()
            values: list[str] = []
            while value := VALUE.match(self.text, self.offset):
                values.append(value[1])
                self.offset = value.end()
                self._skip_blank()
            if not values:
                self._check_complete()
                raise self._error(name.start(), f"property {shorten(name[0])} has no complete value [...]")
            short = _short_name(name[0])
            if short in places and short not in COLOURS:
                found[places[short]][1].extend(values)
            else:
                places[short] = len(found)
                found.append((short, values, name.start()))

    def _root(self, properties: list[Property], start: int) -> GameRecord:
        values = {name: found for name, found, _ in properties}
        game = values.get("GM", ["4"])[0].strip()
        if game != "4":
            raise self._error(start, f"GM[{shorten(game)}] is a different game; gomoku and renju are GM[4]")
        try:
            ruleset = parse_ruleset(values, self.default)
        except InputError as error:
            raise self._error(start, str(error)) from None
        record = GameRecord(ruleset=ruleset)
        rest = [entry for entry in properties if not read_header(record, entry[0], entry[1])]
        rule_text = record.properties
        record.root = build_node(rest, ruleset, self._where)
        if rule_text:
            record.root.properties = {**rule_text, **record.properties}
        return record

    def _skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.offset)
        if match is not None:
            self.offset = match.end()

    def _where(self, offset: int) -> str:
        line = self.lines_before + self.text.count("\n", 0, offset) + 1
        line_start = self.text.rfind("\n", 0, offset) + 1
        column = offset - line_start + 1 + (0 if line_start else self.columns_before)
        return f"line {line}, column {column}"

    def _error(self, offset: int, message: str) -> RecordError:
        return RecordError(f"{self._where(offset)}: {message}")


@cache
def _points_by_letters(width: int, height: int) -> Mapping[str, Point]:
    letters = string.ascii_lowercase
    return {letters[x] + letters[height - 1 - y]: Point.at(x, y) for y in range(height) for x in range(width)}


def _short_name(name: str) -> str:
    """Drop the lower-case letters of long names in old files (`AddBlack` becomes `AB`); keep names without capitals."""
    return "".join(letter for letter in name if not letter.islower()) if re.search("[A-Z]", name) else name
