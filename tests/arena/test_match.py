"""A single game: result, ending and clocks."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable

import pytest

from tengen.agents.registry import make_agent
from tengen.arena import claims
from tengen.arena.adjudication import Adjudication, DrawRule, ProofTrust, ResignRule
from tengen.arena.claims import ClaimCheck, is_own_code
from tengen.arena.match import Ending, GameResult, TimeControl, play_game
from tengen.core.contracts import Agent, Decision, Limits, Outcome, Proof, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.opening_procedure import Option
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import EngineError, EngineFault, NotationError
from tengen.protocols.piskvork.swap2 import Swap2Answer

RULES = Ruleset.parse("9x9:5:freestyle")


class Script(Agent):
    """Plays the given points in turn; a claim goes with the move of the same number."""

    def __init__(self, moves: str, claims: dict[int, Proof] | None = None) -> None:
        self._moves = list(parse_points(moves))
        self._claims = claims or {}
        self.limits: list[Limits] = []

    def choose(self, position: Position, limits: Limits) -> Decision:
        number = len(self.limits)
        self.limits.append(limits)
        return Decision(move=self._moves[number], value_to_move=0.25, nodes=7, depth=3, proof=self._claims.get(number))


class Failing(Agent):
    """Raises a given exception."""

    def __init__(self, error: BaseException, *, at_start: bool = False) -> None:
        self._error = error
        self._at_start = at_start

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        if self._at_start:
            raise self._error

    def choose(self, position: Position, limits: Limits) -> Decision:
        raise self._error


class Answering(Agent):
    """Plays the move that a function returns for the position."""

    def __init__(self, answer: Callable[[Position], object]) -> None:
        self._answer = answer

    def choose(self, position: Position, limits: Limits) -> Decision:
        return self._answer(position)  # type: ignore[return-value]


class Sleeping(Agent):
    """Sleeps before every move."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def choose(self, position: Position, limits: Limits) -> Decision:
        time.sleep(self._seconds)
        return Decision(move=position.legal_points()[0])


def game(black: Agent, white: Agent, rules: Ruleset = RULES, **options: object) -> GameResult:
    control = options.pop("control", TimeControl())
    assert isinstance(control, TimeControl)
    return play_game(rules, (black, white), controls=(control, control), **options)  # type: ignore[arg-type]


def test_a_five_wins() -> None:
    result = game(Script("a1b1c1d1e1"), Script("a2b2c2d2"))
    assert (result.outcome, result.ending, result.winner_seat) == (Outcome.BLACK, Ending.FIVE, 0)
    assert result.moves == parse_points("a1a2b1b2c1c2d1d2e1")
    assert len(result.turns) == 9
    assert all(turn.value_to_move == 0.25 and turn.nodes == 7 and turn.depth == 3 for turn in result.turns)
    assert not result.ending.is_forfeit


def test_the_opening_stands_before_the_first_move() -> None:
    result = game(Script("e1"), Script("e9"), opening=parse_points("a1a2b1b2c1c2d1"))
    assert (result.outcome, len(result.moves), len(result.turns)) == (Outcome.BLACK, 9, 2)
    assert result.moves[-2:] == parse_points("e9e1")


def test_a_full_board_is_a_draw() -> None:
    rules = Ruleset.parse("3x3:3:freestyle")
    result = game(Script("a3c3a2b1c1"), Script("b3b2c2a1"), rules)
    assert (result.outcome, result.ending) == (Outcome.DRAW, Ending.FULL_BOARD)
    assert result.winner_seat is result.loser_seat is None


