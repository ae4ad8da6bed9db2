"""Playouts, UCT and HMCTS.

Playouts are compared with the rules and with a slow second implementation of their heuristic. UCT and HMCTS are
compared with exhaustive search on small boards; their statistics, limits, seeds and threads are tested as well.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from functools import cache

import pytest

from tengen.agents.registry import make_agent
from tengen.core.contracts import Analysis, Colour, Limits, Outcome, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.search.rollout import (
    Hmcts,
    HmctsConfig,
    PlayoutPolicy,
    RolloutSearch,
    Uct,
    UctConfig,
    play_out,
    tally_playouts,
)

RULESETS = (
    "9x9:5:freestyle",
    "9x9:5:standard",
    "9x9:5:renju",
    "15x15:5:renju",
    "9x9:5:caro",
    "9x9:5:caro-exact",
    "3x3:3:freestyle",
    "6x6:4:freestyle",
    "7x6:4:standard",
    "8x8:6:caro",
    "22x22:5:freestyle",
    "22x3:3:caro-exact",
)
POLICIES = tuple(PlayoutPolicy)
RANDOM, HEURISTIC = PlayoutPolicy.RANDOM, PlayoutPolicy.HEURISTIC


def position_of(black: str = "", white: str = "", to_move: str = "black", rules: str = "9x9:5:freestyle") -> Position:
    return Position.from_stones(
        Ruleset.parse(rules), black=parse_points(black), white=parse_points(white), to_move=to_move
    )


def random_position(rules: str, seed: int) -> Position:
    """Return a middle-game position, partly played by an agent that builds and blocks, so that it contains rows."""
    choice = random.Random(seed)
    ruleset = Ruleset.parse(rules)
    builder = make_agent("naive:level=3")
    builder.new_game(ruleset, seed)
    position = Position.start(ruleset)
    for _ in range(choice.randrange(ruleset.area)):
        by_builder = choice.random() < 0.5
        move = builder.choose(position, Limits()).move if by_builder else choice.choice(position.legal_points())
        after = position.play(move)
        if after.is_over:
            break
        position = after
    return position


def simulations(count: int, **more: int) -> Limits:
    return Limits(simulations=count, **more)


# ---- Playouts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rules", RULESETS)
def test_playouts_keep_the_rules(rules: str, policy: PlayoutPolicy) -> None:
    for seed in range(6):
        start = random_position(rules, seed) if seed % 2 else Position.start(Ruleset.parse(rules))
        playout = play_out(start, policy, seed)
        position = start
        for move in playout.moves:
            assert not position.is_over, "a playout goes no further than the game"
            position = position.play(move)  # raises if the move is illegal
        assert position.is_over
        assert position.outcome is playout.outcome


def row_length(position: Position, point: Point, colour: Colour, step: tuple[int, int]) -> int:
    """Return the length of the row that a stone of `colour` on `point` would belong to."""
    length = 1
    for sign in (1, -1):
        x, y = point.x + sign * step[0], point.y + sign * step[1]
        while 0 <= x < position.ruleset.width and 0 <= y < position.ruleset.height:
            if position.at(Point.at(x, y)) is not colour:
                break
            length += 1
            x, y = x + sign * step[0], y + sign * step[1]
    return length


def heuristic_points(position: Position) -> set[Point]:
    """Return the points that the paper's HEURISTIC allows: those of the first of its four rules with a legal point."""
    legal = position.legal_points()
    own = position.to_move
    k = position.ruleset.win_length

    def completing(colour: Colour) -> set[Point]:
        number = 0 if colour is Colour.BLACK else 1
        return {p for p in legal if position.native.would_win(p.index(position.ruleset.width), number)}

    def four_making(colour: Colour) -> set[Point]:
        steps = ((1, 0), (0, 1), (1, 1), (1, -1))
        return {p for p in legal if any(row_length(position, p, colour, step) == k - 1 for step in steps)}

    rules = (completing(own), completing(own.opponent), four_making(own), four_making(own.opponent), set(legal))
    return next(points for points in rules if points)


