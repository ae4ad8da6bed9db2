"""The alpha-beta engine as a player: tactics, legal moves, limits, threads, analysis."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from tengen import _native
from tengen.agents.alphabeta import AlphaBetaAgent
from tengen.agents.registry import make_agent
from tengen.core.contracts import Agent, Analysis, Colour, ExcludesMoves, HasTable, Limits, Rule, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.errors import AgentNameError, InputError, RulesetError
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig, Ingredient
from tengen.search.threats import solve_threats
from tests.core.bridge import position_of
from tests.oracle.boards import has_winner, tactical_stones
from tests.oracle.rules import BLACK, Rules, is_legal
from tests.search.replay import load_forced_wins, puzzle_name

SMALL = "alphabeta:hash-mb=1"
ALL_RULES = [rule.value for rule in Rule]


@pytest.fixture(scope="module")
def agent() -> Agent:
    return make_agent("alphabeta:hash-mb=8")


def stones(black: str = "", white: str = "", to_move: str = "black", rules: str = "15x15:5:freestyle") -> Position:
    return Position.from_stones(
        Ruleset.parse(rules), black=parse_points(black), white=parse_points(white), to_move=to_move
    )


def play_out(position: Position, agent: Agent, limits: Limits) -> Position:
    while not position.is_over:
        decision = agent.choose(position, limits)
        assert position.is_legal(decision.move), (decision, position)
        position = position.play(decision.move)
    return position


# -- tactics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ALL_RULES)
def test_wins_at_once(agent, rule):
    decision = agent.choose(stones("h8 i8 j8 k8", "h9 i9 j9 k9", rules=f"15x15:5:{rule}"), Limits(depth=4))
    assert decision.move in ("g8", "l8")
    assert str(decision.proof) == "+M1"
    assert decision.value_to_move == 1.0


@pytest.mark.parametrize("rule", ALL_RULES)
def test_wins_in_three_with_an_open_four(agent, rule):
    decision = agent.choose(stones("h8 i8 j8", "c3 d3 m4", rules=f"15x15:5:{rule}"), Limits(depth=4))
    assert decision.move in ("g8", "k8")
    assert str(decision.proof) == "+M3"


@pytest.mark.parametrize("rule", ["freestyle", "standard", "renju"])
def test_wins_in_five_with_a_four_three(agent, rule):
    position = stones("i8 j8 k8 h9 h10", "l8 a1 a3 c1 o1", rules=f"15x15:5:{rule}")
    decision = agent.choose(position, Limits(depth=6))
    assert decision.move == "h8"
    assert str(decision.proof) == "+M5"


@pytest.mark.parametrize("rule", ["freestyle", "standard"])
def test_wins_in_five_with_a_double_three(agent, rule):
    decision = agent.choose(stones("i8 j8 h9 h10", "a1 a3 c1 o1", rules=f"15x15:5:{rule}"), Limits(depth=6))
    assert decision.move == "h8"
    assert decision.proof is not None
    assert decision.proof.result == "win"


@pytest.mark.parametrize("rule", ALL_RULES)
def test_blocks_a_four(agent, rule):
    decision = agent.choose(stones("a1 f8 c2", "g8 h8 i8 j8", rules=f"15x15:5:{rule}"), Limits(depth=5))
    # In caro a stone beyond the five also stops it.
    assert decision.move == "k8" or (rule.startswith("caro") and decision.move == "l8")


@pytest.mark.parametrize("rule", ALL_RULES)
def test_answers_an_open_three(agent, rule):
    decision = agent.choose(stones("a1 c5 d9", "g8 h8 i8", rules=f"15x15:5:{rule}"), Limits(depth=5))
    assert decision.move in ("e8", "f8", "j8", "k8")


def test_a_lost_position_is_known(agent):
    decision = agent.choose(stones("a1 c5 d9 e2", "g8 h8 i8 j8"), Limits(depth=5))
    assert str(decision.proof) == "-M2"
    assert decision.value_to_move == -1.0


def test_four_in_a_row(agent):
    decision = agent.choose(stones("c3 d3", "a1 a6", rules="6x6:4:freestyle"), Limits(depth=4))
    assert str(decision.proof) == "+M3"
    assert decision.move in ("b3", "e3")


@pytest.mark.parametrize("puzzle", load_forced_wins()[::3], ids=puzzle_name)
def test_forced_wins_are_proved(agent, puzzle):
    position = stones(puzzle["black"], puzzle["white"], puzzle["to_move"], puzzle["ruleset"])
    decision = agent.choose(position, Limits(nodes=150_000))
    assert decision.proof is not None, position
    assert decision.proof.result == "win"


@pytest.mark.parametrize("puzzle", [one for one in load_forced_wins() if one["kind"] == "vcf"], ids=puzzle_name)
def test_sees_the_fours_of_the_other_side(agent, puzzle):
    """A search of one ply does not overlook the opponent's continuous fours."""
    to_move = "white" if puzzle["to_move"] == "black" else "black"
    position = stones(puzzle["black"], puzzle["white"], to_move, puzzle["ruleset"])
    assert solve_threats(position, for_side=Colour(puzzle["to_move"])).line
    after = position.play(agent.choose(position, Limits(depth=1)).move)
    assert not solve_threats(after).line


