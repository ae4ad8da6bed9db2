"""Puzzles: the shipped ones, how they are made, and how tries are judged."""

from __future__ import annotations

import itertools

import pytest
from starlette.testclient import TestClient

from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import NotationError
from tengen.puzzles.judging import TryVerdict, judge_try
from tengen.puzzles.making import MIN_DEPTH, make_puzzles, only_defence
from tengen.puzzles.puzzle import Puzzle, PuzzleKind, Theme, format_puzzle, parse_puzzles
from tengen.search.threats import ThreatKind, Verdict, solve_threats
from tengen.web.puzzles.collection import PuzzleCollection
from tests.conftest import ROOT
from tests.web.talk import Json

SHIPPED = [
    puzzle
    for path in sorted((ROOT / "data" / "puzzles").glob("*.jsonl"))
    for puzzle in parse_puzzles(path.read_text(encoding="utf-8"))
]
ATTACKS = [puzzle for puzzle in SHIPPED if puzzle.kind is not PuzzleKind.DEFENCE]
DEFENCES = [puzzle for puzzle in SHIPPED if puzzle.kind is PuzzleKind.DEFENCE]
SAMPLE = ATTACKS[:: max(1, len(ATTACKS) // 12)]


def test_enough_puzzles_of_each_kind_ship() -> None:
    assert len(SHIPPED) >= 300
    assert len({puzzle.id for puzzle in SHIPPED}) == len(SHIPPED)
    for rule in ("freestyle", "renju"):
        for kind in (PuzzleKind.VCF, PuzzleKind.VCT):
            assert sum(puzzle.kind is kind and puzzle.rules.endswith(rule) for puzzle in SHIPPED) >= 10


def test_every_shipped_puzzle_is_sound() -> None:
    for puzzle in SHIPPED:
        position = puzzle.position()
        assert not position.is_over
        for move in puzzle.line():
            assert not position.is_over
            position = position.play(move)
        if puzzle.kind is not PuzzleKind.DEFENCE:
            assert puzzle.depth == (len(puzzle.line()) + 1) // 2
        assert puzzle.depth >= MIN_DEPTH
        assert 1 <= puzzle.grade <= 5


@pytest.mark.parametrize("puzzle", SAMPLE, ids=lambda puzzle: puzzle.id)
def test_a_shipped_puzzle_is_won_as_its_solution_says(puzzle: Puzzle) -> None:
    limits = Limits(nodes=20_000)
    assert solve_threats(puzzle.position(), puzzle.kind.threats, limits).verdict is Verdict.WIN
    line = [str(point) for point in puzzle.full_line()]
    assert puzzle.full_line()[: len(puzzle.line())] == puzzle.line()
    end = Position.from_moves(Ruleset.parse(puzzle.rules), puzzle.moves + "".join(line))
    assert len(end.winning_line) >= 5  # solutions run to the five
    verdicts = [judge_try(puzzle, line[: ply + 1]) for ply in range(0, len(line), 2)]
    assert {one.verdict for one in verdicts[:-1]} == {TryVerdict.RIGHT}
    assert verdicts[-1].verdict is TryVerdict.SOLVED
    assert [one.reply for one in verdicts[:-1]][: puzzle.depth - 1] == line[1 : 2 * puzzle.depth - 2 : 2]


@pytest.mark.parametrize("puzzle", SAMPLE[:6], ids=lambda puzzle: puzzle.id)
def test_other_first_moves_are_wrong(puzzle: Puzzle) -> None:
    position, first = puzzle.position(), puzzle.line()[0]
    others = [point for point in position.legal_points() if point != first]
    for move in others[:: max(1, len(others) // 8)]:
        assert judge_try(puzzle, [move]).verdict is TryVerdict.WRONG


def test_the_only_defence_of_every_shipped_puzzle_is_proved() -> None:
    assert len(DEFENCES) >= 20
    for puzzle in DEFENCES:
        position = puzzle.position()
        threat = solve_threats(position, ThreatKind.VCF, Limits(nodes=20_000), for_side=position.to_move.opponent)
        assert threat.verdict is Verdict.WIN
        after = position.play(puzzle.solution)
        for kind in ThreatKind:
            assert solve_threats(after, kind, Limits(nodes=20_000)).verdict is Verdict.NO_WIN
        # Every other move loses.
        assert only_defence(position) == puzzle.solution


def test_a_wrong_defence_is_answered_by_a_win_up_to_the_five() -> None:
    puzzle = DEFENCES[0]
    assert judge_try(puzzle, [puzzle.solution]).verdict is TryVerdict.SOLVED
    wrong = [str(point) for point in puzzle.position().legal_points() if point != puzzle.solution]
    for move in wrong[:: max(1, len(wrong) // 4)]:
        result = judge_try(puzzle, [move])
        assert (result.verdict, result.reply) == (TryVerdict.WRONG, result.refutation[0])
        moves = puzzle.moves + "".join([move, *result.refutation])
        end = Position.from_moves(Ruleset.parse(puzzle.rules), moves)
        assert end.outcome.winner is puzzle.position().to_move.opponent


def test_themes_and_the_daily_puzzle(client: TestClient) -> None:
    for theme in Theme:
        found = client.get("/api/puzzles", params={"theme": theme.value, "limit": 1000}).json()
        assert found["total"] > 0
        assert all(theme.value in one["themes"] for one in found["puzzles"])
    listed = client.get("/api/puzzles", params={"grade": 1, "limit": 1000}).json()["puzzles"]
    stones = [one["stones"] for one in listed]
    assert stones == sorted(stones)
    days = [client.get("/api/puzzles/daily", params={"day": f"2026-11-{day:02}"}).json()["id"] for day in range(1, 29)]
    assert days[0] == client.get("/api/puzzles/daily", params={"day": "2026-11-01"}).json()["id"]
    assert len(set(days)) > 20
    assert client.get("/api/puzzles/daily", params={"day": "today"}).status_code == 422


def test_a_five_at_a_forbidden_point_is_the_theme_of_fouls() -> None:
    puzzle = next(puzzle for puzzle in ATTACKS if Theme.FOULS in puzzle.themes())
    assert puzzle.rules.endswith("renju")
    assert puzzle.position().to_move.value == "white"
    assert not any(Theme.FOULS in puzzle.themes() for puzzle in ATTACKS if puzzle.rules.endswith("freestyle"))


def test_generated_puzzles_are_reproducible_and_survive_a_round_trip() -> None:
    made = [list(itertools.islice(make_puzzles(Ruleset(), [PuzzleKind.VCF], seed=1), 2)) for _ in range(2)]
    assert made[0] == made[1]
    assert parse_puzzles("\n".join(map(format_puzzle, made[0]))) == made[0]
    with pytest.raises(NotationError, match="line 1"):
        parse_puzzles('{"kind": "vcf"}')


def test_a_puzzle_is_solved_over_http(client: TestClient) -> None:
    listed = client.get("/api/puzzles", params={"kind": "vcf", "rule": "renju", "limit": 5}).json()
    assert listed["total"] >= 20
    assert len(listed["puzzles"]) == 5
    shown = client.get(f"/api/puzzles/{listed['puzzles'][0]['id']}").json()
    assert "solution" not in shown
    line = client.get(f"/api/puzzles/{shown['id']}/solution").json()["pv"]
    moves: list[str] = []
    answer: Json = {}
    for move in line[::2]:
        answer = client.post(f"/api/puzzles/{shown['id']}/try", json={"moves": [*moves, move]}).json()
        assert answer["verdict"] in ("right", "solved")
        moves += [move, answer["reply"]]
        if answer["reply"] is not None:
            assert answer["position"]["currentPlayer"] == shown["currentPlayer"]
    assert answer["verdict"] == "solved"
    wrong = next(point for point in shown["legal"] if point != line[0])
    assert client.post(f"/api/puzzles/{shown['id']}/try", json={"moves": [wrong]}).json()["verdict"] == "wrong"


def test_puzzles_that_do_not_exist(client: TestClient) -> None:
    assert client.get("/api/puzzles/vcf-0").status_code == 404
    assert client.post("/api/puzzles/vcf-0/try", json={"moves": ["h8"]}).status_code == 404
    puzzle = next(iter(PuzzleCollection.load().summaries()))
    for moves in (["a1", "a1"], ["z9"], []):
        assert client.post(f"/api/puzzles/{puzzle.id}/try", json={"moves": moves}).status_code in (400, 422)