@pytest.mark.parametrize("rules", RULESETS)
def test_heuristic_playouts_obey_the_heuristic(rules: str) -> None:
    forced = 0
    for seed in range(8):
        start = random_position(rules, 100 + seed)
        position = start
        for move in play_out(start, HEURISTIC, seed).moves:
            allowed = heuristic_points(position)
            assert move in allowed, f"{move} is not one of {sorted(allowed)}\n{position}"
            forced += len(allowed) < len(position.legal_points())
            position = position.play(move)
    assert forced > 10


@pytest.mark.parametrize(
    ("black", "white", "allowed"),
    [
        ("c5d5f5g5", "b5h5c7d7e7f7", "e5"),  # completing the own split four comes before blocking the opponent's four
        ("a1c1", "c7d7f7g7", "e7"),
        ("c5d5e5a9", "c7d7e7", "b5f5"),
        ("c5d5f5a9", "c7d7e7", "e5"),
        ("a1c1e1a9", "c7d7e7i1", "b7f7"),
        ("c5d5e5a9", "b5f5", None),  # both ends are occupied, so there is nothing to extend
    ],
)
def test_each_rule_draws_from_all_of_its_points(black: str, white: str, allowed: str | None) -> None:
    position = position_of(black, white)
    drawn = {play_out(position, HEURISTIC, seed).moves[0] for seed in range(200)}
    if allowed is None:
        assert len(drawn) > 40
    else:
        assert drawn == set(parse_points(allowed))


def test_random_playouts_draw_evenly() -> None:
    position = random_position("4x4:4:freestyle", 3)
    legal = position.legal_points()
    drawn = Counter(play_out(position, RANDOM, seed).moves[0] for seed in range(2000))
    expected = 2000 / len(legal)
    # Chi-squared with at most 15 degrees of freedom exceeds 40 once in 2,000 tests.
    assert sum((drawn[point] - expected) ** 2 / expected for point in legal) < 40


def test_a_finished_game_is_not_played_on() -> None:
    won = position_of("c5d5e5f5g5", "c7d7e7f7")
    assert play_out(won, RANDOM).moves == ()
    assert play_out(won, RANDOM).outcome is Outcome.BLACK


def test_tallies_add_up_and_repeat() -> None:
    position = Position.start(Ruleset.parse("15x15"))
    for policy in POLICIES:
        tally = tally_playouts(position, policy, 500, seed=7)
        assert tally.black + tally.white + tally.draws == 500
        assert 9 * 500 <= tally.moves <= 225 * 500
        assert tally == tally_playouts(position, policy, 500, seed=7)
        assert tally != tally_playouts(position, policy, 500, seed=8)
    with pytest.raises(InputError, match="cannot play -1 games"):
        tally_playouts(position, RANDOM, -1)


def test_first_move_is_worth_something_in_random_playouts() -> None:
    tally = tally_playouts(Position.start(Ruleset.parse("3x3:3")), RANDOM, 20_000, seed=1)
    # Known results of random tic-tac-toe: 58.5 % wins of the first player, 28.8 % of the second, 12.7 % draws.
    assert abs(tally.black / 20_000 - 0.585) < 0.015
    assert abs(tally.white / 20_000 - 0.288) < 0.015


# After a2 black has only d3 left, which is a forbidden overline, so white wins. After d3 the game is a draw.
STUCK = """6x5:5:renju  white to move
 5  O O O X O O
 4  O O O O X O
 3  X X X . X X
 2  . X O X O O
 1  X X X O X X
    a b c d e f
"""


# ---- Both searches ---------------------------------------------------------------------------------------------------


SEARCHES: tuple[RolloutSearch, ...] = (
    *(Uct(UctConfig(policy=policy, solve=solve, exploration=0.5)) for policy in POLICIES for solve in (True, False)),
    Hmcts(),
    Hmcts(HmctsConfig(policy=RANDOM)),
)