# -- Gomocup's positions for new engines (their rows count from the top, which mirrors position and answer) -----------


@pytest.mark.parametrize("size", [15, 20])
@pytest.mark.parametrize("rule", ALL_RULES)
def test_completes_its_open_four(agent, rule, size):
    position = Position.from_moves(Ruleset(size, size, 5, Rule(rule)), "h8h9i8i9j8j9k8k9")
    assert agent.choose(position, Limits(depth=6)).move in ("g8", "l8")


def test_does_not_take_six_for_five_in_standard(agent):
    position = Position.from_moves(Ruleset.parse("15x15:5:standard"), "h8h9i8h10g8h11j13h12g14h14i15")
    assert agent.choose(position, Limits(depth=6)).move in ("f8", "j8")


def test_does_not_play_the_forbidden_point(agent):
    position = Position.from_moves(Ruleset.parse("15x15:5:renju"), "h8h9i7i9h10i6i11i12")
    assert position.forbidden_points().keys() == {"g9"}
    assert agent.choose(position, Limits(depth=6)).move != "g9"


@pytest.mark.parametrize("rule", ["caro", "caro-exact"])
def test_knows_a_closed_five(agent, rule):
    position = Position.from_moves(Ruleset.parse(f"15x15:5:{rule}"), "h8f8g8f9i8f7j8l8")
    assert agent.choose(position, Limits(depth=6)).move in ("f5", "f6", "f10", "f11")


# -- legal moves everywhere -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "6x6:4:freestyle",
        "5x5:4:caro",
        "5x5:5:renju",
        "7x6:4:standard",
        "22x3:5:standard",
        "3x22:4:caro-exact",
        "9x7:5:renju",
        "8x8:5:caro",
    ],
)
def test_plays_whole_games(text):
    with make_agent(SMALL) as player:
        for seed in range(2):
            rng = random.Random(f"{text} {seed}")
            position = Position.start(Ruleset.parse(text))
            while position.stones < 3:
                position = position.play(rng.choice(position.legal_points()))
            play_out(position, player, Limits(nodes=150))


def test_plays_on_the_largest_board():
    with make_agent(SMALL) as player:
        position = Position.start(Ruleset(22, 22))
        first = player.choose(position, Limits(depth=3))
        assert first.move == position.ruleset.centre
        corner = position.play("a1").play("v22").play("a22")
        assert corner.is_legal(player.choose(corner, Limits(depth=3)).move)


@pytest.mark.parametrize("text", ["9x9:5:freestyle", "9x9:5:standard", "9x9:5:renju", "6x6:4:freestyle"])
def test_fills_the_last_points(agent, text):
    ruleset = Ruleset.parse(text)
    found = 0
    for seed in range(40):
        rng = random.Random(f"full {text} {seed}")
        position = Position.start(ruleset)
        while not position.is_over and position.stones < ruleset.area - 3:
            quiet = [point for point in position.legal_points() if not position.is_win(point)]
            if not quiet:
                break
            position = position.play(rng.choice(quiet))
        if position.is_over or position.stones < ruleset.area - 3:
            continue
        found += 1
        assert play_out(position, agent, Limits(depth=4)).is_over
    assert found > 0


def test_never_plays_a_foul():
    rules = Rules.parse("15x15:5:renju")
    with make_agent(SMALL) as player:
        checked = 0
        for seed in range(60):
            board = tactical_stones(random.Random(f"foul {seed}"), rules)
            if has_winner(rules, board):
                continue
            position = position_of(rules, board, BLACK)
            if position.is_over or not position.forbidden_points():
                continue
            checked += 1
            move = player.choose(position, Limits(depth=2)).move
            assert is_legal(rules, board, BLACK, (move.x, move.y)), position
        assert checked > 10


