"""Continuous fours and threats: every claimed win is replayed against every defence."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError, NotationError, RulesetError
from tengen.search.threats import ThreatKind, Verdict, solve_threats
from tests.conftest import shared_data
from tests.core.bridge import position_of, stones_of
from tests.oracle.rules import Point, Rules, Stones, point_of
from tests.search.replay import find_escape, load_forced_wins, puzzle_name, rules_of

MAX_ATTACKS = 60


def stones(black: str = "", white: str = "", to_move: str = "black", rules: str = "15x15:5:freestyle") -> Position:
    return Position.from_stones(
        Ruleset.parse(rules), black=parse_points(black), white=parse_points(white), to_move=to_move
    )


def attack_by(rules: Rules, attacker: str, kind: str):
    """Return a strategy that plays the solver's first move, preferring a short win by fours."""

    def attack(board: Stones) -> Point | None:
        position = position_of(rules, board, attacker)
        result = solve_threats(position, "vcf", Limits(nodes=500))
        if result.verdict is not Verdict.WIN:
            result = solve_threats(position, kind, Limits(nodes=50_000))
        return point_of(result.line[0]) if result.line else None

    return attack


def assert_wins_against_every_defence(position: Position, kind: str) -> None:
    result = solve_threats(position, kind, Limits(nodes=200_000))
    assert result.verdict is Verdict.WIN, position
    rules, attacker = rules_of(position), str(position.to_move)
    escape = find_escape(rules, stones_of(position), attacker, attack_by(rules, attacker, kind), MAX_ATTACKS)
    assert escape is None, (position, escape)


# -- drawn positions --------------------------------------------------------------------------------------------------


def test_an_open_four_is_a_line_of_three():
    result = solve_threats(stones("h8 i8 j8", "a1 c1"))
    assert result.verdict is Verdict.WIN
    assert result.attacker is Colour.BLACK
    assert len(result.line) == 3
    assert result.line[0] in ("g8", "k8")
    assert str(result).startswith("black wins by VCF: ")


def test_a_four_three_is_a_win_by_fours():
    position = stones("i8 j8 k8 h9 h10", "l8 a1 a3 c1 o1")
    assert solve_threats(position).line == ("h8", "g8", "h7", "h6", "h11")


def test_a_double_three_is_a_win_by_threats_only():
    position = stones("i8 j8 h9 h10", "a1 a3 c1 o1")
    assert solve_threats(position, "vcf").verdict is Verdict.NO_WIN
    assert str(solve_threats(position, "vcf")) == "black has no win by VCF"
    result = solve_threats(position, "vct")
    assert result.verdict is Verdict.WIN
    assert result.line[0] == "h8"
    assert_wins_against_every_defence(position, "vct")


def test_a_double_three_is_no_win_for_black_in_renju():
    renju = stones("i8 j8 h9 h10", "a1 a3 c1 o1", rules="15x15:5:renju")
    assert "h8" not in solve_threats(renju, "vct").line[:1]


def test_an_answer_that_is_a_five_refutes():
    # Black's four on g8 or k8 gives white time for e2.
    position = stones("h8 i8 j8", "a2 b2 c2 d2")
    assert solve_threats(position).verdict is Verdict.NO_WIN


def test_a_forbidden_block_wins_for_white():
    # h8 would be a double-four for black; white makes a four that black could only stop there.
    position = stones("e8 g8 i8 k8", "h9 h10 h11 a1", "white", "15x15:5:renju")
    result = solve_threats(position)
    assert result.verdict is Verdict.WIN
    assert_wins_against_every_defence(position, "vcf")


def test_the_other_side_may_be_asked():
    position = stones("h8 i8 j8", "c3 d3")
    assert position.to_move is Colour.BLACK
    assert solve_threats(position, for_side=Colour.WHITE).verdict is Verdict.NO_WIN
    asked = solve_threats(stones("h8 i8 j8", "c3 d3 e5", "white"), for_side=Colour.BLACK)
    assert asked.verdict is Verdict.WIN
    assert asked.attacker is Colour.BLACK


def test_bad_questions_are_refused():
    with pytest.raises(NotationError, match="'vcx'"):
        solve_threats(stones("h8"), "vcx")
    with pytest.raises(RulesetError, match="3x3:3:freestyle"):
        solve_threats(Position.start(Ruleset(3, 3, 3)))
    with pytest.raises(InputError, match="over"):
        solve_threats(stones("h8 i8 j8 k8 l8", "a1"))


# -- limits -----------------------------------------------------------------------------------------------------------


def busy_position() -> Position:
    """Return a position with many threats but no quick win."""
    return Position.from_moves(Ruleset(15, 15), "i9j10k9k8i10l9j7i7h9i8j11g8k12l13g9j9")


