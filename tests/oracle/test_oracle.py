"""The oracle against the rule text, drawings, perft counts, and larger collections if they are installed."""

from __future__ import annotations

import ast
import json
from math import perm
from pathlib import Path
from random import Random

import pytest

from tests.conftest import ROOT, shared_data
from tests.oracle import rules as oracle
from tests.oracle.boards import crossing_stones, tactical_stones, transformed
from tests.oracle.perft import (
    closed_lines_of_black_at_first_chance,
    count_lines,
    lines,
    perft,
    wins_of_black_at_first_chance,
    wins_of_white_at_first_chance,
)
from tests.oracle.rules import (
    BLACK,
    DRAW,
    ONGOING,
    RULES,
    WHITE,
    Point,
    Rules,
    Stones,
    foul,
    fouls,
    legal_points,
    opponent,
    outcome_after,
    play_moves,
    point_of,
    winning_lines,
    wins_at,
)
from tests.oracle.suites import (
    PerftCase,
    RenjuCase,
    perft_cases,
    read_perft_suite,
    read_renju_vectors,
    renju_cases,
)

RENJU = Rules.parse("15x15:5:renju")


def row_stones(row: str) -> tuple[Stones, Point]:
    """Return the stones of a drawn row (`X` black, `O` white) on the middle of three lines, and the point `*`."""
    stones = {(x, 1): BLACK if mark == "X" else WHITE for x, mark in enumerate(row) if mark in "XO"}
    return stones, (row.index("*"), 1)


def parse_points(names: str) -> list[Point]:
    return [point_of(name) for name in names.split()]


def swap_colours(stones: Stones) -> Stones:
    return {point: opponent(colour) for point, colour in stones.items()}


# --- independence ----------------------------------------------------------------------------------------------------


