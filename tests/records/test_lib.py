from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.core.contracts import Colour, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError
from tengen.records import lib
from tengen.records.game import GameRecord, Mark, MarkKind, Node
from tengen.records.report import ReadReport
from tests.records.sample_files import points, sample
from tests.records.strategies import BARE, Contents, bare_records, stones_at

RENJU = Ruleset(15, 15, 5, Rule.RENJU)
HEADER = bytes.fromhex("ff52656e4c6962ff0304ffffffffffffffffffff")
IN_LIBRARIES = Contents(
    **{
        **vars(BARE),
        "variations": True,
        "passes": True,
        "comments": True,
        "labels": True,
        "bookmarks": True,
        "marks": (MarkKind.LABEL,),
    }
)


def test_the_smallest_library_byte_by_byte() -> None:
    data = sample("tiny.lib")
    assert data == HEADER + bytes.fromhex("0000 7800 6941 0001 4100")
    (record,) = lib.read(data)
    assert record.ruleset == RENJU
    assert points(record) == "h8i9"
    assert record.root.children[0].children[0].label == "A"
    assert lib.write([record]) == data


def test_comments_texts_and_marks() -> None:
    (record,) = lib.read(sample("study.lib"), encoding="cp1252")
    assert record.root.comment == "Study of one opening"
    (centre,) = record.root.children
    assert centre.properties == {"LIBSTART": ("1",)}
    assert centre.marks == (Mark(MarkKind.LABEL, Point("g7"), "ab"),)
    direct, indirect, passing = centre.children
    assert (direct.comment, direct.bookmarked) == ("Direct\nstrong\nfor black", True)
    assert [str(child.moves[0].point) for child in direct.children] == ["j8"]
    assert (indirect.moves[0].point, indirect.label) == (Point("h9"), "été")
    assert passing.moves[0].point is None
    assert lib.read(lib.write([record], encoding="cp1252"), encoding="cp1252") == [record]


def test_bytes_of_an_unnamed_code_page_are_preserved() -> None:
    (record,) = lib.read(sample("study.lib"))
    assert record.root.children[0].children[1].label == "\udce9t\udce9"
    assert b"\xe9t\xe9\0" in lib.write([record])


def test_files_without_header_and_with_old_comments() -> None:
    (record,) = lib.read(sample("old.lib"))
    (centre,) = record.root.children
    assert centre.comment == "Bäst"
    assert [child.comment for child in centre.children] == ["öppet\nrad", ""]


def test_a_library_saved_at_a_leaf_has_no_end_mark() -> None:
    # RenLib does not mark the last node of the line it saves, and marks siblings that it does not save.
    (record,) = lib.read(HEADER + bytes.fromhex("0000 7880 6980 6700"))
    assert points(record) == "h8i9g9"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "offset 0x0: not a RenLib library: it starts with nothing"),
        (b"(;GM[4])", "offset 0x0: not a RenLib library: it starts with 28 3b"),
        (HEADER[:12], "offset 0xc: the file ends inside the 20-byte RenLib header"),
        (HEADER[:8] + b"\x04\x00" + HEADER[10:], "offset 0x8: RenLib file version 4.0"),
        (HEADER + b"\x00\x00\x78", "offset 0x16: the file ends inside a node"),
        (HEADER + b"\x00\x00\x78\x01\x00", "offset 0x18: the file ends inside a node"),
        (HEADER + b"\x00\x00\x70\x00", "offset 0x16: 0x70 is not a point"),
        (HEADER + b"\x00\x00\xf1\x00", "offset 0x16: 0xf1 is not a point"),
        (HEADER + b"\x00\x00\x78\x08abc", "offset 0x18: a text field is not NUL-terminated"),
        (HEADER + b"\x00\x00\x78\x08ab\x00", "offset 0x1a: the file ends inside a text field"),
        (HEADER + b"\x00\x00\x78\x20abc", "offset 0x18: a seven-bit comment is not terminated"),
        (HEADER + b"\x00\x00\x78\x40\x79\x40", "offset 0x18: there is a node after the end of the tree"),
    ],
)
def test_errors_name_the_offset(data: bytes, message: str) -> None:
    with pytest.raises(RecordError) as error:
        lib.read(data)
    assert message in str(error.value)


def test_branches_that_play_on_an_occupied_point_are_skipped_and_counted() -> None:
    report = ReadReport()
    # h8, i9, then h8 again with a child (skipped), then its sibling j10.
    (record,) = lib.read(HEADER + bytes.fromhex("0000 7800 6900 7880 6140 5a40"), report=report)
    assert points(record) == "h8i9j10"
    assert report.summary() == ["skipped branches that play on an occupied point: 1"]
    assert report.notes == ["offset 0x1a: black plays h8, which is occupied by a black stone"]


def test_other_boards_and_texts_are_rejected() -> None:
    with pytest.raises(RecordError, match="for a 15x15 board, not for 19x19"):
        lib.write([GameRecord(ruleset=Ruleset(19, 19))])
    with pytest.raises(RecordError, match="for a 15x15 board"):
        lib.read(sample("tiny.lib"), ruleset=Ruleset(19, 19))
    with pytest.raises(RecordError, match="binary"):
        lib.read("FF RenLib")
    with pytest.raises(RecordError, match="'連' in '連珠' cannot be written in cp1252"):
        lib.write([GameRecord(root=Node(comment="連珠"))], encoding="cp1252")


def test_several_games_become_variations_of_one_root() -> None:
    games = [GameRecord.from_points(RENJU, [Point("h8"), Point(name)]) for name in ("h9", "i9")]
    (record,) = lib.read(lib.write(games))
    assert [[str(node.moves[0]) for node in (child, *child.children)] for child in record.root.children] == [
        ["black h8", "white h9"],
        ["black h8", "white i9"],
    ]


def test_scan_yields_nodes_with_their_depths() -> None:
    found = [(node.depth, str(node.point), node.offset) for node in lib.scan(sample("tiny.lib"))]
    assert found == [(0, "None", 20), (1, "h8", 22), (2, "i9", 24)]


@given(bare_records(st.just(RENJU), IN_LIBRARIES))
def test_round_trip(record: GameRecord) -> None:
    assert lib.read(lib.write([record])) == [record]


@given(bare_records(st.just(RENJU), Contents()))
def test_anything_that_can_be_written_keeps_its_stones(record: GameRecord) -> None:
    try:
        written = lib.write([record])
    except RecordError:
        assert any(node.setup and node.setup.empty for node in record.nodes())
        return
    report = ReadReport()
    (back,) = lib.read(written, report=report)
    assert not report.skipped
    leaves = boards(record, [node for node in record.nodes() if not node.children])
    assert boards(back, [node for node in back.nodes() if not node.children]) <= leaves
    assert leaves <= boards(back, back.nodes())


def boards(record: GameRecord, nodes: Iterable[Node]) -> set[frozenset[tuple[Point, Colour]]]:
    return {frozenset(stones_at(node, record.ruleset).items()) for node in nodes}