def test_finished_games_are_refused(agent):
    with pytest.raises(InputError, match="over"):
        agent.choose(stones("h8 i8 j8 k8 l8", "a1"), Limits(depth=1))


def test_other_win_lengths_are_refused():
    with make_agent(SMALL) as player:
        assert not player.supports(Ruleset(3, 3, 3))
        assert player.supports(Ruleset(6, 6, 4))
        with pytest.raises(RulesetError, match="8x8:6:freestyle"):
            player.choose(Position.start(Ruleset(8, 8, 6)), Limits(depth=1))


# -- limits -----------------------------------------------------------------------------------------------------------

MIDDLE_GAME = Position.from_moves(Ruleset(15, 15), "h8g6j10f8h7h9i8g8e8i9")


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_depth_is_a_limit(agent, depth):
    assert agent.choose(MIDDLE_GAME, Limits(depth=depth)).depth == depth


@pytest.mark.parametrize("nodes", [1, 10, 1000, 20_000])
def test_nodes_are_a_limit(agent, nodes):
    agent.new_game(MIDDLE_GAME.ruleset)
    decision = agent.choose(MIDDLE_GAME, Limits(nodes=nodes))
    assert MIDDLE_GAME.is_legal(decision.move)
    # The search visits a few more nodes while it unwinds.
    assert decision.nodes <= nodes + 300


def test_time_is_a_limit(agent):
    for time_ms in (0, 1, 30):
        assert MIDDLE_GAME.is_legal(agent.choose(MIDDLE_GAME, Limits(time_ms=time_ms)).move)
    assert MIDDLE_GAME.is_legal(agent.choose(MIDDLE_GAME, Limits(clock_ms=100, increment_ms=10)).move)


def test_own_parameters_tighten_the_limits():
    with make_agent("alphabeta:depth=2,nodes=500,hash-mb=1") as player:
        assert player.choose(MIDDLE_GAME, Limits(depth=9)).depth <= 2
        assert player.choose(MIDDLE_GAME, Limits(depth=1)).depth == 1


def test_the_same_search_twice():
    with make_agent(SMALL) as one, make_agent(SMALL) as two:
        decisions = []
        for player in (one, two, one):
            player.new_game(MIDDLE_GAME.ruleset)
            decisions.append([player.choose(MIDDLE_GAME, limits) for limits in (Limits(depth=7), Limits(nodes=5000))])
    assert decisions[0] == decisions[1] == decisions[2]


def test_stop_ends_a_search(agent):
    search = agent.start(MIDDLE_GAME, Limits(time_ms=600_000))
    for analysis in search:
        if analysis.depth >= 4:
            search.stop()
    assert MIDDLE_GAME.is_legal(search.result().move)
    assert search.result().depth >= 4


def test_the_best_move_so_far_is_known_during_a_search(agent):
    search = agent.start(MIDDLE_GAME, Limits(depth=6))
    assert search.best_so_far() is None
    for _ in search:
        assert MIDDLE_GAME.is_legal(search.best_so_far().move)
    assert search.best_so_far() == search.result()


# -- what a stopped search reports ------------------------------------------------------------------------------------


def _snapshots(nodes: int, *, depth: int | None = None, lines: int = 1) -> list[Analysis]:
    with make_agent(SMALL) as player:
        return list(player.analyse(MIDDLE_GAME, Limits(nodes=nodes, depth=depth), lines))


@pytest.mark.parametrize("nodes", [300, 1000, 2500, 5000, 9000, 14_000, 20_000, 31_000])
def test_a_stopped_search_reports_the_last_iteration_or_a_better_move(nodes):
    snapshots = _snapshots(nodes)
    final = snapshots[-1].lines[0]
    completed = _snapshots(10**6, depth=snapshots[-1].depth)[-1].lines[0]
    if final.move == completed.move:
        assert final == completed
    else:
        assert final.depth == completed.depth + 1
    with make_agent(SMALL) as player:
        decision = player.choose(MIDDLE_GAME, Limits(nodes=nodes))
    assert (decision.move, decision.line, decision.depth) == (final.move, final.line, final.depth)
    assert decision.value_to_move == final.value_to_move


def test_no_snapshot_repeats_the_previous_one():
    for lines in (1, 3):
        for nodes in (700, 9000, 14_000):
            shown = [snapshot.lines for snapshot in _snapshots(nodes, lines=lines)]
            assert all(one != other for one, other in itertools.pairwise(shown))


def test_the_selective_depth_is_measured():
    lines = [snapshot.lines[0] for snapshot in _snapshots(20_000)]
    assert all(line.selective_depth >= len(line.line) for line in lines)
    assert any(line.selective_depth > max(line.depth, len(line.line)) for line in lines)


