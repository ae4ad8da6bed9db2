from __future__ import annotations

import gzip
import io

import pytest

from tengen.core.contracts import Opening, Outcome, Rule, Ruleset
from tengen.errors import RecordError
from tengen.records import rif
from tengen.records.report import ReadReport
from tests.records.sample_files import points, sample


def test_games_tables_and_report() -> None:
    report = ReadReport()
    first, second, third = rif.read(sample("database.rif"), report=report)
    assert first.ruleset == Ruleset(15, 15, 5, Rule.RENJU)
    assert points(first) == "h8h9i8g8g9f7e6"
    assert (first.black, first.white) == ("Anna Tamm", "Bert Öun & Co")
    assert (first.result, first.event, first.round, first.date) == (Outcome.BLACK, "Spring Cup", "2", "2025-04-01")
    assert first.comment == "B=1245"
    assert first.properties == {
        "RIFID": ("100",),
        "RIFPUBLISHER": ("9",),
        "SWAP": ("R--R-",),
        "ALT": ("2",),
        "BTIME": ("8",),
        "WTIME": ("9",),
        "RULETEXT": ("RIF",),
        "ON": ("Ura-getsu",),
    }
    # The rule of the second game is that of its tournament.
    assert second.ruleset == Ruleset(15, 15, 5, Rule.STANDARD, Opening.SWAP2)
    assert (second.result, second.date) == (Outcome.DRAW, "2025")
    assert (third.black, third.event, third.result) == ("", "", None)
    assert report.skipped == {
        "games without moves": 1,
        "duplicate games": 1,
        "games with invalid moves": 2,
    }
    assert report.notes[2] == "line 28: game 103: column 7: h8 is played twice"


def test_gzipped_and_streamed() -> None:
    packed = io.BytesIO(gzip.compress(sample("database.rif")))
    games = rif.read(packed)
    assert points(next(games)) == "h8h9i8g8g9f7e6"
    assert len(list(games)) == 2


@pytest.mark.parametrize(
    "attack",
    [
        '<!DOCTYPE database [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><database>&b;</database>',
        '<!DOCTYPE database SYSTEM "file:///etc/passwd"><database/>',
        '<!DOCTYPE database [<!ENTITY x SYSTEM "file:///etc/passwd">]><database><games>&x;</games></database>',
    ],
)
def test_document_types_and_entities_are_rejected(attack: str) -> None:
    with pytest.raises(RecordError, match="line 1: document types and entities are not allowed"):
        list(rif.read(attack))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1, column 1: invalid XML: no element found"),
        (b"h8 h9", "line 1, column 1: invalid XML"),
        (b"<database>\n<games></database>", "line 2, column 10: invalid XML: mismatched tag"),
        (b"<database>&undefined;</database>", "invalid XML: undefined entity"),
        (b"<?xml version='1.0' encoding='klingon'?><database/>", "line 1: unknown encoding: klingon"),
        (b"<?xml version='1.0' encoding='gbk'?><database/>", "line 1: multi-byte encodings are not supported"),
        (b"\x1f\x8b damaged", "damaged gzip data"),
        (gzip.compress(b"<database/>" * 100, mtime=0)[:-20], "damaged gzip data"),
    ],
)
def test_errors_name_line_or_offset(data: bytes, message: str) -> None:
    with pytest.raises(RecordError) as error:
        list(rif.read(data))
    assert message in str(error.value)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = b"<database><game id='1'><move>" + b"h8 " * 500_000 + b"</move></game></database>"
    with pytest.raises(RecordError, match="a game has more than 1048576 characters"):
        list(rif.read(endless))
    monkeypatch.setattr(rif, "MAX_STREAM_BYTES", 1000)
    with pytest.raises(RecordError, match="the file is larger than the limit of 1000 bytes"):
        list(rif.read(gzip.compress(sample("database.rif"))))