def name_of(search: RolloutSearch) -> str:
    config = search.config  # type: ignore[attr-defined]
    return f"{type(search).__name__}-{config.policy}-{getattr(config, 'solve', '')}"


@pytest.mark.parametrize("search", SEARCHES, ids=name_of)
@pytest.mark.parametrize(
    ("position", "moves"),
    [
        (position_of("c5d5e5f5", "c7d7e7f7"), "b5g5"),
        (position_of("c5d5f5g5b7", "c7d7e7f7b5", "white"), "g7"),
        (position_of("c5d6f8g9", "a2b2c2d2"), "e7"),
        (position_of("a1b1", "a3b3", rules="3x3:3"), "c1"),
        # Six does not win in standard, so the five in the other row must be played.
        (position_of("a1b1c1e1f1c5d5e5f5", "a9b9c9d9g5h9", rules="9x9:5:standard"), "b5"),
        # A five that is closed at both ends does not win in caro.
        (position_of("b5c5d5e5b7c7d7e7", "a5g5c1d1e1f1", rules="9x9:5:caro"), "a7f7"),
    ],
)
def test_wins_are_taken(search: RolloutSearch, position: Position, moves: str) -> None:
    assert not position.is_over
    best = search.search(position, simulations(3000), seed=5).lines[0]
    assert best.move in parse_points(moves)
    assert best.value_to_move == 1


# Random playouts without a tree find a four only by luck.
@pytest.mark.parametrize("search", SEARCHES[:-1], ids=name_of)
@pytest.mark.parametrize(
    ("position", "move"),
    [
        (position_of("c5d5f5g5a1", "c7d7e7a9", "white"), "e5"),
        (position_of("c5d5e5f5g5", "b5d7e7f7a1", rules="9x9:6:freestyle", to_move="white"), "h5"),
        (position_of("a1b1", "a3c2", rules="3x3:3", to_move="white"), "c1"),
        (position_of("b2c2d2", "a2e5", rules="6x6:4", to_move="white"), "e2"),
    ],
)
def test_fours_are_blocked(search: RolloutSearch, position: Position, move: str) -> None:
    assert search.search(position, simulations(3000), seed=5).lines[0].move == move


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("search", [Uct(), Uct(UctConfig(radius=0)), Hmcts()], ids=["uct", "uct-all", "hmcts"])
def test_every_ruleset_is_searched_with_legal_lines(search: RolloutSearch, rules: str) -> None:
    for seed in range(4):
        start = random_position(rules, seed) if seed else Position.start(Ruleset.parse(rules))
        analysis = search.search(start, simulations(600), seed=seed, lines=5)
        assert analysis.policy is not None
        assert set(analysis.policy) <= set(start.legal_points())
        for line in analysis.lines:
            assert line.line[0] == line.move
            position = start
            for move in line.line:
                position = position.play(move)
            assert -1 <= line.value_to_move <= 1


@pytest.mark.parametrize("search", [Uct(), Hmcts()], ids=["uct", "hmcts"])
@pytest.mark.parametrize("threads", [1, 3])
def test_visits_add_up(search: RolloutSearch, threads: int) -> None:
    for seed in range(3):
        start = Position.from_moves(Ruleset.parse("15x15"), "h8i9g9i7")
        analysis = search.search(start, simulations(1500, threads=threads), seed=seed, lines=225)
        assert analysis.nodes == 1500
        assert sum(line.visits for line in analysis.lines) == 1500
        assert analysis.policy is not None
        assert sum(analysis.policy.values()) == pytest.approx(1)
        for line in analysis.lines:
            assert analysis.policy.get(line.move, 0) == line.visits / 1500


