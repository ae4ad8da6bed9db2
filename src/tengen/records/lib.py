r"""RenLib libraries (`.lib`): opening trees of renju with comments and texts on the board, 15x15, binary.

A header of 20 bytes (`FF RenLib FF`, version, padding; missing in the oldest files), then the nodes, each before its
children and those before its next sibling:

    point, flags                two bytes; point = 16·(row from the top − 1) + column from 1, 0 = root or pass
    info2, info1                only with flag 01
    comment                     with flag 08: bytes in pairs up to a NUL; with flag 20 in the old seven-bit form
    board text                  with flag 01 and info1 & 01: bytes in pairs up to a NUL

The picture is kept. Texts are in the author's Windows code page: name it, or their bytes are kept until you do. A
library is one tree, so a reader gives one record, and several records are written as variations of one root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tengen.core.contracts import Colour, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError
from tengen.records.features import Feature
from tengen.records.game import (
    NO_PROPERTIES,
    Branch,
    GameRecord,
    Mark,
    MarkKind,
    Node,
    Properties,
    move_of,
    plies_of,
)
from tengen.records.limits import MAX_DEPTH, MAX_NODES, MAX_TEXT
from tengen.records.report import ReadReport
from tengen.records.text import code_page, decode, encode, tidy, tidy_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SIZE = 15
HOLDS = frozenset({Feature.VARIATION, Feature.COMMENT, Feature.LABEL, Feature.TEXT_MARK, Feature.BOOKMARK})

_MAGIC = b"\xffRenLib\xff"
_HEADER_SIZE = 20
_VERSION = (3, 4)
_CENTRE = 0x78

_SIBLING = 0x80
_NO_CHILD = 0x40
_OLD_COMMENT = 0x20
_MARK = 0x10
_COMMENT = 0x08
_START = 0x04
_NO_MOVE = 0x02
_EXTENSION = 0x01
_BOARD_TEXT = 0x01

_LINE_SEPARATOR = b"\x08"
"""Between the first line of a comment and the others."""
_START_PROPERTY = "LIBSTART"
OWN_PROPERTIES = frozenset({_START_PROPERTY})
"""Properties in which a record remembers what only RenLib says: here, where the program opens the library."""
# The oldest files use the Swedish variant of ASCII.
_SWEDISH = str.maketrans("}{|][\\", "åäöÅÄÖ")


@dataclass(slots=True)
class LibNode:
    """One node as it stands in the file."""

    offset: int
    depth: int
    """1 for the first moves; 0 only for a root that the file writes itself."""
    point: Point | None
    """None is the root or a pass."""
    flags: int
    comment: bytes = b""
    old_comment: bool = False
    text: bytes = b""


def scan(data: bytes) -> Iterator[LibNode]:
    """The nodes of a library in the order of the file, without building a tree: memory does not grow with the file."""
    place = _after_header(data)
    start = place
    depth = 0
    open_siblings: list[int] = []
    while place < len(data):
        node, place = _read_node(data, place)
        is_root = node.offset == start and node.point is None
        if is_root:
            yield node
            depth = 1
            continue
        if depth == 0:
            if node.offset != start:
                raise RecordError(f"offset {node.offset:#x}: a node after the end of the tree")
            depth = 1
        if depth > MAX_DEPTH:
            raise RecordError(f"offset {node.offset:#x}: a branch is deeper than {MAX_DEPTH} nodes")
        node.depth = depth
        yield node
        if node.flags & _SIBLING:
            open_siblings.append(depth)
        if not node.flags & _NO_CHILD:
            depth += 1
        else:
            depth = open_siblings.pop() if open_siblings else 0


def _after_header(data: bytes) -> int:
    if data.startswith(_MAGIC):
        if len(data) < _HEADER_SIZE:
            raise RecordError(f"offset {len(data):#x}: the header of a RenLib file has {_HEADER_SIZE} bytes")
        if (data[8], data[9]) > _VERSION:
            raise RecordError(f"offset 0x8: RenLib file version {data[8]}.{data[9]}; known up to 3.4")
        return _HEADER_SIZE
    if data[:1] == bytes([_CENTRE]):
        return 0
    raise RecordError(f"offset 0x0: not a RenLib library, it begins with {data[:8].hex(' ') or 'nothing'}")


def _read_node(data: bytes, place: int) -> tuple[LibNode, int]:
    if place + 2 > len(data):
        raise RecordError(f"offset {place:#x}: the file ends inside a node")
    node = LibNode(place, 0, _point(data[place], place), data[place + 1])
    place += 2
    has_text = False
    if node.flags & _EXTENSION:
        if place + 2 > len(data):
            raise RecordError(f"offset {place:#x}: the file ends inside a node")
        has_text = bool(data[place + 1] & _BOARD_TEXT)
        place += 2
    if node.flags & _OLD_COMMENT:
        node.comment, place = _read_old_text(data, place)
        node.old_comment = True
    elif node.flags & _COMMENT:
        node.comment, place = _read_text(data, place)
    if has_text:
        node.text, place = _read_text(data, place)
    return node, place


def _point(byte: int, place: int) -> Point | None:
    if byte == 0:
        return None
    row, column = divmod(byte, 16)
    if column == 0 or row >= SIZE:
        raise RecordError(f"offset {place:#x}: {byte:#04x} is not a point of the 15x15 board")
    return Point.at(column - 1, SIZE - 1 - row)


def _read_text(data: bytes, place: int) -> tuple[bytes, int]:
    """A NUL-terminated text that takes an even number of bytes."""
    end = data.find(b"\0", place, place + MAX_TEXT)
    if end < 0:
        raise RecordError(f"offset {place:#x}: a text does not end")
    after = end + 1 + (end + 1 - place) % 2
    if after > len(data):
        raise RecordError(f"offset {end:#x}: the file ends inside a text")
    return data[place:end], after


def _read_old_text(data: bytes, place: int) -> tuple[bytes, int]:
    """A seven-bit text that takes an even number of bytes; bit 7 marks its last one."""
    for end in range(place, min(len(data), place + MAX_TEXT)):
        if data[end] & 0x80:
            after = end + 1 + (end + 1 - place) % 2
            return data[place:end] + bytes([data[end] & 0x7F]), min(after, len(data))
    raise RecordError(f"offset {place:#x}: an old comment does not end")


# ---- Reading a tree -------------------------------------------------------------------------------------------------


def read(
    data: bytes | str,
    *,
    ruleset: Ruleset | None = None,
    encoding: str | None = None,
    report: ReadReport | None = None,
) -> list[GameRecord]:
    """Read a library as one record; renju, unless `ruleset` says otherwise (its board must be 15x15).

    A branch that plays on a stone is left out and counted in `report`.
    """
    if isinstance(data, str):
        raise RecordError("a RenLib library is binary: it must be read as bytes")
    rules = ruleset or Ruleset(SIZE, SIZE, 5, Rule.RENJU)
    if (rules.width, rules.height) != (SIZE, SIZE):
        raise RecordError(f"a RenLib library is for the 15x15 board, not for {rules}")
    return [_TreeReader(rules, code_page(encoding or "utf-8"), report or ReadReport()).read(data)]


class _TreeReader:
    """Hangs the nodes of `scan` into a tree, following the stones of the current branch."""

    def __init__(self, ruleset: Ruleset, page: str, report: ReadReport) -> None:
        self.record = GameRecord(ruleset=ruleset)
        self.page = page
        self.report = report
        self.branch = Branch(ruleset)
        self.path: list[tuple[Node, Colour]] = [(self.record.root, Colour.BLACK)]
        """The current branch, each node with the colour that moves after it."""
        self.left_out: int | None = None
        """Depth of the branch that is being left out, if one is."""

    def read(self, data: bytes) -> GameRecord:
        for count, found in enumerate(scan(data), start=1):
            if count > MAX_NODES:
                raise RecordError(f"offset {found.offset:#x}: more than {MAX_NODES} nodes")
            if found.depth == 0:
                self._describe(self.record.root, found)
            else:
                self._add(found)
        return self.record

    def _add(self, found: LibNode) -> None:
        if self.left_out is not None:
            if found.depth > self.left_out:
                return
            self.left_out = None
        del self.path[found.depth :]
        self.branch.leave_to(found.depth - 1)
        parent, turn = self.path[-1]
        is_text_only = bool(found.flags & _NO_MOVE) and found.point is not None
        if is_text_only and found.point is not None:
            if found.text:
                parent.marks += (Mark(MarkKind.LABEL, found.point, self._line(found.text)),)
            if found.flags & _NO_CHILD and not found.comment:
                # The depth must exist for siblings, the node need not.
                self.left_out = found.depth
                return
        node = Node()
        if not found.flags & _NO_MOVE:
            node.moves = (move_of(turn, found.point),)
            turn = turn.opponent
        try:
            self.branch.enter(node)
        except RecordError as error:
            self.report.skip("branches that play on a stone", f"offset {found.offset:#x}: {error}")
            self.left_out = found.depth
            return
        self._describe(node, found, with_text=not is_text_only)
        self.path.append((parent.add(node), turn))

    def _describe(self, node: Node, found: LibNode, *, with_text: bool = True) -> None:
        if found.old_comment:
            text = found.comment.decode("ascii").translate(_SWEDISH)
            node.comment = tidy(text.replace(_LINE_SEPARATOR.decode(), "\n", 1))
        elif found.comment:
            node.comment = tidy(decode(found.comment.replace(_LINE_SEPARATOR, b"\n", 1), self.page))
        if with_text and found.text:
            node.label = self._line(found.text)
        node.bookmarked = bool(found.flags & _MARK)
        if found.flags & _START:
            node.properties = {_START_PROPERTY: ("1",)}

    def _line(self, text: bytes) -> str:
        return tidy_line(decode(text, self.page))


# ---- Writing --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Entry:
    """A node to write: one ply, or a text on an empty point."""

    depth: int
    point: Point | None
    flags: int = 0
    comment: str = ""
    label: str = ""


def write(records: Iterable[GameRecord], *, encoding: str | None = None) -> bytes:
    """Write the records as one library of version 3.4, each as a variation of the root.

    Set-up stones become moves; a node without a move gives its comment to the one before. Marks other than labels and
    the header are lost.
    """
    page = code_page(encoding or "utf-8")
    entries = [_Entry(0, None)]
    for record in records:
        if (record.ruleset.width, record.ruleset.height) != (SIZE, SIZE):
            raise RecordError(f"a RenLib library is for the 15x15 board, not for {record.ruleset}")
        _flatten(record, entries)
    _set_links(entries)
    out = bytearray(_MAGIC + bytes(_VERSION) + b"\xff" * 10)
    for entry in entries:
        _write_entry(entry, page, out)
    return bytes(out)


def _flatten(record: GameRecord, entries: list[_Entry]) -> None:
    """Append the record in the order of the file; a node becomes as many entries as it has plies."""
    branch = Branch(record.ruleset)
    # Node, its depth in the record, the entry above it.
    stack: list[tuple[Node, int, _Entry]] = [(record.root, 0, entries[0])]
    while stack:
        node, depth, above = stack.pop()
        branch.leave_to(depth)
        turn = Colour.WHITE if above.depth % 2 else Colour.BLACK
        for point in plies_of(node, turn, branch.stones):
            above = _Entry(above.depth + 1, point)
            entries.append(above)
        branch.enter(node)
        _remark(node, above)
        for mark in node.marks:
            if mark.kind is MarkKind.LABEL:
                entries.append(_Entry(above.depth + 1, mark.point, _NO_MOVE, label=mark.text))
        stack.extend((child, depth + 1, above) for child in reversed(node.children))


def _remark(node: Node, entry: _Entry) -> None:
    entry.comment = "\n".join(filter(None, (entry.comment, tidy(node.comment))))
    entry.label = entry.label or tidy_line(node.label)
    if node.bookmarked:
        entry.flags |= _MARK
    if _is_start(node.properties):
        entry.flags |= _START


def _is_start(properties: Properties) -> bool:
    return properties is not NO_PROPERTIES and _START_PROPERTY in properties


def _set_links(entries: list[_Entry]) -> None:
    """Set the flags that say which nodes have children and siblings, from the depths alone."""
    following: list[bool] = []
    for entry, after in zip(reversed(entries), [None, *reversed(entries)], strict=False):
        # following[d] = a node of depth d comes later under the same parent.
        following += [False] * (entry.depth + 1 - len(following))
        del following[entry.depth + 1 :]
        if following[entry.depth]:
            entry.flags |= _SIBLING
        following[entry.depth] = True
        if after is None or after.depth <= entry.depth:
            entry.flags |= _NO_CHILD


def _write_entry(entry: _Entry, page: str, out: bytearray) -> None:
    flags = entry.flags
    flags |= _COMMENT if entry.comment else 0
    flags |= _EXTENSION if entry.label else 0
    out.append(0 if entry.point is None else 16 * (SIZE - 1 - entry.point.y) + entry.point.x + 1)
    out.append(flags)
    if entry.label:
        out += bytes([0, _BOARD_TEXT])
    if entry.comment:
        first, _, others = entry.comment.partition("\n")
        lines = encode(first, page)
        if others:
            lines += _LINE_SEPARATOR + encode(others.replace("\n", "\r\n"), page)
        out += _padded(lines)
    if entry.label:
        out += _padded(encode(tidy_line(entry.label), page))


def _padded(text: bytes) -> bytes:
    """The text with one NUL or two, so that the length is even."""
    if len(text) >= MAX_TEXT - 2:
        raise RecordError(f"a text of {len(text)} bytes is longer than {MAX_TEXT}")
    return text + (b"\0" if len(text) % 2 else b"\0\0")