@pytest.mark.parametrize(
    ("agent", "ending", "words"),
    [
        (Script("a1a1"), Ending.ILLEGAL, "the point is occupied"),
        (Script("a1j10"), Ending.ILLEGAL, "off the 9x9 board"),
        (Failing(EngineError("gone", EngineFault.CRASH)), Ending.CRASH, "gone"),
        (Failing(EngineError("talks", EngineFault.FLOOD)), Ending.FLOOD, "talks"),
        (Failing(EngineError("refuses", EngineFault.START), at_start=True), Ending.START, "refuses"),
        (Failing(ZeroDivisionError("by zero")), Ending.ERROR, "ZeroDivisionError: by zero"),
        (Failing(MemoryError("all of it")), Ending.MEMORY, "all of it"),
        (Answering(lambda position: None), Ending.ERROR, "NoneType"),
        (Answering(lambda position: Decision(move="zz")), Ending.PROTOCOL, "not a point"),  # type: ignore[arg-type]
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_fault_loses_the_game(agent: Agent, ending: Ending, words: str, seat: int) -> None:
    if isinstance(agent, Script):
        agent.limits.clear()
    other = Script("c3c4c6c7")
    result = game(agent, other) if seat == 0 else game(other, agent)
    assert (result.ending, result.loser_seat) == (ending, seat)
    assert words in result.detail
    assert result.ending.is_forfeit
    assert len(result.moves) == len(result.turns)


def test_a_fault_names_the_line_of_the_players_file() -> None:
    def choose(position: Position) -> Decision:
        random.Random(0).choice([])  # raises in the standard library
        raise AssertionError

    line = choose.__code__.co_firstlineno + 1
    assert game(Answering(choose), Script("a1")).detail.startswith(f"line {line} of test_match.py: IndexError: ")
    occupied = game(Script("e5"), Answering(lambda position: position.play("e5")))
    assert occupied.detail.startswith(f"line {line + 5} of test_match.py: ")
    assert "occupied" in occupied.detail


def test_a_foul_loses_the_game() -> None:
    # Black at h8 makes two open threes: g8 f8 and h9 h10.
    opening = parse_points("f8a1g8c1h9e1h10g1")
    result = game(Script("h8"), Script("a15"), Ruleset.parse("15x15:5:renju"), opening=opening)
    assert (result.outcome, result.ending) == (Outcome.WHITE, Ending.FOUL)
    assert "double-three" in result.detail


def test_every_engine_fault_has_its_ending() -> None:
    assert all(Ending(fault.value).is_forfeit for fault in EngineFault)


def test_interrupts_pass_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        game(Failing(KeyboardInterrupt()), Script("a1"))


# -- time ------------------------------------------------------------------------------------------------------------


def test_a_move_beyond_limit_and_tolerance_loses() -> None:
    result = game(Sleeping(0.05), Script("a1"), control=TimeControl(time_ms=10, tolerance_ms=10))
    assert (result.outcome, result.ending) == (Outcome.WHITE, Ending.TIMEOUT)
    assert "10 ms were allowed" in result.detail


def test_the_clock_of_the_game_runs_out() -> None:
    controls = TimeControl(match_ms=120, tolerance_ms=0), TimeControl()
    result = play_game(RULES, (Sleeping(0.05), make_agent("random")), controls=controls)
    assert (result.loser_seat, result.ending) == (0, Ending.TIMEOUT)
    assert len(result.moves) <= 5  # each move takes at least 50 ms


def test_limits_contain_the_clock_and_the_search_limits() -> None:
    control = TimeControl(match_ms=100_000, increment_ms=50_000, nodes=10, depth=4, simulations=20, threads=2)
    black, white = Script("a1b1c1d1e1"), Script("a2b2c2d2")
    game(black, white, control=control)
    first, second = black.limits[0], black.limits[1]
    assert (first.clock_ms, first.increment_ms, first.time_ms) == (100_000, 50_000, None)
    assert (first.nodes, first.depth, first.simulations, first.threads) == (10, 4, 20, 2)
    assert second.clock_ms is not None
    assert 100_000 < second.clock_ms <= 150_000  # an instant move gains nearly all of the increment


def test_limits_are_checked() -> None:
    with pytest.raises(NotationError, match="time_ms must be at least 1, not 0"):
        TimeControl(time_ms=0)
    with pytest.raises(NotationError, match="tolerance_ms must be at least 0, not -1"):
        TimeControl(tolerance_ms=-1)
    with pytest.raises(NotationError, match=r"clock_ms=5 .* use match_ms"):
        TimeControl(clock_ms=5)


def test_the_watch_is_notified_of_every_wait() -> None:
    heard: list[tuple[int, float | None]] = []
    game(
        Script("a1b1c1d1e1"),
        Script("a2b2c2d2"),
        control=TimeControl(time_ms=9000),
        watch=lambda seat, allowed: heard.append((seat, allowed)),
    )
    assert heard == [(0, None), (1, None), *[(ply % 2, 9000) for ply in range(9)]]


# -- adjudication ----------------------------------------------------------------------------------------------------

WIN, LOSS = Proof("win", 3), Proof("loss", 4)
FIVE, IDLE = "d5e5f5g5h5", "a1c1g1i1"
"""Black's fourth stone makes an open four; white does not defend."""


@pytest.mark.parametrize(
    ("trust", "black_claims", "white_claims", "moves"),
    [
        (ProofTrust.NONE, {3: WIN}, {3: LOSS}, 9),
        (ProofTrust.ONE, {3: WIN}, {}, 7),
        (ProofTrust.ONE, {}, {3: LOSS}, 8),
        (ProofTrust.BOTH, {3: WIN}, {}, 9),
        (ProofTrust.BOTH, {3: WIN}, {3: LOSS}, 8),
        (ProofTrust.BOTH, {3: WIN}, {1: LOSS}, 9),
    ],
)
def test_proofs_end_games(
    trust: ProofTrust, black_claims: dict[int, Proof], white_claims: dict[int, Proof], moves: int
) -> None:
    black, white = Script(FIVE, black_claims), Script(IDLE, white_claims)
    result = game(black, white, adjudication=Adjudication(proofs=trust))
    assert (len(result.moves), result.outcome) == (moves, Outcome.BLACK)
    assert result.ending is (Ending.FIVE if moves == 9 else Ending.PROVED)


@pytest.mark.parametrize("claim", [WIN, LOSS, Proof("draw", 70)])
def test_claims_that_the_engine_cannot_prove_do_not_end_games(claim: Proof) -> None:
    result = game(Script(FIVE, {0: claim}), Script(IDLE), adjudication=Adjudication(proofs=ProofTrust.ONE))
    assert (result.ending, len(result.moves)) == (Ending.FIVE, 9)


def test_a_claim_is_checked_for_the_move_that_was_played() -> None:
    before = Position.from_moves(RULES, "d5a1e5c1f5g1")
    check = ClaimCheck()
    assert check.confirms(Outcome.BLACK, before.play("g5"))
    assert not check.confirms(Outcome.WHITE, before.play("g5"))
    assert not check.confirms(Outcome.BLACK, before.play("a9"))  # white answers next to the three
    assert check.confirms(Outcome.BLACK, before.undo().play("i1"))  # white has let black make an open four
    assert not ClaimCheck().confirms(Outcome.BLACK, Position.from_moves("7x7:6:freestyle", "d4"))


def test_a_player_with_many_wrong_claims_is_no_longer_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "CHECK_NODES", 100)
    check = ClaimCheck()
    won = Position.from_moves(RULES, "d5a1e5c1f5g1g5")
    assert check.confirms(Outcome.BLACK, won)
    for _ in range(claims.MAX_UNCONFIRMED):
        assert not check.confirms(Outcome.WHITE, won)
    assert not check.confirms(Outcome.BLACK, won)


def test_only_code_of_tengen_is_believed() -> None:
    with make_agent("alphabeta") as engine:
        assert is_own_code(engine)
        assert is_own_code(make_agent(engine))
    assert not is_own_code(Script(FIVE))
    assert not is_own_code(make_agent(Script(FIVE)))


def test_proofs_of_own_engines_end_games_without_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClaimCheck, "confirms", lambda *_: pytest.fail("a proof of the engine was checked"))
    with make_agent("alphabeta:nodes=2000,hash-mb=1") as engine:
        result = game(engine, Script(IDLE), adjudication=Adjudication(proofs=ProofTrust.ONE))
    assert (result.outcome, result.ending) == (Outcome.BLACK, Ending.PROVED)


