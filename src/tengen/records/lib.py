r"""RenLib libraries (`.lib`): binary opening trees for renju on 15x15, with comments and board texts.

The file has a header of 20 bytes (`FF RenLib FF`, version, padding; absent from the oldest files), then the nodes in
pre-order:

    point, flags                two bytes; point = 16·(row from the top − 1) + column from 1, 0 = root or pass
    info2, info1                only with flag 01
    comment                     with flag 08: bytes in pairs up to a NUL; with flag 20, in the old seven-bit form
    board text                  with flag 01 and info1 & 01: bytes in pairs up to a NUL

Rows are flipped, so the board looks the same in Tengen. Text is in the author's Windows code page, which the file does
not name. If `encoding` is not given, bytes that are not UTF-8 are preserved. A library is one tree, so the reader
returns one record, and the writer turns several records into variations of one root.
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
"""Separates the first line of a comment from the rest."""
_START_PROPERTY = "LIBSTART"
OWN_PROPERTIES = frozenset({_START_PROPERTY})
"""Record properties that store data specific to RenLib: the node at which RenLib opens the library."""
# The oldest files use the Swedish variant of ASCII.
_SWEDISH = str.maketrans("}{|][\\", "åäöÅÄÖ")


@dataclass(slots=True)
class LibNode:
    """One node as stored in the file."""

    offset: int
    depth: int
    """1 for the first moves; 0 for an explicit root node."""
    point: Point | None
    """None for the root or a pass."""
    flags: int
    comment: bytes = b""
    old_comment: bool = False
    text: bytes = b""


def scan(data: bytes) -> Iterator[LibNode]:
    """Yield the nodes of a library in file order without building a tree, so memory use does not grow with the file."""
    offset = _after_header(data)
    start = offset
    depth = 0
    open_siblings: list[int] = []
    while offset < len(data):
        node, offset = _read_node(data, offset)
        is_root = node.offset == start and node.point is None
        if is_root:
            yield node
            depth = 1
            continue
        if depth == 0:
            if node.offset != start:
                raise RecordError(f"offset {node.offset:#x}: there is a node after the end of the tree")
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
            raise RecordError(f"offset {len(data):#x}: the file ends inside the {_HEADER_SIZE}-byte RenLib header")
        if (data[8], data[9]) > _VERSION:
            raise RecordError(f"offset 0x8: RenLib file version {data[8]}.{data[9]} is not supported (newest: 3.4)")
        return _HEADER_SIZE
    if data[:1] == bytes([_CENTRE]):
        return 0
    raise RecordError(f"offset 0x0: not a RenLib library: it starts with {data[:8].hex(' ') or 'nothing'}")


def _read_node(data: bytes, offset: int) -> tuple[LibNode, int]:
    if offset + 2 > len(data):
        raise RecordError(f"offset {offset:#x}: the file ends inside a node")
    node = LibNode(offset, 0, _point(data[offset], offset), data[offset + 1])
    offset += 2
    has_text = False
    if node.flags & _EXTENSION:
        if offset + 2 > len(data):
            raise RecordError(f"offset {offset:#x}: the file ends inside a node")
        has_text = bool(data[offset + 1] & _BOARD_TEXT)
        offset += 2
    if node.flags & _OLD_COMMENT:
        node.comment, offset = _read_old_text(data, offset)
        node.old_comment = True
    elif node.flags & _COMMENT:
        node.comment, offset = _read_text(data, offset)
    if has_text:
        node.text, offset = _read_text(data, offset)
    return node, offset


def _point(byte: int, offset: int) -> Point | None:
    if byte == 0:
        return None
    row, column = divmod(byte, 16)
    if column == 0 or row >= SIZE:
        raise RecordError(f"offset {offset:#x}: {byte:#04x} is not a point on the 15x15 board")
    return Point.at(column - 1, SIZE - 1 - row)


def _read_text(data: bytes, offset: int) -> tuple[bytes, int]:
    """Read a NUL-terminated text, padded to an even number of bytes."""
    end = data.find(b"\0", offset, offset + MAX_TEXT)
    if end < 0:
        raise RecordError(f"offset {offset:#x}: a text field is not NUL-terminated")
    after = end + 1 + (end + 1 - offset) % 2
    if after > len(data):
        raise RecordError(f"offset {end:#x}: the file ends inside a text field")
    return data[offset:end], after


def _read_old_text(data: bytes, offset: int) -> tuple[bytes, int]:
    """Read a seven-bit text, padded to an even number of bytes; bit 7 marks the last byte."""
    for end in range(offset, min(len(data), offset + MAX_TEXT)):
        if data[end] & 0x80:
            after = end + 1 + (end + 1 - offset) % 2
            return data[offset:end] + bytes([data[end] & 0x7F]), min(after, len(data))
    raise RecordError(f"offset {offset:#x}: a seven-bit comment is not terminated")


# ---- Reading a tree -------------------------------------------------------------------------------------------------


def read(
    data: bytes | str,
    *,
    ruleset: Ruleset | None = None,
    encoding: str | None = None,
    report: ReadReport | None = None,
) -> list[GameRecord]:
    """Read a library as one record. The default ruleset is renju; the board must be 15x15.

    A branch that plays on an occupied point is skipped and counted in `report`.
    """
    if isinstance(data, str):
        raise RecordError("a RenLib library is binary: pass its content as bytes, not as a string")
    rules = ruleset or Ruleset(SIZE, SIZE, 5, Rule.RENJU)
    if (rules.width, rules.height) != (SIZE, SIZE):
        raise RecordError(f"a RenLib library is for a 15x15 board, not for {rules}")
    return [_TreeReader(rules, code_page(encoding or "utf-8"), report or ReadReport()).read(data)]


class _TreeReader:
    """Builds a tree from the nodes of `scan` and tracks the stones of the current branch."""

    def __init__(self, ruleset: Ruleset, page: str, report: ReadReport) -> None:
        self.record = GameRecord(ruleset=ruleset)
        self.page = page
        self.report = report
        self.branch = Branch(ruleset)
        self.path: list[tuple[Node, Colour]] = [(self.record.root, Colour.BLACK)]
        """The current branch: each node with the side to move after it."""
        self.skipped_depth: int | None = None
        """Depth of the branch that is being skipped, if any."""

    def read(self, data: bytes) -> GameRecord:
        for count, found in enumerate(scan(data), start=1):
            if count > MAX_NODES:
                raise RecordError(f"offset {found.offset:#x}: the file has more than {MAX_NODES} nodes")
            if found.depth == 0:
                self._describe(self.record.root, found)
            else:
                self._add(found)
        return self.record

    def _add(self, found: LibNode) -> None:
        if self.skipped_depth is not None:
            if found.depth > self.skipped_depth:
                return
            self.skipped_depth = None
        del self.path[found.depth :]
        self.branch.leave_to(found.depth - 1)
        parent, turn = self.path[-1]
        is_text_only = bool(found.flags & _NO_MOVE) and found.point is not None
        if is_text_only and found.point is not None:
            if found.text:
                parent.marks += (Mark(MarkKind.LABEL, found.point, self._line(found.text)),)
            if found.flags & _NO_CHILD and not found.comment:
                # Siblings need the depth of this node, but the node itself is not needed.
                self.skipped_depth = found.depth
                return
        node = Node()
        if not found.flags & _NO_MOVE:
            node.moves = (move_of(turn, found.point),)
            turn = turn.opponent
        try:
            self.branch.enter(node)
        except RecordError as error:
            self.report.skip("branches that play on an occupied point", f"offset {found.offset:#x}: {error}")
            self.skipped_depth = found.depth
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
    """A node to write: one ply, or a label on an empty point."""

    depth: int
    point: Point | None
    flags: int = 0
    comment: str = ""
    label: str = ""


def write(records: Iterable[GameRecord], *, encoding: str | None = None) -> bytes:
    """Write the records as one library in version 3.4, each as a variation of the root.

    Set-up stones become moves; the comment of a node without a move is appended to the preceding node. The header and
    marks other than labels are lost.
    """
    page = code_page(encoding or "utf-8")
    entries = [_Entry(0, None)]
    for record in records:
        if (record.ruleset.width, record.ruleset.height) != (SIZE, SIZE):
            raise RecordError(f"a RenLib library is for a 15x15 board, not for {record.ruleset}")
        _flatten(record, entries)
    _set_links(entries)
    out = bytearray(_MAGIC + bytes(_VERSION) + b"\xff" * 10)
    for entry in entries:
        _write_entry(entry, page, out)
    return bytes(out)


def _flatten(record: GameRecord, entries: list[_Entry]) -> None:
    """Append the record in file order, with one entry per ply."""
    branch = Branch(record.ruleset)
    # Node, its depth in the record, and the parent entry.
    stack: list[tuple[Node, int, _Entry]] = [(record.root, 0, entries[0])]
    while stack:
        node, depth, above = stack.pop()
        branch.leave_to(depth)
        turn = Colour.WHITE if above.depth % 2 else Colour.BLACK
        for point in plies_of(node, turn, branch.stones):
            above = _Entry(above.depth + 1, point)
            entries.append(above)
        branch.enter(node)
        _annotate(node, above)
        for mark in node.marks:
            if mark.kind is MarkKind.LABEL:
                entries.append(_Entry(above.depth + 1, mark.point, _NO_MOVE, label=mark.text))
        stack.extend((child, depth + 1, above) for child in reversed(node.children))


def _annotate(node: Node, entry: _Entry) -> None:
    entry.comment = "\n".join(filter(None, (entry.comment, tidy(node.comment))))
    entry.label = entry.label or tidy_line(node.label)
    if node.bookmarked:
        entry.flags |= _MARK
    if _is_start(node.properties):
        entry.flags |= _START


def _is_start(properties: Properties) -> bool:
    return properties is not NO_PROPERTIES and _START_PROPERTY in properties


def _set_links(entries: list[_Entry]) -> None:
    """Derive the child and sibling flags from the depths of the entries."""
    following: list[bool] = []
    for entry, after in zip(reversed(entries), [None, *reversed(entries)], strict=False):
        # following[d]: whether another node at depth d follows under the same parent.
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
    """Return the text with one or two NULs appended, whichever makes its length even."""
    if len(text) >= MAX_TEXT - 2:
        raise RecordError(f"a text of {len(text)} bytes is longer than the limit of {MAX_TEXT}")
    return text + (b"\0" if len(text) % 2 else b"\0\0")