def imported_packages(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


def test_the_oracle_and_the_package_do_not_import_each_other():
    oracle_files = list(Path(__file__).parent.glob("*.py"))
    package_files = list((ROOT / "src").rglob("*.py"))
    assert len(oracle_files) >= 6
    assert package_files
    assert not [path for path in oracle_files if "tengen" in imported_packages(path)]
    assert not [path for path in package_files if "tests" in imported_packages(path)]


# --- winning lines ---------------------------------------------------------------------------------------------------

# A row with the stone to play, and the rules under which it wins for black and (with exchanged colours) for white.
FREE, STANDARD, CARO, EXACT = "freestyle", "standard", "caro", "caro-exact"
ROWS = [
    ("XXX*", set(), set()),
    ("XX*XX", set(RULES), set(RULES)),
    ("*XXXX", set(RULES), set(RULES)),
    (".XXX*X.", set(RULES), set(RULES)),
    ("OXXX*X.", set(RULES), set(RULES)),
    ("OXXX*X", set(RULES), set(RULES)),
    ("OXXX*XO", {FREE, STANDARD, "renju"}, {FREE, STANDARD, "renju"}),
    ("XXX*XX", {FREE, CARO}, {FREE, CARO, "renju"}),
    ("OXXX*XXO", {FREE, CARO}, {FREE, CARO, "renju"}),
    ("XXXX*XXXX", {FREE, CARO}, {FREE, CARO, "renju"}),
    ("XX*.XX", set(), set()),
    ("XXOXX*", set(), set()),
]


@pytest.mark.parametrize(("row", "black_wins", "white_wins"), ROWS)
@pytest.mark.parametrize("rule", RULES)
def test_winning_rows(row: str, black_wins: set[str], white_wins: set[str], rule: str):
    stones, point = row_stones(row)
    rules = Rules(len(row), 3, 5, rule)
    assert wins_at(rules, stones, BLACK, point) == (rule in black_wins)
    assert wins_at(rules, swap_colours(stones), WHITE, point) == (rule in white_wins)


def test_a_line_wins_in_each_direction_up_to_the_edges():
    rules = Rules.parse("7x5:4:standard")
    for line in lines(7, 5, 4):
        for last in line:
            stones = dict.fromkeys(line - {last}, BLACK)
            assert wins_at(rules, stones, BLACK, last)
            assert [set(run) for run in winning_lines(rules, {**stones, last: BLACK}, last)] == [line]


def test_one_stone_may_win_on_two_lines_and_fail_on_a_third():
    row = [(x, 4) for x in range(5)]
    column = [(4, y) for y in range(5)]
    overlong = [(4 + step, 4 + step) for step in range(-4, 3)]
    stones = dict.fromkeys(row + column + overlong, BLACK)
    rules = Rules.parse("9x9:5:standard")
    assert [set(run) for run in winning_lines(rules, stones, (4, 4))] == [set(row), set(column)]


def test_runs_stop_at_the_edge():
    stones = dict.fromkeys([(3, 0), (4, 0), (0, 1), (1, 1)], BLACK)
    assert not wins_at(Rules.parse("5x3:5:freestyle"), stones, BLACK, (2, 0))


# --- outcome ---------------------------------------------------------------------------------------------------------


def test_a_full_board_is_a_draw_and_a_line_on_the_last_point_wins():
    tic_tac_toe = Rules.parse("3x3:3:freestyle")
    drawn = play_moves(tic_tac_toe, parse_points("a1 b1 c1 b2 a2 a3 b3 c2"))
    assert (drawn.outcome, drawn.play((2, 2)).outcome) == (ONGOING, DRAW)
    won = play_moves(tic_tac_toe, parse_points("a1 b1 c1 a2 c2 a3 b2 b3"))
    assert (won.outcome, won.play((2, 2)).outcome) == (ONGOING, BLACK)


def test_a_foul_loses_and_a_five_comes_before_it():
    cross = dict.fromkeys([(7, 8), (7, 9), (8, 7), (9, 7)], BLACK)
    assert outcome_after(RENJU, cross, BLACK, (7, 7)) == WHITE
    assert outcome_after(RENJU, swap_colours(cross), WHITE, (7, 7)) == ONGOING
    five = cross | dict.fromkeys([(x, 7) for x in range(3, 7)], BLACK)
    del five[8, 7], five[9, 7]
    assert outcome_after(RENJU, five, BLACK, (7, 7)) == BLACK


def test_a_foul_on_the_last_point_loses_rather_than_draws():
    rules = Rules.parse("7x3:5:renju")
    row = "XXX*XXO"
    stones, point = row_stones(row)
    stones |= {(x, y): WHITE if (x + y // 2) % 2 else BLACK for x in range(7) for y in (0, 2)}
    assert outcome_after(rules, stones, BLACK, point) == WHITE
    assert outcome_after(rules._replace(rule="standard"), stones, BLACK, point) == DRAW


def test_black_without_a_legal_point_has_lost():
    rules = Rules.parse("7x3:5:renju")
    stones, point = row_stones("XXX*XXO")
    stones |= {(x, y): WHITE if (x + y // 2) % 2 else BLACK for x in range(7) for y in (0, 2)}
    del stones[0, 0]
    assert legal_points(rules, {**stones, (0, 0): WHITE}, BLACK) == set()
    assert outcome_after(rules, stones, WHITE, (0, 0)) == WHITE
    assert outcome_after(rules, stones, WHITE, point) == ONGOING


def test_nothing_is_played_after_the_end_or_twice_on_a_point():
    game = play_moves(Rules.parse("3x3:3:freestyle"), [(0, 0), (0, 1), (1, 0), (1, 1)])
    with pytest.raises(ValueError, match="a1 cannot be played"):
        game.play((0, 0))
    won = game.play((2, 0))
    assert won.outcome == BLACK
    assert won.legal_points() == set()
    with pytest.raises(ValueError, match="c3 cannot be played"):
        won.play((2, 2))


def test_white_never_fouls():
    rng = Random(5)
    for _ in range(20):
        stones = tactical_stones(rng, RENJU)
        assert legal_points(RENJU, stones, WHITE) == set(oracle.empty_points(RENJU, stones))


def test_only_renju_has_fouls():
    stones = dict.fromkeys([(7, 8), (7, 9), (8, 7), (9, 7)], BLACK)
    assert foul(RENJU, stones, (7, 7)) == oracle.DOUBLE_THREE
    assert all(foul(RENJU._replace(rule=rule), stones, (7, 7)) is None for rule in RULES if rule != "renju")


# --- renju fouls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", renju_cases(), ids=lambda case: case.id)
def test_forbidden_points(case: RenjuCase):
    assert fouls(case.rules, case.stones) == case.forbidden
    assert not set(case.looks_forbidden) & set(case.forbidden)


def test_the_collection_has_every_kind_of_case():
    cases = renju_cases()
    kinds = {kind for case in cases for kind in case.forbidden.values()}
    assert len(cases) >= 75
    assert kinds == {oracle.OVERLINE, oracle.DOUBLE_FOUR, oracle.DOUBLE_THREE}
    nested = [
        point
        for case in cases
        for point in case.forbidden
        if foul(case.rules, case.stones, point, 1) != case.forbidden[point]
    ]
    assert len(nested) >= 10


def test_fouls_turn_and_mirror_with_the_board():
    rng = Random(3)
    for _ in range(5):
        stones = crossing_stones(rng, RENJU)
        expected = fouls(RENJU, stones)
        for symmetry in range(8):
            turned = {transformed(RENJU, point, symmetry): colour for point, colour in stones.items()}
            assert fouls(RENJU, turned) == {
                transformed(RENJU, point, symmetry): kind for point, kind in expected.items()
            }


def test_a_distant_white_stone_changes_no_foul():
    stones = dict.fromkeys([(2, 3), (2, 4), (3, 2), (4, 2)], BLACK)
    assert fouls(RENJU, stones)
    assert fouls(RENJU, stones) == fouls(RENJU, {**stones, (14, 14): WHITE})


if (shared := shared_data()) is not None:
    NAMED = json.loads((shared / "renju_cases.json").read_text())
    VECTORS = read_renju_vectors(shared / "renju_vectors.jsonl")

    @pytest.mark.parametrize("case", NAMED, ids=lambda case: case["name"])
    def test_named_renju_case(case: dict):
        stones = {tuple(point): colour for colour in (BLACK, WHITE) for point in case[colour]}
        point = tuple(case["point"])
        assert foul(RENJU, stones, point) == case["kind"]
        assert wins_at(RENJU, stones, BLACK, point) == case["five"]

    @pytest.mark.parametrize("part", range(2))
    def test_renju_vectors(part: int):
        # A third of them; the native core is faster and checks all of them.
        for case in VECTORS[part::6]:
            assert fouls(case.rules, case.stones) == case.forbidden, case.id
            assert all(foul(case.rules, case.stones, point, 0) for point in case.looks_forbidden), case.id


# --- perft -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", perft_cases(), ids=lambda case: case.id)
def test_perft(case: PerftCase):
    counts = case.counts_for("oracle")
    plies = perft(case.rules, max(count.depth for count in counts), case.stones, case.to_move)
    assert [(count.depth, *plies[count.depth - 1]) for count in counts] == [count[:3] for count in counts]


def walk(rules: Rules, stones: Stones, to_move: str, counts: list[list[int]]) -> None:
    """Count like perft, but by playing every sequence."""
    for point in legal_points(rules, stones, to_move):
        outcome = outcome_after(rules, stones, to_move, point)
        counts[0][0] += 1
        counts[0][1] += outcome in (BLACK, WHITE)
        if len(counts) > 1 and outcome == ONGOING:
            walk(rules, {**stones, point: to_move}, opponent(to_move), counts[1:])


@pytest.mark.parametrize("rule", RULES)
def test_perft_counts_the_sequences_that_can_be_played_one_by_one(rule: str):
    rng = Random(11)
    wins = 0
    for _ in range(8):
        rules = Rules(6, 5, 5 if rule == "renju" else 4, rule)
        stones = crossing_stones(rng, rules)
        for to_move in (BLACK, WHITE):
            counts = [[0, 0] for _ in range(2)]
            walk(rules, stones, to_move, counts)
            assert [tuple(ply) for ply in counts] == perft(rules, 2, stones, to_move)
            wins += counts[0][1] + counts[1][1]
    assert wins > 0


def test_lines_are_counted_as_they_are_listed():
    for width, height, length in ((3, 3, 3), (5, 4, 4), (6, 6, 5), (15, 15, 5), (22, 3, 6), (4, 3, 5)):
        assert count_lines(width, height, length) == len(lines(width, height, length))
    assert [count_lines(size, size, 5) for size in (6, 9, 15, 19, 20)] == [32, 140, 572, 1020, 1152]


def test_first_wins_have_closed_forms():
    assert wins_of_black_at_first_chance(15, 15, 5) == 572 * 120 * perm(220, 4) == 156_444_499_411_200
    for text in ("3x3:3:freestyle", "4x3:3:standard", "4x4:3:freestyle"):
        rules = Rules.parse(text)
        size = rules[:3]
        plies = perft(rules, 6)
        assert plies[4].wins == wins_of_black_at_first_chance(*size)
        assert plies[5].wins == wins_of_white_at_first_chance(*size)
    deep = [(case.rules, count) for case in perft_cases() for count in case.counts_for("closed-form") if count.only]
    assert len(deep) >= 2
    for rules, count in deep:
        width, height, length, _ = rules
        sequences = perm(width * height, 2 * length - 1)
        wins = wins_of_black_at_first_chance(width, height, length)
        if count.depth == 2 * length:
            sequences = (sequences - wins) * (width * height - 2 * length + 1)
            wins = wins_of_white_at_first_chance(width, height, length)
        assert (count.nodes, count.wins) == (sequences, wins)


def test_closed_lines_have_a_closed_form():
    for width, height in ((5, 3), (3, 5)):
        closed = closed_lines_of_black_at_first_chance(width, height, 3)
        assert closed > 0
        wins = perft(Rules(width, height, 3, "caro"), 5)[4].wins
        assert wins == wins_of_black_at_first_chance(width, height, 3) - closed


def test_a_suite_with_an_unknown_word_is_refused(tmp_path: Path):
    path = tmp_path / "broken.perft"
    path.write_text("id x\nruleset 3x3:3:freestyle\nperftt 1 9 0\n")
    with pytest.raises(ValueError, match=r"line 3 of broken\.perft"):
        read_perft_suite(path)