def test_a_move_limit_is_a_draw() -> None:
    result = game(Script("a1b1c1d1e1"), Script("a2b2c2d2"), adjudication=Adjudication(max_moves=6))
    assert (result.outcome, result.ending, len(result.moves)) == (Outcome.DRAW, Ending.MOVE_LIMIT, 6)


class Valuing(Script):
    """Plays the given points and values each move with the next of the given numbers."""

    def __init__(self, moves: str, values: str) -> None:
        super().__init__(moves)
        self._values = [None if text == "-" else float(text) for text in values.split()]

    def choose(self, position: Position, limits: Limits) -> Decision:
        value = self._values[len(self.limits)]
        return dataclasses.replace(super().choose(position, limits), value_to_move=value)


QUIET = ("a1c1e1g1i1", "a3c3e3g3i3")


@pytest.mark.parametrize(
    ("black", "white", "moves", "outcome"),
    [
        ("0 0 0 0 0", "-1 -0.9 -1 0 0", 6, Outcome.BLACK),  # white gives up after three moves
        ("-1 -1 -1 0 0", "1 1 1 1 1", 5, Outcome.WHITE),
        ("0 0 0 0 0", "-1 -0.9 -0.89 -1 -1", 10, None),  # not three in a row
        ("0 0 0 0 0", "-1 -1 - -1 -1", 10, None),
        ("1 1 1 1 1", "1 1 1 1 1", 10, None),  # the opponent's values count for nothing
    ],
)
def test_players_resign_by_their_own_values(black: str, white: str, moves: int, outcome: Outcome | None) -> None:
    rule = Adjudication(resign=ResignRule(value=0.9, moves=3), max_moves=10)
    result = game(Valuing(QUIET[0], black), Valuing(QUIET[1], white), adjudication=rule)
    assert len(result.moves) == moves
    assert result.ending is (Ending.MOVE_LIMIT if outcome is None else Ending.RESIGNATION)
    assert result.outcome is (outcome or Outcome.DRAW)
    assert not result.ending.is_forfeit


