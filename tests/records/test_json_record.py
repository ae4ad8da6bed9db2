from __future__ import annotations

import json

import pytest
from hypothesis import given

from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError
from tengen.records import json_record
from tengen.records.game import GameRecord, Mark, MarkKind, Setup
from tests.records.sample_files import points, sample
from tests.records.strategies import any_ruleset, records


def test_own_and_simple_lines() -> None:
    own, simple, position = json_record.read_lines(sample("games.jsonl"))
    assert (own.black, own.white, own.result, own.result_reason) == ("Ann", "Bob", Outcome.BLACK, "five")
    assert points(own) == "h8i9--j10"
    assert simple.ruleset == Ruleset(15, 15, 5, Rule.RENJU)
    assert (points(simple), simple.event, simple.result) == ("h8h9h6", "self-play", None)
    assert simple.properties == {
        "SOURCE": ("own",),
        "ID": ("g-1",),
        "KIND": ("engine",),
        "RESULTFROM": ("none",),
    }
    assert position.root.setup == Setup((Point("h8"), Point("i8")), (Point("h9"),), to_move=Colour.WHITE)
    assert position.to_move() is Colour.WHITE


def test_keys_that_clash_with_sgf_properties_are_renamed() -> None:
    (record,) = json_record.read('{"moves": "h8", "b": "aa", "rule": "unknown", "end": "time"}')
    assert record.properties == {"XB": ("aa",), "END": ("time",)}


def test_syntax_errors_name_line_and_column() -> None:
    pretty = json.dumps(json.loads(sample("tree.json")), indent=1).replace('"value": -0.25', '"value": -0.25.1')
    with pytest.raises(RecordError, match=r"line 1[0-9], column \d+: invalid JSON"):
        json_record.read(pretty)


def test_trees() -> None:
    (record,) = json_record.read(sample("tree.json"))
    assert record.ruleset == Ruleset(9, 9, 4)
    assert points(record) == "c5f5"
    first, second = record.root.children
    assert (first.value, first.time_ms, first.clock_ms) == (-0.25, 1200, 58800)
    assert first.marks == (Mark(MarkKind.TRIANGLE, Point("f5")), Mark(MarkKind.LABEL, Point("b5"), "A"))
    assert (first.children[0].bookmarked, first.children[0].label) == (True, "!")
    assert second.properties == {"KM": ("0",)}
    assert [str(move) for move in second.children[0].moves] == ["black c5", "white b5"]


def test_a_bare_game_is_written_as_moves() -> None:
    record = GameRecord.from_points(Ruleset(15, 15), [Point("h8"), None, Point("i9")], black="Ann")
    assert json_record.as_dict(record) == {
        "format": "tengen-game",
        "version": 1,
        "ruleset": "15x15:5:freestyle",
        "black": "Ann",
        "moves": "h8--i9",
    }
    record.root.children[0].time_ms = 5
    assert json_record.as_dict(record)["nodes"] == [{}, {"black": "h8", "time_ms": 5}, {"white": "--"}, {"black": "i9"}]


def broken(**changes: object) -> str:
    game = {"format": "tengen-game", "version": 1, "ruleset": "15x15:5:renju", "moves": ""}
    return json.dumps({**game, **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1, column 2: invalid JSON"),
        ('{"moves": "h8"}\n{"moves": h8}', "line 2, column 11: invalid JSON"),
        ('[{"moves": "h8"}, 5]', "game 2: a game: 5 is not an object"),
        ("[[[", "invalid JSON"),
        ("[" * 100_000, "unusable JSON"),
        ('{"moves": NaN}', "NaN is not a JSON number"),
        ('{"x": ' + "9" * 5000 + "}", "unusable JSON"),
        ('{"a": 1}', "no 'format', 'moves' or stones"),
        ('{"moves": 5}', "moves: 5 is not a string"),
        ('{"moves": "h8h8"}', "column 3: h8 is played twice"),
        ('{"moves": "h8", "size": 99}', "board width 99"),
        ('{"moves": "h8", "size": true}', "size True is not an integer"),
        ('{"moves": "h8", "rule": "chess"}', "unknown rule 'chess'"),
        ('{"black": ["h8"], "white": ["h8"]}', "h8 is set up twice"),
        (broken(format="other"), "format 'other' is not 'tengen-game'"),
        (broken(version=2), "unknown version 2"),
        (broken(colour="red"), "a game has the unknown key 'colour'"),
        (broken(ruleset=None), "ruleset: None is not a string"),
        (broken(result="nobody"), "unknown result 'nobody'"),
        (broken(nodes=[]), "must be between 1 and 4000000, not 0"),
        (broken(nodes=[{}, {"parent": 1}]), "node 1: parent 1 is not an integer from 0 to 0"),
        (broken(nodes=[{}, {"black": "h8"}, {"white": "h8"}]), "white plays h8, which is occupied by a black stone"),
        (broken(nodes=[{"black": "h8", "white": "h9"}]), "node 0: a node has both a black move and a white move"),
        (broken(nodes=[{"moves": [["red", "h8"]]}]), "unknown colour 'red'"),
        (broken(nodes=[{"black": "z99"}]), "node 0: no board has a point z99"),
        (broken(nodes=[{"value": 2}]), "value 2 is not a number in [-1, 1]"),
        (broken(nodes=[{"marks": [["star", "h8"]]}]), "unknown mark 'star'"),
        (broken(nodes=[{"time_ms": -1}]), "time_ms -1 is not an integer"),
        (broken(nodes=[{"properties": {"A": "x"}}]), "property A: 'x' is not a list"),
        (broken(nodes=[{"setup": {"green": "h8"}}]), "setup has the unknown key 'green'"),
    ],
)
def test_errors_name_the_location(text: str, message: str) -> None:
    with pytest.raises(RecordError) as error:
        json_record.read(text)
    assert message in str(error.value)
    assert str(error.value).startswith(("line ", "game "))


@given(records(any_ruleset))
def test_round_trip(record: GameRecord) -> None:
    assert json_record.read(json_record.write([record, record])) == [record, record]
    assert json_record.read_lines(json_record.write_lines([record, record])) == [record, record]
    assert json_record.read(json_record.write_lines([record])) == [record]