@pytest.mark.parametrize("puzzle", [one for one in load_forced_wins() if one["kind"] == "vcf"], ids=puzzle_name)
def test_a_forced_reply_carries_the_value_of_the_game(agent, puzzle):
    position = stones(puzzle["black"], puzzle["white"], puzzle["to_move"], puzzle["ruleset"])
    after = position.play(solve_threats(position).line[0])
    decision = agent.choose(after, Limits(nodes=100_000))
    assert decision.proof is not None
    assert decision.proof.result == "loss"


# -- threads ----------------------------------------------------------------------------------------------------------


def test_threads_find_legal_moves_and_the_same_proofs():
    with make_agent("alphabeta:hash-mb=4,threads=3") as player:
        assert MIDDLE_GAME.is_legal(player.choose(MIDDLE_GAME, Limits(depth=6)).move)
        won = player.choose(stones("i8 j8 k8 h9 h10", "l8 a1 a3 c1 o1"), Limits(depth=6))
        assert won.move == "h8"
        assert won.proof is not None
        assert won.proof.result == "win"
        lost = player.choose(stones("a1 c5 d9 e2", "g8 h8 i8 j8"), Limits(depth=5))
        assert str(lost.proof) == "-M2"
        quiet = stones("i8 j8 h9 h10", "a1 a3 c1 o1")
        assert str(player.choose(quiet, Limits(depth=6)).proof).startswith("+M")


# -- analysis ---------------------------------------------------------------------------------------------------------


def test_analysis_streams_ever_deeper(agent):
    snapshots = list(agent.analyse(MIDDLE_GAME, Limits(depth=6), lines=3))
    depths = [snapshot.depth for snapshot in snapshots]
    assert depths == sorted(depths)
    assert depths[-1] == 6
    last = snapshots[-1]
    assert len(last.lines) == 3
    assert len({line.move for line in last.lines}) == 3
    values = [line.value_to_move for line in last.lines]
    assert values == sorted(values, reverse=True)
    for line in last.lines:
        position = MIDDLE_GAME
        assert line.line[0] == line.move
        for move in line.line:
            position = position.play(move)


@pytest.mark.parametrize("nodes", [3000, 6000, 10_000, 14_000])
def test_all_lines_are_reported_best_first_however_early_the_search_ends(agent, nodes):
    position = Position.from_moves(Ruleset(15, 15), "h8g6j10f8")
    *_, last = agent.analyse(position, Limits(nodes=nodes), lines=5)
    values = [line.value_to_move for line in last.lines]
    assert len({line.move for line in last.lines}) == 5
    assert values == sorted(values, reverse=True)


def test_analysis_can_be_abandoned(agent):
    analysis = agent.analyse(MIDDLE_GAME, Limits(time_ms=600_000))
    assert next(analysis).depth >= 1
    analysis.close()
    assert agent.choose(MIDDLE_GAME, Limits(depth=2)).depth == 2


def test_analysis_of_a_finished_game_is_refused(agent):
    with pytest.raises(InputError, match="over"):
        next(agent.analyse(stones("h8 i8 j8 k8 l8", "a1"), Limits(depth=1)))


def test_moves_can_be_excluded():
    player = make_agent(SMALL)
    assert isinstance(player, ExcludesMoves)
    position = stones("h8 i8 j8", "c3 d3 m4")
    player.exclude(frozenset(parse_points("g8 k8")))
    assert player.choose(position, Limits(depth=4)).move not in ("g8", "k8")
    assert all(line.move not in ("g8", "k8") for line in list(player.analyse(position, Limits(depth=3), 2))[-1].lines)
    player.exclude(frozenset())
    assert player.choose(position, Limits(depth=4)).move in ("g8", "k8")


def test_excluding_everything_excludes_nothing():
    player = make_agent(SMALL)
    assert isinstance(player, ExcludesMoves)
    position = Position.start(Ruleset(6, 6, 4)).play("a1")
    player.exclude(frozenset(Point.at(x, y) for x in range(15) for y in range(15)))
    assert position.is_legal(player.choose(position, Limits(depth=2)).move)


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("preset", "depth"), [("best", 0), ("fudan", 7), ("stanford15", 3)])
def test_presets(preset, depth):
    with make_agent(f"alphabeta:preset={preset},hash-mb=1") as player:
        decision = player.choose(MIDDLE_GAME, Limits(depth=depth or 4, nodes=200_000))
        assert MIDDLE_GAME.is_legal(decision.move)
        assert decision.depth <= (depth or 4)
        assert player.choose(stones("h8 i8 j8 k8", "h9 i9 j9 a1"), Limits()).move in ("g8", "l8")