@pytest.mark.parametrize(
    ("black", "white", "after", "moves"),
    [
        ("0 0.1 -0.1 0 0", "0 0 0 0 0", 0, 4),
        ("0 0.1 -0.1 0 0", "0 0 0 0 0", 7, 7),
        ("1 0 0 0 0", "0 0 0 0 0", 0, 5),  # two moves in a row of each player
        ("0 0 0 0 0", "0 - 0 - 0", 0, 10),
    ],
)
def test_even_scores_are_a_draw(black: str, white: str, after: int, moves: int) -> None:
    rule = Adjudication(draw=DrawRule(value=0.1, moves=2, after=after), max_moves=10)
    result = game(Valuing(QUIET[0], black), Valuing(QUIET[1], white), adjudication=rule)
    assert (len(result.moves), result.outcome) == (moves, Outcome.DRAW)
    assert result.ending is (Ending.MOVE_LIMIT if moves == 10 else Ending.EVEN)


def test_rules_of_adjudication_are_parsed() -> None:
    assert ResignRule.parse("0.8") == ResignRule(value=0.8)
    assert ResignRule.parse("0.8, 2") == ResignRule(value=0.8, moves=2)
    assert DrawRule.parse("0.05,4,30") == DrawRule(value=0.05, moves=4, after=30)
    for text in ("", "high", "0.5,1.5", "0.5,2,3", "2", "0", "0.5,0", "nan"):
        with pytest.raises(NotationError, match="resign rule"):
            ResignRule.parse(text)
    with pytest.raises(NotationError, match="draw rule"):
        DrawRule.parse("0.1,2,-1")


# -- opening procedures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", ["swap", "swap2", "pro", "long-pro"])
def test_opening_procedures_are_played(opening: str) -> None:
    rules = Ruleset.parse(f"15x15:5:freestyle:{opening}")
    seats = set()
    for seed in range(12):
        result = game(make_agent("rule-based"), make_agent("rule-based"), rules, seed=seed)
        assert not result.ending.is_forfeit, result.detail
        assert len(result.turns) < len(result.moves)
        assert bool(result.choices) == opening.startswith("swap")
        seats.add(result.black_seat)
    assert seats == ({0, 1} if opening.startswith("swap") else {0})


class Swap2Engine(Script):
    """Handles swap2 itself, as an external engine does."""

    def __init__(self, moves: str, *answers: Swap2Answer) -> None:
        super().__init__(moves)
        self._answers = list(answers)

    def answer_swap2(
        self, ruleset: Ruleset, points: tuple[Point, ...], limits: Limits, stop: StopSignal
    ) -> Swap2Answer:
        return self._answers.pop(0)


SWAP2 = Ruleset.parse("15x15:5:freestyle:swap2")
THREE = Swap2Answer(None, parse_points("a1b2a2"))


def test_an_engine_that_takes_white_moves_at_once() -> None:
    proposer = Swap2Engine("a3a4a5", THREE)
    chooser = Swap2Engine("d9d8d7", Swap2Answer(Option.TAKE_WHITE, parse_points("d10")))
    result = game(proposer, chooser, SWAP2)
    assert (result.outcome, result.black_seat, result.choices) == (Outcome.BLACK, 0, (Option.TAKE_WHITE,))
    assert result.moves == parse_points("a1b2a2d10a3d9a4d8a5")
    assert len(result.turns) == 6


def test_an_engine_that_swaps_plays_black() -> None:
    proposer = Swap2Engine("d9d8d7", THREE)
    chooser = Swap2Engine("a3a4a5", Swap2Answer(Option.TAKE_BLACK))
    result = game(proposer, chooser, SWAP2)
    assert (result.outcome, result.black_seat, result.winner_seat) == (Outcome.BLACK, 1, 1)


def test_two_more_stones_and_the_proposer_chooses() -> None:
    proposer = Swap2Engine("d9d8d7", THREE, Swap2Answer(Option.TAKE_WHITE, parse_points("d10")))
    chooser = Swap2Engine("a4a5", Swap2Answer(Option.PLACE_TWO, parse_points("o15a3")))
    result = game(proposer, chooser, SWAP2)
    assert (result.outcome, result.black_seat) == (Outcome.BLACK, 1)
    assert result.choices == (Option.PLACE_TWO, Option.TAKE_WHITE)
    assert result.moves[:6] == parse_points("a1b2a2o15a3d10")


def test_a_wrong_stone_of_the_opening_loses() -> None:
    proposer = Swap2Engine("", Swap2Answer(None, parse_points("a1a1a2")))
    result = game(proposer, Script(""), SWAP2)
    assert (result.ending, result.loser_seat) == (Ending.ILLEGAL, 0)


def test_the_same_seed_plays_the_same_game() -> None:
    games = [game(make_agent("random"), make_agent("naive"), seed=5).moves for _ in range(2)]
    assert games[0] == games[1]
    assert games[0] != game(make_agent("random"), make_agent("naive"), seed=6).moves
