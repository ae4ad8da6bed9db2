from __future__ import annotations

import gc
import io
from collections.abc import Iterator

import pytest
from hypothesis import given

from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError
from tengen.records import sgf, sgf_reader
from tengen.records.game import GameRecord, Mark, MarkKind, Node, Setup
from tests.records.sample_files import points, sample
from tests.records.strategies import any_ruleset, records


def test_variations_annotations_and_header() -> None:
    (record,) = sgf.read(sample("variations.sgf"))
    assert record.ruleset == Ruleset(15, 15, 5, Rule.RENJU)
    assert (record.black, record.white) == ("Ann [1]", "Bob")
    assert (record.event, record.round, record.date) == ("Tallinn Open", "3", "2026-01-02")
    assert (record.result, record.result_reason) == (Outcome.BLACK, "five")
    assert record.comment == "Played in one sitting."
    assert record.properties == {"BR": ("2d",), "XX": ("kept \\] as it is", "twice")}
    assert points(record) == "h8i9i7j6g9"
    first = record.root.children[0]
    assert (first.time_ms, first.clock_ms) == (456, 599544)
    second = first.children[0]
    assert (second.clock_ms, second.value) == (598000, 0.05)
    assert [str(child.moves[0].point) for child in second.children] == ["i7", "i6", "g10"]
    main, side, _ = second.children
    assert main.label == "A"
    assert set(main.marks) == {
        Mark(MarkKind.LABEL, Point("j6"), "B"),
        Mark(MarkKind.CIRCLE, Point("d12")),
        *(Mark(MarkKind.TRIANGLE, Point(name)) for name in ("a15", "b15", "a14", "b14", "a13", "b13")),
    }
    assert side.bookmarked
    assert side.children[0].children[0].moves[0].point is None
    assert side.children[1].comment == "two]\nlines\\"


def test_dialects_of_a_collection() -> None:
    cli, old, problem = sgf.read(sample("collection.sgf"))
    assert cli.ruleset == Ruleset(20, 20)
    # On a board of 20 lines `tt` is a point.
    assert points(cli) == "k10l10l9t1"
    assert (cli.result, cli.result_reason) == (Outcome.BLACK, "")
    assert cli.properties["TE"] == ("Black win by five connection",)
    assert old.ruleset == Ruleset(13, 15, 5, Rule.RENJU)
    assert old.properties == {"RULETEXT": ("Taraguchi-10",), "5A": ("hi",)}
    assert (old.black, old.white) == ("Old", "Older")
    assert (old.result, old.result_reason) == (Outcome.WHITE, "resignation")
    assert points(old) == "g8g9----"
    assert old.root.children[0].comment == "long names"
    setup = problem.root.setup
    assert setup == Setup(tuple(map(Point, ("h8", "i7", "j7", "i6", "j6"))), (Point("h7"),))
    removal = problem.root.children[0]
    assert removal.setup == Setup(empty=(Point("i6"),), to_move=Colour.WHITE)
    last = removal.children[0]
    assert [str(move) for move in last.moves] == ["white i6", "black j8", "white j9"]


@pytest.mark.parametrize(
    ("text", "result", "reason"),
    [
        ("B+5", Outcome.BLACK, "five"),
        ("w+r", Outcome.WHITE, "resignation"),
        ("W+Time", Outcome.WHITE, "time"),
        ("B+F", Outcome.BLACK, "foul"),
        ("B+", Outcome.BLACK, ""),
        ("W+3.5", Outcome.WHITE, ""),
        ("B+Crash", Outcome.BLACK, "crash"),
        ("0", Outcome.DRAW, ""),
        ("Draw", Outcome.DRAW, ""),
        ("Void", Outcome.ONGOING, ""),
        ("?", None, ""),
    ],
)
def test_results(text: str, result: Outcome | None, reason: str) -> None:
    (record,) = sgf.read(f"(;GM[4]RE[{text}])")
    assert (record.result, record.result_reason) == (result, reason)
    assert sgf.read(sgf.write([record])) == [record]


