from __future__ import annotations

import pytest
from hypothesis import given

from tengen.core.contracts import Opening, Rule, Ruleset
from tengen.errors import RecordError
from tengen.records import opening_file, position_string
from tengen.records.formats import FORMATS, Options
from tengen.records.game import GameRecord
from tests.records.sample_files import points, sample
from tests.records.strategies import BARE, Contents, any_ruleset, bare_records

PASSES = Contents(**{**vars(BARE), "passes": True})


def test_sample_file() -> None:
    first, second, third = position_string.read(sample("games.pos"))
    assert first.ruleset == Ruleset(15, 15, 5, Rule.RENJU)
    assert points(first) == "h8h9i9g9j10k11i10"
    assert second.ruleset == Ruleset(15, 15, 5, Rule.STANDARD, Opening.SWAP2)
    assert points(second) == "h8i9j10--k11"
    assert third.ruleset == Ruleset(15, 15)
    assert points(third) == "b7d6e6f7h2k5"


def test_digits_are_read_greedily() -> None:
    text = "h13h11j13i13i12j11i10i11g11k11l11j12l10h10g9j10"
    assert points(position_string.parse(text)) == text


def test_packed_files_of_renju_programs() -> None:
    data = bytes([3, 112, 98, 0])  # three moves: h8 = 7 + 7*15, i9 = 8 + 6*15, and the upper left corner
    assert position_string.is_packed(data)
    (record,) = position_string.read_packed(data)
    assert record.ruleset == Ruleset(15, 15, 5, Rule.RENJU)
    assert points(record) == "h8i9a15"
    assert not position_string.is_packed(b"h8i9" * 60)
    for broken, message in (
        (b"", "offset 0x0: the file claims 0 moves"),
        (b"\x05\x01", "offset 0x0: the file claims 5 moves but has only 2 bytes"),
        (b"\x02\x01\x01", "offset 0x2: b15 is played twice"),
        (b"\x01\xff", "offset 0x1: 255 is not a point"),
    ):
        with pytest.raises(RecordError, match=message):
            position_string.read_packed(broken)


def test_rows_counted_from_the_top_are_flipped() -> None:
    record = position_string.parse("a1b15", rows="top")
    assert points(record) == "a15b1"
    assert position_string.format_record(record, rows="top", prefix=False) == "a1b15"
    assert position_string.format_record(record) == "15/freestyle/a15b1"


def test_ruleset_supplies_what_the_prefix_omits() -> None:
    caro = Ruleset(20, 20, 5, Rule.CARO)
    assert position_string.parse("t20", ruleset=caro).ruleset == caro
    assert position_string.parse("19/s19", ruleset=caro).ruleset == Ruleset(19, 19, 5, Rule.CARO)
    assert position_string.parse("19/renju/s19", ruleset=caro).ruleset == Ruleset(19, 19, 5, Rule.RENJU)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h8i9\nh8x\n", "line 2, column 3: not a point: 'x'"),
        ("h8i9h8", "line 1, column 5: h8 is played twice"),
        ("h8 p1", "line 1, column 4: p1 is not on a 15x15 board"),
        ("h0", "line 1, column 1: not a point"),
        ("99/renju/h8", "line 1, column 1: prefix '99/renju/': board width 99"),
        ("15/chess/h8", "unknown rule 'chess'"),
        ("15x15:9:renju/h8", "win length 9"),
        ("(;B[hh])", "line 1, column 1: not a point"),
    ],
)
def test_errors_name_line_and_column(text: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        position_string.read(text)
    assert message in str(error.value)


@given(bare_records(any_ruleset, PASSES))
def test_round_trip(record: GameRecord) -> None:
    assert position_string.read(position_string.write([record, record])) == [record, record]
    upside_down = position_string.write([record], rows="top")
    assert position_string.read(upside_down, rows="top") == [record]


def test_offsets_are_flipped() -> None:
    first, second = opening_file.read_offsets(sample("openings.txt"))
    # dy grows downwards: the fourth stone is below the first, the fifth above the second.
    assert points(first) == "h8i8i7h7j9"
    assert points(second) == "o11n12m12l11j15g13"
    (even,) = opening_file.read_offsets("0,0, -10,-10, 9,9", ruleset=Ruleset(20, 20))
    assert points(even) == "k10a20t1"


@pytest.mark.parametrize("data", [b"# openings\nh8i8\nh8i7\n", b"# openings\n0,0, 1,0\n0,0, 1,1\n"])
def test_text_files_are_position_strings_or_offsets(data: bytes) -> None:
    assert [points(record) for record in FORMATS["pos"].read(data, Options())] == ["h8i8", "h8i7"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,0, 1", "line 1: the offsets must come in pairs, but there are 3 numbers"),
        ("0,0\n1,50", "line 2: not an offset between -49 and 49: '50'"),
        ("0,0, x,1", "line 1: not an offset"),
        ("0,0, 8,0", "line 1: 8,0 is not on a 15x15 board"),
        ("0,0, 1,1, 0,0", "line 1: 0,0 (h8) is played twice"),
    ],
)
def test_bad_offsets_name_the_line(text: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        opening_file.read_offsets(text)
    assert message in str(error.value)


@given(bare_records(any_ruleset, BARE))
def test_offsets_round_trip(record: GameRecord) -> None:
    written = opening_file.write_offsets([record])
    assert opening_file.read_offsets(written, ruleset=record.ruleset) == ([record] if record.moves() else [])
