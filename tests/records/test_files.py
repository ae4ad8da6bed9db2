"""Loading, saving, formats by file extension, and the losses of a conversion."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tengen import records
from tengen.core.contracts import Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError
from tengen.records import GameRecord, Node, ReadReport, Setup
from tests.records.sample_files import SAMPLE_FORMATS, SAMPLES, points

RENJU = Ruleset(15, 15, 5, Rule.RENJU)


def game(moves: str = "h8i9j10", ruleset: Ruleset = RENJU) -> GameRecord:
    return GameRecord.from_points(ruleset, [Point(moves[at : at + 2]) for at in range(0, 4, 2)])


def annotated() -> GameRecord:
    record = game()
    record.black, record.event, record.result, record.result_reason = "Ann", "Cup", Outcome.BLACK, "resignation"
    first = record.root.children[0]
    first.comment, first.time_ms, first.value = "centre", 12, 0.5
    first.play(Point("a1")).comment = "corner"
    first.play(Point("a2"))
    return record


def test_every_sample_is_loaded_by_its_extension() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == set(SAMPLE_FORMATS)
    for name in SAMPLE_FORMATS:
        assert records.load(SAMPLES / name), name


@pytest.mark.parametrize("extension", ["pos", "sgf", "lib", "json", "jsonl", "psq", "sgf.gz", "jsonl.gz"])
def test_saved_games_can_be_loaded(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"game.{extension}"
    records.save(path, [game()])
    (back,) = records.load(path, ruleset=RENJU)
    assert back.stones() == game().stones()
    assert back.ruleset == RENJU
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_gzip_is_detected_by_content_and_written_reproducibly(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(gzip.compress(b"(;GM[4];B[hh])"))
    assert points(records.load(path)[0]) == "h8"
    for name in ("a.sgf.gz", "b.sgf.gz"):
        records.save(tmp_path / name, [game()])
    assert (tmp_path / "a.sgf.gz").read_bytes() == (tmp_path / "b.sgf.gz").read_bytes()


def test_unknown_extensions_and_formats_are_rejected_with_a_list_of_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"game.xyz: unknown file extension \(known: .pos, .txt, .psq, .sgf"):
        records.load(tmp_path / "game.xyz")
    with pytest.raises(RecordError, match="unknown format 'chess' \\(known: pos, offsets, psq"):
        records.load(tmp_path / "game.xyz", format="chess")
    with pytest.raises(RecordError, match=r"cannot read .*game.sgf: No such file"):
        records.load(tmp_path / "game.sgf")
    with pytest.raises(RecordError, match=r"cannot write .*game.sgf: No such file"):
        records.save(tmp_path / "no-folder" / "game.sgf", [game()])
    with pytest.raises(RecordError, match=r"RenjuNet database \(rif\) can be read but not written"):
        records.save(tmp_path / "game.rif", [game()])


def test_a_named_format_overrides_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "book"
    records.save(path, [game()], format="offsets")
    assert path.read_text() == "0,0, 1,-1\n"
    assert points(records.load(path, format="offsets")[0]) == "h8i9"


def test_text_files_may_contain_offsets() -> None:
    assert points(records.load(SAMPLES / "openings.txt")[0]) == "h8i8i7h7j9"


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bad.psq"
    path.write_text("Piskvorky 15x15, 0:0, 0\n99,1,0\n")
    with pytest.raises(RecordError, match=r"bad.psq: line 2: '99,1,0' is not on"):
        records.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("old")

    def failing() -> Iterator[GameRecord]:
        yield game()
        raise RecordError("no more")

    with pytest.raises(RecordError, match="no more"):
        records.save(path, failing())
    broken = game()
    broken.root.children[0].play(Point("h8"))
    with pytest.raises(RecordError, match="game 2: white plays h8"):
        records.save(path, [game(), broken])
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["game.sgf"]


def test_save_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.sgf").symlink_to(tmp_path / "real.sgf")
    records.save(tmp_path / "link.sgf", [game()])
    assert (tmp_path / "link.sgf").is_symlink()
    assert records.load(tmp_path / "real.sgf") == [game()]


def test_size_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "games.jsonl"
    records.save(path, [game()] * 10)
    monkeypatch.setattr("tengen.records.game.MAX_NODES", 25)
    with pytest.raises(RecordError, match="game 9: the games up to this one have more than 25 nodes"):
        records.load(path)
    assert len(list(records.iterate(path))) == 10
    monkeypatch.setattr("tengen.records.text.MAX_STREAM_BYTES", 500)
    with pytest.raises(RecordError, match="the file is larger than the limit of 500 bytes"):
        records.load(path)
    monkeypatch.setattr("tengen.records.formats.MAX_FILE_BYTES", 400)
    for name, limit in (("bomb.sgf.gz", 500), ("bomb.psq.gz", 400)):
        bomb = tmp_path / name
        bomb.write_bytes(gzip.compress(b" " * 10_000))
        with pytest.raises(RecordError, match=f"the file is larger than the limit of {limit} bytes"):
            records.load(bomb)
    cut = tmp_path / "cut.psq.gz"
    cut.write_bytes(gzip.compress(b"(;)")[:-5])
    with pytest.raises(RecordError, match="damaged gzip data"):
        records.load(cut)


def test_a_database_without_a_usable_game_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.rif"
    path.write_text("<database><games><game id='1'><move/></game></games></database>")
    report = ReadReport()
    with pytest.raises(RecordError, match="no usable game; line 1: game 1 has no moves"):
        records.load(path, report=report)
    assert report.skipped == {"games without moves": 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("json", []),
        ("sgf", []),
        (
            "pos",
            [
                "1 variation",
                "2 comments",
                "1 move time",
                "1 evaluation",
                "1 player name",
                "1 result",
                "1 reason for a result",
                "1 event",
            ],
        ),
        ("psq", ["1 variation", "2 comments", "1 evaluation", "1 reason for a result", "1 rule"]),
        (
            "lib",
            ["1 move time", "1 evaluation", "1 player name", "1 result", "1 reason for a result", "1 event"],
        ),
    ],
)
def test_losses(name: str, expected: list[str]) -> None:
    record = annotated()
    record.root.children[0].children.pop()
    assert records.losses([record], name) == expected


def test_losses_count_over_all_games() -> None:
    assert records.losses([annotated(), annotated()], "lib")[-1] == "2 games converted to variations"
    assert records.losses([annotated(), annotated()], "pos")[:2] == ["4 variations", "4 comments"]
    assert records.losses([game()], "pos") == []
    assert records.losses([game(ruleset=Ruleset(15, 15))], "psq") == []
    unfinished = game(ruleset=Ruleset(15, 15))
    unfinished.event = "Cup"
    assert records.losses([unfinished], "psq") == ["1 event"]
    problem = GameRecord(root=Node(setup=Setup((Point("h8"),)), properties={"XX": ("1",)}))
    assert records.losses([problem], "pos") == ["1 property", "1 set-up converted to moves"]


@pytest.mark.parametrize("name", SAMPLE_FORMATS)
def test_complete_formats_report_no_losses(name: str) -> None:
    games = records.load(SAMPLES / name)
    for complete in ("sgf", "json", "jsonl"):
        assert records.losses(games, complete) == []


def test_a_format_without_losses_restores_the_same_record(tmp_path: Path) -> None:
    record = annotated()
    for name in ("json", "jsonl", "sgf"):
        assert records.losses([record], name) == []
        path = tmp_path / f"game.{name}"
        records.save(path, [record, game()])
        assert records.load(path) == [record, game()]