def test_an_invalid_result_is_preserved_until_the_result_is_set() -> None:
    (record,) = sgf.read("(;GM[4]RE[Black won]DT[1999])")
    assert (record.result, record.properties) == (None, {"RE": ("Black won",)})
    assert b"RE[Black won]" in sgf.write([record])
    record.result = Outcome.WHITE
    assert b"RE[W+]" in sgf.write([record])
    assert b"Black won" not in sgf.write([record])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("0", Rule.FREESTYLE),
        ("1", Rule.STANDARD),
        ("4", Rule.RENJU),
        ("9", Rule.CARO_EXACT),
        ("Renju", Rule.RENJU),
        ("standard", Rule.STANDARD),
        ("Soosyrv-8", Rule.RENJU),
        ("house rules", Rule.CARO),
    ],
)
def test_rules_by_number_and_by_name(rule: str, expected: Rule) -> None:
    (record,) = sgf.read(f"(;GM[4]SZ[15]RU[{rule}])", ruleset=Ruleset(9, 9, 5, Rule.CARO))
    assert record.ruleset == Ruleset(15, 15, 5, expected)
    (again,) = sgf.read(sgf.write([record]))
    assert again == record


def test_code_pages() -> None:
    text = "(;GM[4]CA[GBK]PB[棋]C[对\\]局])"
    (by_file,) = sgf.read(text.encode("gbk"))
    assert (by_file.black, by_file.root.comment) == ("棋", "对]局")
    (by_caller,) = sgf.read("(;GM[4]PB[Ж])".encode("cp1251"), encoding="windows-1251")
    assert by_caller.black == "Ж"
    # The second byte of this letter is a backslash in Shift JIS.
    (tricky,) = sgf.read("(;GM[4]CA[Shift_JIS]PB[ソ])".encode("shift_jis"))
    assert tricky.black == "ソ"
    (marked,) = sgf.read(b"\xef\xbb\xbf(;GM[4]PB[\xc3\xa4])")
    assert marked.black == "ä"
    (wide,) = sgf.read("(;GM[4]PB[ä])".encode("utf-16"))
    assert wide.black == "ä"
    (invented,) = sgf.read(b"(;GM[4]CA[no-such-page]PB[ok])")
    assert invented.black == "ok"
    with pytest.raises(RecordError, match="unknown code page 'rot13'"):
        sgf.read(b"(;GM[4])", encoding="rot13")


