"""The simple players: each of their rules, and a comparison with a slow second implementation on many boards."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tengen._native import chains_score
from tengen.agents.registry import make_agent
from tengen.core.contracts import Colour, Limits, Rule, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.errors import AgentNameError, GameOverError
from tests.agents import reference

AGENTS = ("random", *(f"naive:level={level}" for level in range(5)), "chains", "rule-based")
RULESETS = (
    "9x9:5:freestyle",
    "9x9:5:standard",
    "9x9:5:renju",
    "9x9:5:caro",
    "9x9:5:caro-exact",
    "3x3:3:freestyle",
    "6x6:4:freestyle",
    "7x6:4:standard",
    "5x9:5:renju",
    "22x22:6:freestyle",
    "8x8:6:caro",
    "15x15:5:renju",
    "22x3:3:caro-exact",
)
NO_LIMITS = Limits()


def stones(black: str = "", white: str = "", to_move: str = "black", rules: str = "9x9:5:freestyle") -> Position:
    return Position.from_stones(
        Ruleset.parse(rules), black=parse_points(black), white=parse_points(white), to_move=to_move
    )


def choices(agent: str, position: Position, seeds: int = 150) -> set[str]:
    """Return all moves that the agent plays here over many seeds."""
    player = make_agent(agent)
    found: set[str] = set()
    for seed in range(seeds):
        player.new_game(position.ruleset, seed)
        found.add(player.choose(position, NO_LIMITS).move)
    return found


def points(text: str) -> set[str]:
    return set(parse_points(text))


def random_position(ruleset: Ruleset, seed: int) -> Position:
    """Return a middle-game position, partly played by agents that build and block, so that it contains shapes."""
    choice = random.Random(seed)
    position = Position.start(ruleset)
    builder = make_agent(choice.choice(["naive:level=3", "chains", "rule-based"]))
    builder.new_game(ruleset, seed)
    for _ in range(choice.randrange(ruleset.area)):
        if choice.random() < 0.5:
            move = choice.choice(position.legal_points())
        else:
            move = builder.choose(position, NO_LIMITS).move
        after = position.play(move)
        if after.is_over:
            break
        position = after
    return position


# ---- Naive players: one position for each strategy of the paper ------------------------------------------------------

ALL_NAIVE = [f"naive:level={level}" for level in range(5)]


@pytest.mark.parametrize("agent", ALL_NAIVE)
def test_s1_wins_with_a_connected_four_before_it_blocks(agent: str) -> None:
    position = stones(black="c5d5e5f5", white="c7d7e7f7")
    assert choices(agent, position) == points("b5g5")


@pytest.mark.parametrize("agent", ALL_NAIVE)
def test_s2_blocks_a_connected_four_before_an_open_three(agent: str) -> None:
    position = stones(black="b5a1b1c1", white="c5d5e5f5c7d7e7")
    assert choices(agent, position) == points("g5")


@pytest.mark.parametrize("agent", ALL_NAIVE)
def test_s3_blocks_an_open_three_before_it_extends(agent: str) -> None:
    position = stones(black="a1b1c1", white="c7d8e9c3d4e5")
    assert choices(agent, position) == points("b2f6"), "c7–e9 ends on the edge and is no open three"


def test_s3_leaves_a_closed_three_alone() -> None:
    position = stones(black="b5", white="c5d5e5")
    assert len(choices("naive:level=0", position)) > 40


def test_s4_extends_threes_from_level_1_on() -> None:
    position = stones(black="c5d5e5h1h2", white="b5")
    assert len(choices("naive:level=0", position)) > 40
    for level in (1, 2, 3, 4):
        assert choices(f"naive:level={level}", position) == points("f5")


def test_s5_extends_twos_from_level_2_on() -> None:
    position = stones(black="c5d6h1", white="b4")
    for level in (0, 1):
        assert len(choices(f"naive:level={level}", position)) > 40
    for level in (2, 3, 4):
        assert choices(f"naive:level={level}", position) == points("e7")


def test_s6_extends_single_stones_from_level_3_on() -> None:
    position = stones(black="a1", white="i9", to_move="black")
    for level in (0, 1, 2):
        assert len(choices(f"naive:level={level}", position)) > 40
    for level in (3, 4):
        assert choices(f"naive:level={level}", position) == points("a2b1b2")


def test_extending_asks_for_one_empty_end_and_no_more_room() -> None:
    # The short diagonal a3–c1 cannot win; the paper's player extends a run there anyway.
    position = stones(black="b2c1", white="e5")
    assert "a3" in choices("naive:level=2", position)


# ---- The gap in the paper's defence: split fours ---------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_levels_of_the_paper_do_not_see_split_fours(level: int) -> None:
    mine = stones(black="c5d5f5g5", white="a9c9e9g9", to_move="black")
    theirs = stones(black="c5d5f5g5", white="a9c9e9g9i9", to_move="white")
    assert choices(f"naive:level={level}", mine) != points("e5")
    assert choices(f"naive:level={level}", theirs) != points("e5")


def test_level_4_sees_split_fours() -> None:
    mine = stones(black="c5d5f5g5", white="a9c9e9g9", to_move="black")
    theirs = stones(black="c5d5f5g5", white="a9c9e9g9i9", to_move="white")
    assert choices("naive:level=4", mine) == points("e5")
    assert choices("naive:level=4", theirs) == points("e5")


def test_level_4_blocks_and_extends_broken_threes() -> None:
    theirs = stones(black="c5d5f5", white="a9c9", to_move="white")
    assert choices("naive:level=4", theirs) == points("e5")
    assert choices("naive:level=3", theirs) != points("e5")
    mine = stones(black="c5d5f5", white="b5i9", to_move="black")
    assert choices("naive:level=4", mine) == points("e5")


# ---- Rules other than freestyle, other win lengths -------------------------------------------------------------------


def test_a_four_that_would_become_a_six_does_not_count_where_six_does_not_win() -> None:
    free = stones(black="b5c5d5e5g5", white="a5")
    exact = stones(black="b5c5d5e5g5", white="a5", rules="9x9:5:standard")
    assert choices("naive:level=0", free) == points("f5")
    assert len(choices("naive:level=0", exact)) > 40
    assert choices("naive:level=4", free) == points("f5")


def test_a_run_that_is_too_long_does_not_count_as_a_shorter_one() -> None:
    # At d5 the four would become a six. It does not count as a three or two to extend either, so only c5 is left.
    position = stones(black="c5e5f5g5h5", white="i5", rules="9x9:5:standard")
    for level in (0, 1, 2):
        assert len(choices(f"naive:level={level}", position)) > 40
    assert choices("naive:level=3", position) > points("b5d5")


def test_a_five_closed_at_both_ends_does_not_count_in_caro() -> None:
    closed = stones(black="b5c5d5e5", white="a5g5", rules="9x9:5:caro")
    half_open = stones(black="b5c5d5e5", white="a5", rules="9x9:5:caro")
    assert len(choices("naive:level=0", closed)) > 40
    assert choices("naive:level=0", half_open) == points("f5")


def test_black_does_not_foul_in_renju() -> None:
    # e5 would block white's four, but it is a double-three, which black may not play even if white then wins.
    position = stones(black="f5g5e6e7", white="a1b2c3d4f6", rules="9x9:5:renju")
    assert Point("e5") in position.forbidden_points()
    for agent in AGENTS:
        assert "e5" not in choices(agent, position, seeds=60)


def test_four_in_a_row_counts_one_stone_less() -> None:
    win = stones(black="c3d3e3", white="a1a2a3", rules="6x6:4:freestyle")
    block = stones(black="f6", white="c3d3e3", rules="6x6:4:freestyle")
    open_two = stones(black="f6", white="c3d3", rules="6x6:4:freestyle")
    assert choices("naive:level=0", win) == points("b3f3")
    assert choices("naive:level=0", block) == points("b3f3")
    assert choices("naive:level=0", open_two) == points("b3e3")


# ---- Chains and rule-based -------------------------------------------------------------------------------------------


def test_chains_weights_are_those_of_the_paper() -> None:
    def score(black: str, white: str = "", at: str = "e5") -> int:
        position = stones(black=black, white=white)
        return chains_score(position.native, Point(at).index(9))

    assert [score(black) for black in ("", "d5", "c5d5", "b5c5d5", "a5b5c5d5")] == [0, 1, 3, 9, 81]
    assert [score("", white) for white in ("d5", "c5d5", "b5c5d5", "a5b5c5d5")] == [1, 3, 9, 27]
    assert score("d5f5e4", "d4f6d6") == 3 + 1 + 3 + 1, "a row of 3, a column of 2; white's diagonals of 3 and 2"


def test_chains_prefers_the_win_to_the_block_and_the_block_to_a_four() -> None:
    assert choices("chains", stones(black="a1b1c1d1", white="a9b9c9d9")) == points("e1")
    assert choices("chains", stones(black="a1b1c1i4", white="a9b9c9d9")) == points("e9")


def test_rule_based_order() -> None:
    win = stones(black="b5c5e5f5", white="b7c7e7f7")
    assert choices("rule-based", win) == points("d5")
    block = stones(black="b5c5d5", white="b7c7e7f7")
    assert choices("rule-based", block) == points("d7")
    block_three = stones(black="a1b1c1", white="c7d7e7")
    assert choices("rule-based", block_three) == points("b7f7")
    four = stones(black="a1b1c1f6", white="a9c9e9")
    assert choices("rule-based", four) == points("d1")
    three_near_stones = stones(black="c3d3", white="i9")
    assert choices("rule-based", three_near_stones) <= points("b3e3"), "b3 and e3 touch a stone, a3 and f3 do not"


def test_rule_based_begins_in_the_centre() -> None:
    assert choices("rule-based", stones()) == points("e5")


# ---- Against the second implementation -------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULESETS)
def test_chains_scores_agree_with_the_reference(rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    for seed in range(6):
        position = random_position(ruleset, seed)
        for index, is_legal in enumerate(position.legal_mask()):
            if is_legal:
                point = Point.from_index(index, ruleset.width)
                assert chains_score(position.native, index) == reference.chains_score(position, point), position


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("agent", AGENTS)
def test_moves_are_those_of_the_reference(agent: str, rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    player = make_agent(agent)
    for seed in range(12):
        position = random_position(ruleset, seed)
        allowed = reference.candidates(agent, position)
        # If there are few candidates, all must occur; if there are many, every move must be one of them.
        draws = 12 * len(allowed) if len(allowed) <= 4 else 12
        seen = set()
        for _ in range(draws):
            seen.add(player.choose(position, NO_LIMITS).move)
        assert seen <= allowed, position
        if len(allowed) <= 4:
            assert seen == allowed, position


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("agent", AGENTS)
def test_whole_games_are_legal(agent: str, rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    player = make_agent(agent)
    for game in range(3):
        player.new_game(ruleset, game)
        position = Position.start(ruleset)
        while not position.is_over:
            move = player.choose(position, NO_LIMITS).move
            assert position.is_legal(move), (move, str(position))
            position = position.play(move)


def test_equal_choices_are_equally_likely() -> None:
    player = make_agent("random")
    position = Position.start(Ruleset(3, 3, 3))
    counts = Counter(player.choose(position, NO_LIMITS).move for _ in range(9000))
    assert len(counts) == 9
    assert all(880 < count < 1120 for count in counts.values()), counts


# ---- Seeds and errors ------------------------------------------------------------------------------------------------


def play_game(black: str, white: str, seed: int, rules: str = "9x9:5:freestyle") -> Position:
    ruleset = Ruleset.parse(rules)
    players = {Colour.BLACK: make_agent(black), Colour.WHITE: make_agent(white)}
    for number, player in enumerate(players.values()):
        player.new_game(ruleset, 2 * seed + number)
    position = Position.start(ruleset)
    while not position.is_over:
        position = position.play(players[position.to_move].choose(position, NO_LIMITS).move)
    return position


# ---- Naive players, first match --------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("rules", RULESETS)
def test_first_match_is_that_of_patterns_over_text_lines(level: int, rules: str) -> None:
    agent = f"naive:level={level},choice=first"
    ruleset = Ruleset.parse(rules)
    decided = 0
    for seed in range(30):
        position = random_position(ruleset, seed)
        if len(position.moves) < 2:
            continue
        expected = reference.first_match(level, position)
        if expected is None:
            continue
        decided += 1
        assert choices(agent, position, 3) == {expected}, position
    assert decided > 5


def test_first_match_reads_rows_then_columns_then_diagonals_from_the_top() -> None:
    row, column, diagonal = "b2c2d2", "g3g4g5", "c8d7e6"
    agent = "naive:level=1,choice=first"
    assert choices(agent, stones(black=row + column + diagonal, white="i1i2")) == points("a2")
    assert choices(agent, stones(black=column + diagonal, white="i1i2")) == points("g6")
    assert choices(agent, stones(black=diagonal, white="i1i2")) == points("b9")
    assert choices(agent, stones(black=row, white="a2i1")) == points("e2"), "the end after it, if none is before"


def test_first_match_opens_in_the_centre_and_replies_diagonally() -> None:
    agent = "naive:level=3,choice=first"
    start = Position.start(Ruleset.parse("9x9:5:freestyle"))
    assert choices(agent, start) == points("e5")
    # Towards the side with more room; the centre counts as left and as upper.
    for black, white in (("e5", "f4"), ("a9", "b8"), ("i1", "h2"), ("f5", "e4"), ("e4", "f5")):
        assert choices(agent, start.play(black)) == points(white)


def test_first_match_exists_for_the_levels_of_the_paper() -> None:
    with pytest.raises(AgentNameError, match="naive level 4 does not support choice=first"):
        make_agent("naive:level=4,choice=first")


def test_rule_based_first_wins_blocks_and_makes_runs_in_reading_order() -> None:
    agent = "rule-based:choice=first"
    assert choices(agent, stones(black="b5c5e5f5", white="b7c7d7e7")) == points("d5"), "it sees splits"
    assert choices(agent, stones(black="a1", white="b7c7d7e7b3c3d3e3")) == points("a7"), "it blocks the upper one first"
    assert choices(agent, stones(black="b2c2f4f5", white="a2d2a9")) == points("f6"), "b2c2 has no room; nor has it need"
    assert choices(agent, stones(black="b2c2", white="a2")) == points("d2"), "two more stones could never make a five"
    assert len(choices(agent, stones(black="a1", white="c3d3e3"))) > 40, "open threes are not blocked"


# ---- Tree ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules", ["9x9:5:freestyle", "7x7:5:renju", "6x6:4:caro", "7x6:4:standard", "5x5:3:caro-exact"]
)
def test_tree_agrees_with_the_slow_implementation(rules: str) -> None:
    compared = 0
    for seed in range(8):
        position = random_position(Ruleset.parse(rules), seed)
        if position.stones and reference.best_near_stones(position, 1):
            assert choices("tree", position, 2) == {reference.tree_move(position)}, position
            compared += 1
    assert compared > 4


def test_tree_wins_then_blocks_and_opens_in_the_centre() -> None:
    assert choices("tree", stones(black="c5d5f5g5", white="c7d7e7f7")) == points("e5"), "it sees splits"
    assert choices("tree", stones(black="a1b1c1b9", white="c7d7f7g7")) == points("e7")
    assert choices("tree", Position.start(Ruleset.parse("9x9"))) == points("e5")


def test_tree_beats_the_naive_players() -> None:
    assert score("tree", "naive:level=3", games=20) > 0.9


@pytest.mark.parametrize("agent", AGENTS)
def test_same_seeds_same_game(agent: str) -> None:
    assert play_game(agent, agent, 7).moves == play_game(agent, agent, 7).moves
    games = {play_game(agent, agent, seed).moves for seed in range(8)}
    assert len(games) > 1


def test_agent_seed_and_game_seed_both_count() -> None:
    start = Position.start(Ruleset(15, 15))

    def opening_moves(text: str, seed: int | None) -> list[str]:
        player = make_agent(text)
        if seed is not None:
            player.new_game(start.ruleset, seed)
        return [player.choose(start, NO_LIMITS).move for _ in range(8)]

    assert opening_moves("random", 0) == opening_moves("random:seed=0", None)
    assert opening_moves("random:seed=5", 3) == opening_moves("random:seed=5", 3)
    series = [opening_moves(f"random:seed={agent}", game) for agent in (-1, 0, 1, 2**70 + 2) for game in (-1, 0, 1)]
    assert len({tuple(moves) for moves in series}) == len(series)


def test_both_colours_draw_from_streams_of_their_own() -> None:
    # With a shared stream, white would answer each random move on an adjacent point.
    player = make_agent("random")
    start = Position.start(Ruleset(15, 15))
    distances = []
    for seed in range(40):
        player.new_game(start.ruleset, seed)
        black = player.choose(start, NO_LIMITS).move
        player.new_game(start.ruleset, seed)
        white = player.choose(start.play(black), NO_LIMITS).move
        distances.append(max(abs(black.x - white.x), abs(black.y - white.y)))
    assert sum(distance <= 1 for distance in distances) < 8


def test_finished_games_are_refused_with_the_position() -> None:
    won = stones(black="a1b1c1d1e1", white="a9b9c9d9")
    with pytest.raises(GameOverError, match="black has won"):
        make_agent("naive").choose(won, NO_LIMITS)


def test_black_without_a_legal_point_has_lost_already() -> None:
    ruleset = Ruleset(9, 9, 5, Rule.RENJU)
    # All points except e5 are occupied, in stripes of width two without a five; e5 would be a black overline.
    black: list[Point] = []
    white: list[Point] = []
    for y in range(9):
        for x in range(9):
            name = Point.at(x, y)
            if name == "e5":
                continue
            (black if y == 4 and 1 <= x <= 7 else black if (x // 2 + y) % 2 else white).append(name)
    position = Position.from_stones(ruleset, black=black, white=white, to_move="black")
    assert position.is_over
    with pytest.raises(GameOverError):
        make_agent("random").choose(position, NO_LIMITS)


# ---- Strength --------------------------------------------------------------------------------------------------------


def score(first: str, second: str, games: int = 100, rules: str = "9x9:5:freestyle") -> float:
    """Return the points of the first player, with half a point for a draw; colours alternate."""
    total = 0.0
    for game in range(games):
        first_is_black = game % 2 == 0
        black, white = (first, second) if first_is_black else (second, first)
        winner = play_game(black, white, game, rules).outcome.winner
        total += 0.5 if winner is None else float((winner is Colour.BLACK) == first_is_black)
    return total


@pytest.mark.parametrize("agent", ["naive:level=2", "naive:level=3", "naive:level=4", "chains", "rule-based"])
def test_builders_beat_random(agent: str) -> None:
    assert score(agent, "random") >= 95


def test_ladder_of_naive_levels_on_the_full_board() -> None:
    rules = "15x15:5:freestyle"
    assert score("naive:level=0", "random", rules=rules) >= 75
    for level in (1, 2, 4):
        assert score(f"naive:level={level}", f"naive:level={level - 1}", rules=rules) >= 60
    assert score("naive:level=3", "naive:level=2", rules=rules) >= 52


def test_chains_and_rule_based_beat_the_levels_of_the_paper() -> None:
    assert score("chains", "naive:level=3") >= 60
    assert score("rule-based", "naive:level=3") >= 80


@pytest.mark.parametrize("agent", ["random", "naive:level=0", "naive:level=4", "chains", "rule-based"])
def test_every_simple_player_says_what_it_considers(agent: str) -> None:
    position = Position.from_moves(Ruleset(9, 9), "e5a1e6a2e7a3e8")
    (analysis,) = make_agent(agent).analyse(position, NO_LIMITS, lines=3)
    (again,) = make_agent(agent).analyse(position, NO_LIMITS, lines=3)
    assert analysis == again
    assert analysis.policy is not None
    assert sum(analysis.policy.values()) == pytest.approx(1)
    assert all(position.is_legal(line.move) for line in analysis.lines)
    if agent != "random":
        assert {line.move for line in analysis.lines} <= {"e4", "e9"}
        assert "stops a five" in analysis.lines[0].reason


def test_an_analysis_does_not_change_the_moves_that_follow() -> None:
    position = Position.start(Ruleset(9, 9))
    one, other = make_agent("random"), make_agent("random")
    list(one.analyse(position, NO_LIMITS))
    assert one.choose(position, NO_LIMITS) == other.choose(position, NO_LIMITS)