@pytest.mark.parametrize("search", SEARCHES, ids=name_of)
def test_same_seed_same_search(search: RolloutSearch) -> None:
    start = Position.from_moves(Ruleset.parse("9x9"), "e5f6d6f4")

    def without_time(analysis: Analysis) -> tuple[object, ...]:
        return analysis.lines, analysis.nodes, analysis.policy

    first = without_time(search.search(start, simulations(800), seed=1, lines=81))
    other = without_time(search.search(start, simulations(800), seed=2, lines=81))
    assert first != other
    assert without_time(search.search(start, simulations(800), seed=1, lines=81)) == first


def test_hmcts_is_the_same_with_any_number_of_threads() -> None:
    start = Position.from_moves(Ruleset.parse("15x15"), "h8i9g9i7")
    search = Hmcts(HmctsConfig(playouts_a_candidate=50))
    alone = search.search(start, Limits(), seed=4, lines=225)
    for threads in (2, 5):
        assert search.search(start, Limits(threads=threads), seed=4, lines=225).lines == alone.lines


@pytest.mark.parametrize("search", [Uct(), Hmcts()], ids=["uct", "hmcts"])
class TestLimits:
    START = Position.from_moves(Ruleset.parse("15x15"), "h8i9g9i7")

    def test_playouts(self, search: RolloutSearch) -> None:
        for limits in (Limits(simulations=77), Limits(nodes=77), Limits(nodes=77, simulations=900, time_ms=60_000)):
            assert search.search(self.START, limits).nodes == 77

    def test_there_is_at_least_one_playout(self, search: RolloutSearch) -> None:
        assert search.search(self.START, simulations(0)).nodes == 1

    def test_time_ends_it(self, search: RolloutSearch) -> None:
        for limits in (Limits(time_ms=20), Limits(clock_ms=400), Limits(clock_ms=2, increment_ms=20)):
            analysis = search.search(self.START, limits)
            assert analysis.nodes >= 1
            assert analysis.elapsed_ms > 0

    def test_stop_from_another_thread(self, search: RolloutSearch) -> None:
        heard = threading.Event()
        results: list[Analysis] = []

        stop = StopSignal()

        def run() -> None:
            endless = simulations(10**15, threads=2)
            results.append(search.search(self.START, endless, stop=stop, on_analysis=lambda _: heard.set()))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        assert heard.wait(60)
        stop.set()
        thread.join(60)
        assert not thread.is_alive()
        assert 1 <= results[0].nodes < 10**15

    def test_stop_before_the_search(self, search: RolloutSearch) -> None:
        stop = StopSignal()
        stop.set()
        assert search.search(self.START, simulations(10**15), stop=stop).nodes == 1
        assert search.search(self.START, simulations(10)).nodes == 10

    def test_progress_is_reported(self, search: RolloutSearch) -> None:
        heard: list[Analysis] = []
        last = search.search(self.START, simulations(3000), lines=3, on_analysis=heard.append)
        counts = [analysis.nodes for analysis in heard]
        assert len(counts) >= 4
        assert counts == sorted(counts)
        assert all(len(analysis.lines) == 3 for analysis in heard)
        assert last.nodes == 3000

    def test_an_error_of_the_listener_ends_the_search(self, search: RolloutSearch) -> None:
        def fail(analysis: Analysis) -> None:
            raise KeyError(analysis.nodes)

        with pytest.raises(KeyError):
            search.search(self.START, simulations(10**15, threads=2), on_analysis=fail)

    def test_excluded_moves_are_not_chosen_while_there_are_others(self, search: RolloutSearch) -> None:
        winning = position_of("c5d5e5f5", "c7d7e7f7")
        analysis = search.search(winning, simulations(300), excluded=parse_points("b5g5"), lines=81)
        assert {"b5", "g5"}.isdisjoint(line.move for line in analysis.lines)
        assert str(analysis.lines[0].proof) != "+M1"
        assert search.search(winning, simulations(300), excluded=parse_points("b5")).lines[0].move == "g5"
        everything = winning.legal_points()
        assert search.search(winning, simulations(300), excluded=everything).lines[0].move in everything

    def test_a_finished_game_is_refused(self, search: RolloutSearch) -> None:
        with pytest.raises(InputError, match="the game is over"):
            search.search(position_of("c5d5e5f5g5", "c7d7e7f7"), simulations(10))