def test_undecodable_bytes_are_written_back() -> None:
    (record,) = sgf.read(b"(;GM[4]PB[\xff\xfe]C[caf\xe9])")
    written = sgf.write([record])
    assert b"PB[\xff\xfe]" in written
    assert b"C[caf\xe9]" in written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no game", "line 1, column 1: no SGF game"),
        ("(;GM[1]SZ[19];B[aa])", "line 1, column 2: GM[1] is a different game"),
        ("(;GM[4]SZ[15]\n;B[hh];W[hh])", "line 2, column 7: white plays h8, which is occupied by a black stone"),
        ("(;GM[4]SZ[15]\n\n;B[pa])", "line 3, column 2: [pa] is not on a 15x15 board"),
        ("(;GM[4];B[h8])", "line 1, column 9: [h8] is not a point"),
        ("(;GM[4];B[aa][bb])", "B has 2 values"),
        ("(;GM[4];B[aa]", "line 1, column 14: the file ends inside a game"),
        ("(;GM[4];C[never closed)", "line 1, column 9: property C has no complete value"),
        ("(;GM[4];B[aa]())", "line 1, column 14: a variation must start with ';'"),
        ("(;GM[4];B[aa] ? )", "line 1, column 15: '? )' is neither a node nor a variation"),
        ("(;GM[4]SZ[40])", "line 1, column 2: board width 40"),
        ("(;GM[4]SZ[x])", "SZ[x] is not a board size"),
        ("(;GM[4]AB[aa]AW[aa])", "a15 is set up twice"),
        ("(;GM[4]AB[aa:zz])", "[zz] is not on a 15x15 board"),
    ],
)
def test_errors_name_line_and_column(text: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        sgf.read(text)
    assert message in str(error.value)


def test_invalid_annotations_are_preserved() -> None:
    text = "(;GM[4]SZ[15];B[hh]SBKV[lots]TR[zz]LB[aa]HO[2]WL[3]EMT[-1])"
    (record,) = sgf.read(text)
    (node,) = record.root.children
    assert node.properties == {
        "SBKV": ("lots",),
        "TR": ("zz",),
        "LB": ("aa",),
        "HO": ("2",),
        "WL": ("3",),
        "EMT": ("-1",),
    }
    assert (node.value, node.marks, node.bookmarked, node.time_ms) == (None, (), False, None)
    assert sgf.read(sgf.write([record])) == [record]


def test_written_text() -> None:
    record = GameRecord.from_points(
        Ruleset(15, 15, 5, Rule.RENJU),
        [Point("h8"), Point("i9"), None],
        black="A]B",
        result=Outcome.WHITE,
        result_reason="time",
        date="2026-02-03",
    )
    record.root.children[0].play(Point("a1")).comment = "or\nso"
    record.root.children[0].value = 0.5
    text = sgf.write([record]).decode()
    assert text.startswith("(;FF[4]GM[4]CA[UTF-8]AP[Tengen:")
    assert "SZ[15]RU[renju]PB[A\\]B]DT[2026-02-03]RE[W+T]" in text
    assert ";B[hh]SBKV[75]\n(;W[ig];B[])\n(;W[ao]C[or\nso]))\n" in text


def test_the_full_ruleset_is_written_if_the_rule_name_is_not_enough() -> None:
    for ruleset in (Ruleset.parse("6x6:4:freestyle"), Ruleset.parse("15x13:5:standard:swap2")):
        (back,) = sgf.read(sgf.write([GameRecord(ruleset=ruleset)]))
        assert back.ruleset == ruleset


def test_properties_set_by_hand_cannot_break_the_file() -> None:
    node = Node(properties={"XX": ("a]b\\", ""), "NOT A NAME": ("lost",), "YY": ()})
    (back,) = sgf.read(sgf.write([GameRecord(root=node)]))
    assert back.properties == {"XX": ("a\\]b\\\\", ""), "YY": ("",)}
    (back,) = sgf.read(sgf.write([GameRecord(root=Node(properties={"B": ("hh",), "SZ": ("3",), "KM": ("0",)}))]))
    assert (back.properties, back.moves(), back.ruleset.width) == ({"KM": ("0",)}, [], 15)


@given(records(any_ruleset))
def test_round_trip(record: GameRecord) -> None:
    assert sgf.read(sgf.write([record, record])) == [record, record]


# ---- Collections ----------------------------------------------------------------------------------------------------


def in_chunks(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_games_are_the_same_in_chunks_of_any_size(size: int) -> None:
    for name in ("variations.sgf", "collection.sgf"):
        text = sample(name).decode("utf-8", "surrogateescape")
        # sgf.iterate reads chunks of 64 KiB; a window of a few characters meets every place where a game can be cut.
        assert list(sgf_reader.Reader(in_chunks(text, size), None).games()) == sgf.read(text)


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[4])\n\n (;GM[4];B[hh]\n;W[hh])", "line 4, column 1: white plays h8, which is occupied by a black stone"),
        ("(;GM[4])(;GM[4];B[hh]", "line 1, column 22: the file ends inside a game"),
        ("(;GM[4])\n(;GM[4]C[x", "line 2, column 8: property C has no complete value"),
        ("(;GM[4](B[hh]))", "line 1, column 8: a variation must start with ';'"),
        ("( x (\n", "line 1, column 1: no SGF game"),
    ],
)
def test_places_of_errors_are_the_same_in_chunks_of_any_size(size: int, text: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        list(sgf_reader.Reader(in_chunks(text, size), None).games())
    assert str(error.value).startswith(message)


def test_nodes_are_counted_per_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sgf_reader, "MAX_NODES", 3)
    assert len(list(sgf.iterate("(;GM[4];B[hh];W[aa])" * 10))) == 10
    games = sgf.iterate("(;GM[4];B[hh];W[aa])(;GM[4];B[hh];W[aa];B[bb])")
    next(games)
    with pytest.raises(RecordError, match="line 1, column 40: the game has more than 3 nodes"):
        next(games)


def test_a_collection_is_read_game_by_game() -> None:
    game = b"(;GM[4];B[hh];W[aa];B[bb])\n"
    file = io.BytesIO(game * 20_000)
    for number, record in enumerate(sgf.iterate(file)):
        if number in (100, 10_000):
            gc.collect()
            nodes = sum(isinstance(found, Node) for found in gc.get_objects())
            assert nodes == sum(1 for _ in record.nodes())
            assert file.tell() <= number * len(game) + 2**17