def test_nodes_are_a_limit():
    for kind in ThreatKind:
        result = solve_threats(busy_position(), kind, Limits(nodes=3))
        assert result.nodes <= 4
        assert result.verdict is not Verdict.WIN


def test_vct_finds_a_long_win_by_fours_as_vcf_does():
    position = Position.from_stones(
        Ruleset.parse("15x15:5:renju"),
        black=[
            "e12",
            "g12",
            "i12",
            "j12",
            "d11",
            "i11",
            "d10",
            "f10",
            "h10",
            "j10",
            "d9",
            "g9",
            "i9",
            "j9",
            "h8",
            "f7",
        ],
        white=["h13", "k13", "e11", "g11", "h11", "c10", "e10", "i10", "k10", "e9", "k9", "d8", "f8", "g8", "j8", "g7"],
        to_move="black",
    )
    limits = Limits(nodes=5000)
    assert solve_threats(position, "vcf", limits).verdict is Verdict.WIN
    found = solve_threats(position, "vct", limits)
    assert found.verdict is Verdict.WIN
    assert found.nodes < 3000


def test_the_same_question_has_the_same_answer():
    for kind in ThreatKind:
        first, second = (solve_threats(busy_position(), kind, Limits(nodes=2000)) for _ in range(2))
        assert (first.verdict, first.line, first.nodes) == (second.verdict, second.line, second.nodes)


def test_a_stop_before_the_start_counts():
    stop = StopSignal()
    stop.set()
    result = solve_threats(busy_position(), "vct", stop=stop)
    assert (result.verdict, result.nodes) == (Verdict.UNKNOWN, 0)
    assert str(result) == "black: no win by VCT found within the limits"


def test_stop_ends_a_running_solve():
    stop = StopSignal()
    done: list[Verdict] = []
    position = Position.from_moves(Ruleset(20, 20), "m9l11l14n13k13m12k10k11n10n12l12")
    limits = Limits(time_ms=600_000)
    thread = threading.Thread(
        target=lambda: done.append(solve_threats(position, "vct", limits, stop=stop).verdict), daemon=True
    )
    thread.start()
    time.sleep(0.05)
    stop.set()
    # Ten minutes were allowed.
    thread.join(60)
    assert done


# -- puzzles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("puzzle", load_forced_wins(), ids=puzzle_name)
def test_forced_wins_of_own_games(puzzle):
    position = stones(puzzle["black"], puzzle["white"], puzzle["to_move"], puzzle["ruleset"])
    if puzzle["kind"] == "vct":
        assert solve_threats(position, "vcf", Limits(nodes=50_000)).verdict is Verdict.NO_WIN
    assert_wins_against_every_defence(position, puzzle["kind"])


def shared_puzzles(kind: str, count: int) -> list[dict[str, Any]]:
    """Return `count` puzzles spread over the collection; none if the collection is not installed."""
    folder = shared_data()
    if folder is None or not (folder / "puzzles.jsonl").is_file():
        return []
    with open(folder / "puzzles.jsonl", encoding="utf-8") as file:
        puzzles = [puzzle for line in file if (puzzle := json.loads(line))["type"] == kind]
    if kind == "VCT":
        puzzles = [puzzle for puzzle in puzzles if puzzle.get("quiet") == 1]
    return puzzles[:: max(1, len(puzzles) // count)][:count]


def shared_position(puzzle: dict[str, Any], rule: str = "renju") -> Position:
    size = puzzle["board_size"]
    return Position.from_stones(
        Ruleset.parse(f"{size}x{size}:5:{rule}"),
        black=puzzle["black"],
        white=puzzle["white"],
        to_move=puzzle["to_move"],
    )


def test_collected_puzzles_of_fours():
    for puzzle in shared_puzzles("VCF", 60):
        position = shared_position(puzzle)
        result = solve_threats(position, "vcf", Limits(nodes=3_000_000))
        assert result.verdict is Verdict.WIN, puzzle["id"]
        if puzzle["win_moves_complete"]:
            assert result.line[0] in puzzle["win_moves"], puzzle["id"]
        for rule, known in puzzle.get("other_rules", {}).items():
            verdict = solve_threats(shared_position(puzzle, rule), "vcf", Limits(nodes=3_000_000)).verdict
            assert (verdict is Verdict.WIN) == (known["type"] == "VCF"), (puzzle["id"], rule)


def test_collected_puzzles_of_fours_win_against_every_defence():
    for puzzle in shared_puzzles("VCF", 12):
        assert_wins_against_every_defence(shared_position(puzzle), "vcf")


def test_collected_puzzles_of_threats_win_against_every_defence():
    for puzzle in shared_puzzles("VCT", 3):
        assert_wins_against_every_defence(shared_position(puzzle), "vct")