@pytest.mark.parametrize("search", SEARCHES, ids=name_of)
def test_white_wins_by_leaving_black_only_fouls(search: RolloutSearch) -> None:
    position = Position.parse(STUCK)
    assert position.play("a2").outcome is Outcome.WHITE
    analysis = search.search(position, simulations(200))
    assert analysis.lines[0].move == "a2"
    assert analysis.lines[0].value_to_move == 1


# ---- UCT -------------------------------------------------------------------------------------------------------------


@cache
def exact_result(position: Position) -> tuple[int, int]:
    """Return the result for the side to move (1, 0 or -1) and the plies to the end, by exhaustive search."""
    if position.is_over:
        return (0 if position.outcome is Outcome.DRAW else -1), 0
    replies = [exact_result(position.play(move)) for move in position.legal_points()]
    result = max(-value for value, _ in replies)
    plies = [1 + length for value, length in replies if -value == result]
    return result, min(plies) if result > 0 else max(plies)


@pytest.mark.parametrize(
    "rules", ["4x3:3:freestyle", "4x4:4:freestyle", "4x4:3:standard", "5x3:3:caro", "5x3:3:caro-exact", "5x5:5:renju"]
)
def test_proofs_are_true(rules: str) -> None:
    """On positions with few empty points, proofs agree with exhaustive search, and every win or loss is proved."""
    results = {"win": 1, "draw": 0, "loss": -1}
    full, near = Uct(UctConfig(radius=0, exploration=0.5)), Uct(UctConfig(radius=1, exploration=0.5))
    seen = Counter[int]()
    for position in small_positions(rules, 40):
        result, plies = exact_result(position)
        seen[result] += 1
        for search in (full, near):
            proof = search.search(position, simulations(3000)).lines[0].proof
            assert proof is None or results[proof.result] == result, str(position)
            if result != 0 and search is full:
                assert proof is not None, str(position)
            if result > 0 and proof is not None:
                assert proof.plies >= plies, str(position)
    assert seen[1] > 3
    assert seen[0] + seen[-1] > 0


def small_positions(rules: str, count: int) -> list[Position]:
    choice = random.Random(rules)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position.start(Ruleset.parse(rules))
        while not position.is_over and (position.ruleset.area - position.stones > 8 or choice.random() < 0.5):
            position = position.play(choice.choice(position.legal_points()))
        if not position.is_over:
            positions.append(position)
    return positions


def test_tic_tac_toe_is_a_draw() -> None:
    analysis = Uct(UctConfig(radius=0)).search(Position.start(Ruleset.parse("3x3:3")), simulations(60_000), seed=1)
    assert analysis.lines[0].proof is not None
    assert analysis.lines[0].proof.result == "draw"
    assert analysis.nodes < 60_000, "a proved root ends the search"


def test_static_proofs() -> None:
    search = Uct()
    win = search.search(position_of("c5d5e5f5", "c7d7e7f7"), simulations(1000)).lines[0]
    assert str(win.proof) == "+M1"
    loss = search.search(position_of("c5d5e5f5", "c7d7e7", "white"), simulations(1000)).lines[0]
    assert str(loss.proof) == "-M2"
    assert loss.move in ("b5", "g5")
    open_three = search.search(position_of("c5d5e5", "c7e8g2"), simulations(5000)).lines[0]
    assert open_three.proof is not None
    assert open_three.proof.result == "win"
    assert open_three.move in ("b5", "f5")


def test_an_answer_that_is_forbidden_is_no_answer() -> None:
    # White threatens e5–i9; for black e5 is a double-four.
    position = position_of("b5c5d5e2e3e4", "f6g7h8i9a5i5i2i3", rules="9x9:5:renju")
    assert "e5" in position.forbidden_points()
    best = Uct().search(position, simulations(1000)).lines[0]
    assert str(best.proof) == "-M2"
    assert position.is_legal(best.move)
    # In freestyle the point is not forbidden.
    assert Uct().search(position_of("b5c5d5e2e3e4", "f6g7h8i9a5i5i2i3"), simulations(1000)).lines[0].move == "e5"


