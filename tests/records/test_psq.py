from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.core.contracts import Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError
from tengen.records import GameRecord, psq
from tengen.records.game import Node
from tests.records.sample_files import points, sample
from tests.records.strategies import BARE, Contents, records

TIMED = Contents(**{**vars(BARE), "times": True})


def test_classic_file() -> None:
    (record,) = psq.read(sample("classic.psq"))
    assert record.ruleset == Ruleset(20, 20)
    # 10,10 is the tenth column and the tenth row from the top.
    assert points(record) == "j11k9j8o9"
    assert [node.time_ms for node in record.main_line()] == [None, 456, 4500, 60, None]
    assert (record.black, record.white) == ("pela.exe", "swine.zip")
    assert record.result is None
    assert record.properties == {"PSQLEVELS": ("7:7",)}


def test_judge_file() -> None:
    (record,) = psq.read(sample("judge.psq"), ruleset=Ruleset(9, 9, 5, Rule.STANDARD))
    assert record.ruleset == Ruleset(15, 15, 5, Rule.STANDARD)
    assert (record.black, record.white) == ("wine", "embryo")
    assert (record.result, record.event) == (Outcome.BLACK, "Own Cup 2026")


def test_time_out_loses_for_the_player_to_move() -> None:
    (record,) = psq.read(sample("timeout.psq"))
    assert (record.result, record.result_reason) == (Outcome.WHITE, "time")
    assert (record.black, record.white) == ("", "")


def test_names_follow_the_player_who_began() -> None:
    text = "Piskvorky 15x15, 0:3, 1\n8,8,0\nhomo-1\nengine\n-1\n1,Cup\n"
    (record,) = psq.read(text)
    assert (record.black, record.white) == ("engine", "")
    assert record.result is Outcome.WHITE


def test_error_codes_are_kept() -> None:
    (record,) = psq.read("Piskvorky 15x15, 11:11, 0\n8,8,0\na\nb\n-2\n")
    assert record.properties == {"PSQCODE": ("-2",)}
    assert b"\r\n-2\r\n" in psq.write([record])


def test_writer_uses_the_form_of_the_judge() -> None:
    (record,) = psq.read(sample("judge.psq"))
    assert psq.write([record]) == sample("judge.psq").replace(b"\n", b"\r\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not a PSQ header"),
        ("Piskvorky 30x30, 0:0, 0\n", "line 1: board width 30"),
        ("Piskvorky 15x15, 0:0, 0\n8,8,0\n16,1,0\n", "line 3: '16,1,0' is not on a 15x15 board"),
        ("Piskvorky 15x15, 0:0, 0\n0,1,0\n", "line 2: '0,1,0' is not on"),
        ("Piskvorky 15x15, 0:0, 0\n8,8,0\n8,8,0\n", "line 3: '8,8,0' (h8) is already occupied"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        psq.read(text)
    assert message in str(error.value)


def test_what_psq_cannot_express_is_rejected() -> None:
    passing = GameRecord.from_points(Ruleset(15, 15), [Point("h8"), None, Point("i9")])
    with pytest.raises(RecordError, match="do not alternate at stone 2"):
        psq.write([passing])
    with pytest.raises(RecordError, match="one game, not 2"):
        psq.write([passing, passing])


def as_stored_in_psq(record: GameRecord) -> GameRecord:
    """Return the record as PSQ should restore it: only names and result in the header, and 0 for unknown times."""
    kept = GameRecord.from_points(record.ruleset, [move.point for move in record.moves()])
    for node, original in zip(kept.main_line(), record.main_line(), strict=True):
        if node.moves:
            node.time_ms = original.time_ms or 0
    kept.black, kept.white = psq.name_line(record.black), psq.name_line(record.white)
    if record.result in (Outcome.BLACK, Outcome.WHITE, Outcome.DRAW):
        kept.result, kept.event = record.result, record.event
    if "REASON" in {feature.name for feature in psq.holds(record)}:
        kept.result_reason = record.result_reason
    return kept


psq_records = records(st.builds(Ruleset, st.integers(5, 22), st.integers(5, 22)), TIMED)


@given(psq_records)
def test_round_trip(record: GameRecord) -> None:
    written = psq.write([record])
    assert psq.read(written, ruleset=dataclasses.replace(record.ruleset)) == [as_stored_in_psq(record)]


def test_names_that_look_like_moves_get_an_underscore() -> None:
    record = GameRecord(black="1,2", white="15", root=Node())
    (back,) = psq.read(psq.write([record]))
    assert (back.black, back.white) == ("_1,2", "_15")