@pytest.mark.parametrize("ingredient", [member.name.lower().replace("_", "-") for member in Ingredient])
def test_plays_without_each_ingredient(ingredient):
    with make_agent(f"alphabeta:without={ingredient},hash-mb=1") as player:
        assert str(player.choose(stones("h8 i8 j8", "c3 d3 m4"), Limits(depth=4)).proof) == "+M3"
        assert MIDDLE_GAME.is_legal(player.choose(MIDDLE_GAME, Limits(depth=4, nodes=20_000)).move)


@pytest.mark.parametrize(
    "text",
    ["preset=strong", "without=luck", "hash-mb=0", "depth=-1", "nodes=x", f"nodes={10**23}", "threads=9999"],
)
def test_bad_parameters_are_refused(text):
    with pytest.raises(AgentNameError, match=text.split("=")[1]):
        make_agent(f"alphabeta:{text}")


def test_an_error_of_the_listener_comes_back_with_several_threads():
    def fail(_):
        raise OSError("nobody listens")

    with pytest.raises(OSError, match="nobody listens"):
        AlphaBeta(AlphaBetaConfig(table_mb=1)).search(MIDDLE_GAME, Limits(depth=9, threads=3), on_analysis=fail)


def test_a_node_limit_holds_for_all_threads_together():
    engine = AlphaBeta(AlphaBetaConfig(table_mb=4))
    # Each thread checks the limit every 512 nodes.
    assert 100_000 <= engine.search(MIDDLE_GAME, Limits(nodes=100_000, threads=4)).nodes <= 100_000 + 4 * 513


def test_a_host_bounds_memory_and_threads():
    player = make_agent("alphabeta:hash-mb=64")
    assert isinstance(player, AlphaBetaAgent)
    assert isinstance(player, HasTable)
    player.configure(memory_bytes=130 << 20, threads=2)
    assert MIDDLE_GAME.is_legal(player.choose(MIDDLE_GAME, Limits(depth=5)).move)
    assert 0 <= player.table_usage() <= 1


def huge_page_kb() -> int:
    """Return the memory of this process for which huge pages were requested (flag `hg` of its mappings)."""
    size = total = 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if line.startswith("Size:"):
            size = int(line.split()[1])
        if line.startswith("VmFlags:") and "hg" in line.split():
            total += size
    return total


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage/enabled").exists(), reason="the system has no transparent huge pages"
)
def test_large_tables_request_huge_pages():
    before = huge_page_kb()
    small = AlphaBeta(AlphaBetaConfig(table_mb=16))
    assert huge_page_kb() == before
    large = AlphaBeta(AlphaBetaConfig(table_mb=128))
    assert huge_page_kb() - before >= 126 << 10
    limits = Limits(nodes=2000)
    assert large.search(MIDDLE_GAME, limits).nodes == small.search(MIDDLE_GAME, limits).nodes


def test_a_table_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch):
    def fail(size: int) -> None:
        raise MemoryError(size)

    monkeypatch.setattr(_native, "Engine", fail)
    with pytest.raises(InputError, match="not enough memory for a table of 77 MB"):
        make_agent("alphabeta:hash-mb=77")


def test_a_table_that_does_not_fit_leaves_the_old_one():
    engine = _native.Engine(1 << 20)
    with pytest.raises(MemoryError):
        engine.set_table_bytes(1 << 60)
    assert engine.table_bytes == 1 << 20
    engine.set_table_bytes(1 << 20)
    limits = _native.SearchLimits()
    limits.nodes = 500
    assert engine.search(Position.start(Ruleset(15, 15)).native, limits, None).lines


def test_positions_come_in_any_order_and_under_any_rules():
    with make_agent(SMALL) as player:
        for text in ("15x15:5:renju", "6x6:4:freestyle", "15x15:5:renju", "9x9:5:caro"):
            position = Position.start(Ruleset.parse(text)).play("c3").play("d4")
            assert position.is_legal(player.choose(position, Limits(depth=3)).move)


def test_a_five_is_a_win_in_one_on_every_line() -> None:
    position = Position.from_moves(Ruleset(15, 15), "h8a1i8a3j8a5k8c1")
    (*_, last) = make_agent("alphabeta").analyse(position, Limits(depth=4), lines=3)
    assert [(line.move, str(line.proof)) for line in last.lines] == [("g8", "+M1"), ("l8", "+M1")]