def test_only_moves_near_stones_by_default() -> None:
    position = Position.from_moves(Ruleset.parse("15x15"), "h8i9")
    near = {p for p in position.legal_points() if any(max(abs(p.x - q), abs(p.y - q)) <= 1 for q in (7, 8))}
    seen = Uct(UctConfig(radius=1)).search(position, simulations(2000)).policy
    assert seen is not None
    assert set(seen) == near
    everywhere = Uct(UctConfig(radius=0)).search(position, simulations(2000)).policy
    assert everywhere is not None
    assert len(everywhere) == 223


def test_the_first_stone_goes_to_the_centre() -> None:
    for search in (Uct(), Hmcts()):
        assert search.search(Position.start(Ruleset.parse("15x15")), simulations(50)).lines[0].move == "h8"


def test_a_full_tree_stops_growing_and_goes_on() -> None:
    search = Uct(UctConfig(radius=0, expand_after=1, memory_mb=1))
    position = Position.from_moves(Ruleset.parse("22x22"), "k11")
    for threads in (1, 3):
        analysis = search.search(position, simulations(3000, threads=threads), lines=484)
        assert sum(line.visits for line in analysis.lines) == analysis.nodes == 3000


def test_threads_share_a_tree_in_sharp_positions() -> None:
    """Threads prove, expand and update statistics at the same time; repeated, because races are rare."""
    search = Uct(UctConfig(exploration=0.5, expand_after=1))
    for seed in range(20):
        position = random_position("6x6:4:freestyle", seed)
        analysis = search.search(position, simulations(1500, threads=4), seed=seed, lines=36)
        assert position.is_legal(analysis.lines[0].move)
        assert sum(line.visits for line in analysis.lines) == analysis.nodes <= 1500


# ---- HMCTS -----------------------------------------------------------------------------------------------------------


def test_every_candidate_gets_the_same_number() -> None:
    position = Position.from_moves(Ruleset.parse("20x20"), "k10l11")
    analysis = Hmcts(HmctsConfig(playouts_a_candidate=10)).search(position, Limits(), lines=400)
    assert len(analysis.lines) == 12
    assert {line.visits for line in analysis.lines} == {10}
    stopped = Hmcts().search(position, simulations(100), lines=400)
    assert Counter(line.visits for line in stopped.lines) == {8: 8, 9: 4}


def test_best_mean_comes_first_and_unknown_last() -> None:
    position = Position.from_moves(Ruleset.parse("20x20"), "k10l11")
    full = Hmcts(HmctsConfig(playouts_a_candidate=40)).search(position, Limits(), lines=400)
    values = [line.value_to_move for line in full.lines]
    assert values == sorted(values, reverse=True)
    partly = Hmcts().search(position, simulations(5), lines=400)
    assert [line.visits for line in partly.lines] == [1] * 5 + [0] * 7


# ---- Configuration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exploration": -1.0}, "exploration must be finite and at least 0, not -1.0"),
        ({"exploration": float("nan")}, "exploration must be finite and at least 0, not nan"),
        ({"radius": 23}, "radius=23 is outside the range 0–22"),
        ({"expand_after": 0}, "expand_after=0"),
        ({"memory_mb": 0}, "memory_mb=0"),
    ],
)
def test_impossible_settings_of_uct_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        UctConfig(**settings)  # type: ignore[arg-type]


def test_impossible_settings_of_hmcts_are_refused() -> None:
    with pytest.raises(InputError, match="playouts_a_candidate=-1"):
        HmctsConfig(playouts_a_candidate=-1)
    with pytest.raises(InputError, match="radius=-1"):
        HmctsConfig(radius=-1)
