"""The fudan report's search: its scores against slow ones from the stones, its wins against every defence, its switches
and limits."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product

import pytest

from tengen import _native
from tengen.agents.registry import make_agent
from tengen.core.contracts import Analysis, Colour, Limits, Rule, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.core.symmetry import symmetries, transform_point
from tengen.errors import InputError, RulesetError
from tengen.search.fudan import Checkmate, Evaluation, Fudan, FudanConfig, PointScores, supports

Key = tuple[bool, int, int, int, bool]

AUTHORS = FudanConfig(
    all_keys=False, peer_update=False, hash_index=False, checkmate=Checkmate.AUTHORS, prefers_fast_wins=False
)
BOTH_FORMS = pytest.mark.parametrize("config", [FudanConfig(), AUTHORS], ids=["described", "authors"])
SUPPORTED = (
    "5x5:5:freestyle",
    "5x22:5:freestyle",
    "9x9:5:standard",
    "15x15:5:freestyle",
    "20x20:5:freestyle",
    "22x22:5:standard",
)
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def position_of(black: str = "", white: str = "", to_move: str = "black", rules: str = "15x15") -> Position:
    return Position.from_stones(
        Ruleset.parse(rules), black=parse_points(black), white=parse_points(white), to_move=to_move
    )


def random_position(rules: str, seed: int, stones: int) -> Position:
    """A middle game in which one side in two moves builds and blocks, so that there are lines."""
    choice = random.Random(f"{rules} {seed}")
    ruleset = Ruleset.parse(rules)
    builder = make_agent("naive:level=3")
    builder.new_game(ruleset, seed)
    position = Position.start(ruleset)
    while position.stones < min(stones, ruleset.area):
        builds = choice.random() < 0.6
        move = builder.choose(position, Limits()).move if builds else choice.choice(position.legal_points())
        following = position.play(move)
        if following.is_over:
            break
        position = following
    return position


def tactical_positions(rules: str, games: int) -> Iterator[Position]:
    """The positions of games that the search plays against itself from a few random stones, without checkmates."""
    player = Fudan(FudanConfig(checkmate=Checkmate.OFF))
    for game in range(games):
        choice = random.Random(game)
        position = Position.start(Ruleset.parse(rules))
        centre = position.ruleset.centre
        for x, y in choice.sample(list(product((-1, 0, 1), (-1, 0, 1))), 5):
            position = position.play(Point.at(centre.x + x, centre.y + y))
        while not position.is_over and position.stones < 40:
            yield position
            position = position.play(player.search(position, Limits(depth=2)).lines[0].move)


# ---- The score dictionary --------------------------------------------------------------------------------------------

OPEN = {1: 10, 2: 100, 3: 1000, 4: 100_000}
BLOCKED = {1: 1, 2: 10, 3: 100, 4: 10_000}
FOUR, OPEN_FOUR, FIVE = 10_000, 100_000, 10_000_000
FORGOTTEN_WITH_TWO_GAPS = {(1, 1, 2), (2, 1, 2), (1, 1, 3), (1, 2, 3)}


def all_keys() -> Iterator[Key]:
    yield from product((False, True), range(5), range(1, 5), range(5), (False, True))


def stated_score(key: Key) -> int:
    """The rule of the dictionary as it is stated, case by case."""
    a, b, c, d, e = key
    if b == 0 and d == 0:
        return 0 if a and e else BLOCKED[c] if a or e else OPEN[c]
    if b == 0 or d == 0:
        total = b + c + d
        gapless_end_is_open = not (e if d == 0 else a)
        if total >= 4:
            return OPEN_FOUR if c == 4 and gapless_end_is_open else FOUR
        return 0 if a and e else BLOCKED[total] if a or e else OPEN[total]
    halves = [(b + c, a), (c + d, e)]
    fours = [stones >= 4 for stones, _ in halves]
    if c == 4 or all(fours):
        return OPEN_FOUR
    return sum(FOUR if stones >= 4 else BLOCKED[stones] if blocked else OPEN[stones] for stones, blocked in halves)


def is_forgotten(key: Key) -> bool:
    """Whether the authors' dictionary lacks the key."""
    a, b, c, d, e = key
    if b > 0 and d > 0:
        return c < 4 and (4 in (b, d) or bool({(b, c, d), (d, c, b)} & FORGOTTEN_WITH_TWO_GAPS))
    outer = b + d
    return (outer == 3 and c == 3 and (a or e)) or (outer == 4 and not a and not e)


def test_the_dictionary_follows_the_stated_rule_for_all_keys() -> None:
    forgotten = 0
    for key in all_keys():
        assert _native.fudan_shape_score(_native.FudanKeys.ALL, *key) == stated_score(key), key
        authored = _native.fudan_shape_score(_native.FudanKeys.AS_AUTHORED, *key)
        assert authored == (0 if is_forgotten(key) else stated_score(key)), key
        forgotten += is_forgotten(key) and stated_score(key) > 0
    assert forgotten == 126


def test_mirrored_keys_have_the_same_score() -> None:
    for keys, key in product(_native.FudanKeys, all_keys()):
        assert _native.fudan_shape_score(keys, *key) == _native.fudan_shape_score(keys, *key[::-1])


# ---- Point scores ----------------------------------------------------------------------------------------------------


class Grid:
    """Stones by coordinates, and the scores read off them point by point."""

    def __init__(self, position: Position) -> None:
        self.ruleset = position.ruleset
        self.stones = {point: colour for colour in Colour for point in position.points_of(colour)}

    def cell(self, x: int, y: int) -> Colour | str | None:
        if not (0 <= x < self.ruleset.width and 0 <= y < self.ruleset.height):
            return "wall"
        return self.stones.get(Point.at(x, y))

    def side(self, point: Point, dx: int, dy: int, colour: Colour) -> tuple[int, int, bool]:
        """Length of the run next to the point, of the run behind a gap, and whether the last stone is blocked."""
        runs = [0, 0]
        gaps = 0
        x, y = point.x + dx, point.y + dy
        while True:
            cell = self.cell(x, y)
            if cell is colour:
                runs[gaps] += 1
            elif cell is None and gaps == 0 and self.cell(x + dx, y + dy) is colour:
                gaps = 1
            else:
                return runs[0], runs[1], cell is not None
            x, y = x + dx, y + dy

    def direction_score(self, point: Point, dx: int, dy: int, colour: Colour, *, has_all_keys: bool) -> int:
        if self.stones.get(point, colour) is not colour:
            return 0
        low, low_outer, a = self.side(point, -dx, -dy, colour)
        high, high_outer, e = self.side(point, dx, dy, colour)
        middle = low + 1 + high
        if middle >= 5:
            return FIVE if middle == 5 or self.ruleset.rule is Rule.FREESTYLE else 0
        key = a, min(low_outer, 4), middle, min(high_outer, 4), e
        # An outer run of more than four is cut off, and what follows is not seen.
        key = (a and low_outer <= 4, *key[1:4], e and high_outer <= 4)
        return 0 if not has_all_keys and is_forgotten(key) else stated_score(key)


def check_against_stones(scores: PointScores, grid: Grid, *, has_all_keys: bool) -> None:
    ruleset = grid.ruleset
    for colour in Colour:
        total = 0
        for index in range(ruleset.area):
            point = Point.from_index(index, ruleset.width)
            wanted = tuple(
                grid.direction_score(point, dx, dy, colour, has_all_keys=has_all_keys) for dx, dy in DIRECTIONS
            )
            assert scores.direction_scores(colour, point) == wanted, (point, colour)
            assert scores.score(colour, point) == sum(wanted)
            total += sum(wanted) if grid.stones.get(point) is colour else 0
        assert scores.stone_sum(colour) == total
    near = {
        point
        for point in (Point.from_index(index, ruleset.width) for index in range(ruleset.area))
        if point not in grid.stones
        and any(grid.cell(point.x + dx, point.y + dy) in tuple(Colour) for dx in (-1, 0, 1) for dy in (-1, 0, 1))
    }
    assert set(scores.neighbours()) == near


@pytest.mark.parametrize("rules", SUPPORTED)
@pytest.mark.parametrize(
    "config",
    [
        FudanConfig(),
        FudanConfig(blocked_update=False),
        FudanConfig(peer_update=False),
        FudanConfig(blocked_update=False, peer_update=False),
        FudanConfig(evaluation=Evaluation.TABLE),
        FudanConfig(evaluation=Evaluation.TABLE, blocked_update=False),
        FudanConfig(all_keys=False),
        FudanConfig(all_keys=False, blocked_update=False, peer_update=False),
    ],
)
def test_scores_kept_up_to_date_are_those_of_the_stones(rules: str, config: FudanConfig) -> None:
    """The table reaches four cells and gives the same scores as the whole line when no key is missing."""
    choice = random.Random(f"{rules} {config}")
    start = random_position(rules, seed=1, stones=30)
    scores, grid = PointScores(start, config), Grid(start)
    check_against_stones(scores, grid, has_all_keys=config.all_keys)
    # Mostly in a small area and with runs of one colour, so that long and overlong lines come up.
    side = min(start.ruleset.width, start.ruleset.height, 8)
    area = [Point.at(x, y) for x in range(side) for y in range(side)]
    for step in range(250):
        point = choice.choice(area)
        if point in grid.stones:
            scores.remove(point)
            del grid.stones[point]
        else:
            grid.stones[point] = choice.choice((Colour.BLACK, Colour.BLACK, Colour.WHITE))
            scores.place(point, grid.stones[point])
        if step % 10 == 0:
            check_against_stones(scores, grid, has_all_keys=config.all_keys)
    for point in list(grid.stones):
        scores.remove(point)
        del grid.stones[point]
    check_against_stones(scores, grid, has_all_keys=config.all_keys)


@BOTH_FORMS
@pytest.mark.parametrize("rules", ["12x12:5:freestyle", "9x7:5:standard"])
def test_scores_follow_the_symmetries_of_the_board(config: FudanConfig, rules: str) -> None:
    position = random_position(rules, seed=3, stones=40)
    scores = PointScores(position, config)
    for symmetry in symmetries(position.ruleset):
        turned = Position.from_stones(
            position.ruleset,
            black=[transform_point(point, symmetry, position.ruleset) for point in position.points_of(Colour.BLACK)],
            white=[transform_point(point, symmetry, position.ruleset) for point in position.points_of(Colour.WHITE)],
            to_move=position.to_move,
        )
        turned_scores = PointScores(turned, config)
        for colour in Colour:
            for index in range(position.ruleset.area):
                point = Point.from_index(index, position.ruleset.width)
                image = transform_point(point, symmetry, position.ruleset)
                assert turned_scores.score(colour, image) == scores.score(colour, point)


def test_the_figures_of_the_reports() -> None:
    # Figure 1 of the final report: a live two becomes a sleep two.
    before = PointScores(position_of("g7h8"))
    assert before.direction_scores(Colour.BLACK, Point("g7"))[2] == 100
    after = PointScores(position_of("g7h8", "f6"))
    assert [after.direction_scores(Colour.BLACK, Point(point))[2] for point in ("g7", "h8")] == [10, 10]
    # One empty point to each side is enough for a live one.
    assert PointScores(position_of("c8", "a8e8")).direction_scores(Colour.BLACK, Point("c8"))[0] == 10


# ---- What is found ---------------------------------------------------------------------------------------------------


@BOTH_FORMS
@pytest.mark.parametrize(
    ("position", "moves"),
    [
        (position_of("c5d5e5f5", "c7d7e7f7"), "b5g5"),
        (position_of("c5d5f5g5", "a1a2a3b7"), "e5"),
        (position_of("c5d6f8g9", "a2b2c2d2"), "e7"),
        # Six would not win in standard: the five of the other row is played.
        (position_of("a1b1c1e1f1c5d5e5f5", "a9b9c9d9g5h9", rules="9x9:5:standard"), "b5"),
        (position_of("a1b1c1d1", "a3b3c3d3", rules="5x5"), "e1"),
    ],
)
def test_a_five_is_played(config: FudanConfig, position: Position, moves: str) -> None:
    best = Fudan(config).search(position, Limits(depth=7)).lines[0]
    assert best.move in parse_points(moves)
    assert str(best.proof) == "+M1"
    assert best.value_to_move == 1


@BOTH_FORMS
@pytest.mark.parametrize(
    ("position", "move"),
    [
        (position_of("c5d5f5g5a1", "c7d7e7a9", "white"), "e5"),
        (position_of("c5d5e5f5", "b5d7e7", "white"), "g5"),
        # The four comes before an open four of one's own.
        (position_of("c5d5e5f5", "b5d7e7f7k1", "white"), "g5"),
    ],
)
def test_a_five_is_blocked(config: FudanConfig, position: Position, move: str) -> None:
    assert Fudan(config).search(position, Limits(depth=7)).lines[0].move == move


@BOTH_FORMS
@pytest.mark.parametrize("checkmate", [None, Checkmate.OFF])
def test_an_open_four_is_played(config: FudanConfig, checkmate: Checkmate | None) -> None:
    config = config if checkmate is None else replace(config, checkmate=checkmate)
    best = Fudan(config).search(position_of("g8h8i8", "g9h10e3"), Limits(depth=7)).lines[0]
    assert best.move in ("f8", "j8")
    assert best.value_to_move == 1
    assert str(best.proof) == ("+M3" if config.checkmate is Checkmate.BOTH_SIDES else "None")


CHECKMATES = {
    "open three": ("g8h8i8", "g9h10e3", 3),
    "two fours": ("e8f8g8i5i6i7", "d8i4a1o1a15b3", 3),
    "four-three": ("e8f8g8h9h10", "d8a1c3m13n2", 5),
    "double three": ("g8h8i9i10", "a1c14m2n14", 5),
    # The report's figure 3: of the two fours only the one in the corner of both lines goes on.
    "four to three fours": ("e8f8g8i6i7j9k10", "d8i5a1o1a15b3m13", 5),
}


@pytest.mark.parametrize("name", CHECKMATES)
def test_checkmates_of_known_length_are_proved(name: str) -> None:
    black, white, longest = CHECKMATES[name]
    best = Fudan().search(position_of(black, white), Limits(depth=7)).lines[0]
    assert best.proof is not None
    assert best.proof.result == "win"
    assert best.proof.plies == longest
    assert len(best.line) <= best.proof.plies
    check_proof(position_of(black, white))


def check_proof(position: Position) -> int:
    """Whatever the defender answers, the win is proved again and nearer; returns the plies of the proof, or 0."""
    best = Fudan().search(position, Limits(depth=1)).lines[0]
    if best.proof is None:
        return 0
    after = position.play(best.move)
    if after.is_over:
        assert best.proof.plies == 1
        return 1
    for reply in after.legal_points():
        answered = after.play(reply)
        assert not answered.is_over, f"{best.proof} refuted by {reply}\n{after}"
        again = Fudan().search(answered, Limits(depth=1)).lines[0].proof
        assert again is not None, f"{best.proof} refuted by {reply}\n{after}"
        assert again.plies <= best.proof.plies - 2
    return best.proof.plies


@pytest.mark.parametrize("rules", ["9x9:5:freestyle", "9x9:5:standard", "15x15:5:freestyle"])
def test_proofs_hold_against_every_defence(rules: str) -> None:
    lengths = [check_proof(position) for position in tactical_positions(rules, games=6)]
    assert sum(plies > 3 for plies in lengths) >= 6


def test_a_checkmate_of_the_enemy_is_avoided() -> None:
    def loses(position: Position, config: FudanConfig) -> bool:
        """Whether a search of one ply plays a move after which the opponent has a checkmate."""
        after = position.play(Fudan(config).search(position, Limits(depth=1)).lines[0].move)
        return Fudan().search(after, Limits(depth=1)).lines[0].proof is not None

    positions = [
        position
        for position in tactical_positions("15x15", games=3)
        if Fudan().search(position, Limits(depth=1)).lines[0].proof is None
    ]
    avoiding = sum(loses(position, FudanConfig()) for position in positions)
    careless = sum(loses(position, FudanConfig(checkmate=Checkmate.OFF)) for position in positions)
    # Most of these positions are lost already; the others must not be lost by a careless move.
    assert careless - avoiding >= 3


def test_the_authors_checkmate_finds_double_threats_of_its_own_side() -> None:
    only_checkmate = replace(AUTHORS, all_keys=True)
    for black, white in (("e8f8g8h9h10", "d8a1c3m13n2"), ("g8h8i9i10", "a1c14m2n14")):
        best = Fudan(only_checkmate).search(position_of(black, white), Limits(depth=1)).lines[0]
        assert best.value_to_move == 1
        assert best.proof is None
        assert Fudan().search(position_of(black, white).play(best.move), Limits(depth=7)).lines[0].value_to_move < 0


def test_the_first_stone_goes_to_the_centre() -> None:
    assert Fudan().search(Position.start(Ruleset.parse("20x20")), Limits(depth=7)).lines[0].move == "k11"


def test_a_full_board_is_a_draw() -> None:
    drawing = Position.parse(
        "\n".join(["5x5:5:freestyle  black to move", *(f" {6 - row}  {line}" for row, line in enumerate(ROWS, 1))])
    )
    best = Fudan().search(drawing, Limits(depth=7)).lines[0]
    assert drawing.play(best.move).is_over
    assert best.value_to_move == 0


ROWS = ("X O X O X", "O X O X O", "O X O X O", "X O X O X", "O X O X .")


# ---- Switches, limits, stopping --------------------------------------------------------------------------------------


def without_time(analysis: Analysis) -> tuple[object, ...]:
    return analysis.lines, analysis.depth


@pytest.mark.parametrize("rules", ["9x9:5:standard", "20x20:5:freestyle"])
@BOTH_FORMS
def test_inventions_for_speed_change_no_move(config: FudanConfig, rules: str) -> None:
    for seed in range(6):
        position = random_position(rules, seed, stones=6 + 3 * seed)
        full = Fudan(replace(config, hash_index=True)).search(position, Limits(depth=6))
        for switched in (
            replace(config, blocked_update=False),
            replace(config, peer_update=False),
            replace(config, hash_index=False),
            replace(config, blocked_update=False, peer_update=False, hash_index=False),
        ):
            other = Fudan(switched).search(position, Limits(depth=6))
            assert other.lines[0].move == full.lines[0].move
            assert other.lines[0].value_to_move == full.lines[0].value_to_move
        if config.all_keys:
            table = Fudan(replace(config, evaluation=Evaluation.TABLE)).search(position, Limits(depth=6))
            assert (without_time(table), table.nodes) == (without_time(full), full.nodes)


def test_the_hash_index_saves_nodes() -> None:
    position = random_position("15x15", seed=2, stones=10)
    config = FudanConfig(checkmate=Checkmate.OFF)
    with_index = Fudan(config).search(position, Limits(depth=7))
    without = Fudan(replace(config, hash_index=False)).search(position, Limits(depth=7))
    assert with_index.nodes < without.nodes


@BOTH_FORMS
def test_same_position_same_search(config: FudanConfig) -> None:
    search = Fudan(config)
    positions = [random_position("15x15", seed, stones=11) for seed in range(4)]
    first = [without_time(search.search(position, Limits(depth=5), lines=3)) for position in positions]
    again = [without_time(search.search(position, Limits(depth=5), lines=3)) for position in reversed(positions)]
    assert first == again[::-1]


@BOTH_FORMS
@pytest.mark.parametrize("rules", SUPPORTED)
def test_lines_are_legal_and_ordered(config: FudanConfig, rules: str) -> None:
    for stones in (0, 1, 7, 20):
        start = random_position(rules, seed=5, stones=stones)
        heard: list[Analysis] = []
        last = Fudan(config).search(start, Limits(depth=4), lines=4, on_analysis=heard.append)
        assert all(earlier.depth < later.depth for earlier, later in pairwise(heard))
        for analysis in (*heard, last):
            values = [line.value_to_move for line in analysis.lines]
            assert values == sorted(values, reverse=True)
            assert len({line.move for line in analysis.lines}) == len(values) <= 4
            for line in analysis.lines:
                assert line.move == line.line[0]
                position = start
                for move in line.line:
                    position = position.play(move)


def test_more_lines_do_not_change_the_best() -> None:
    position = random_position("15x15", seed=8, stones=9)
    alone = Fudan().search(position, Limits(depth=5)).lines[0]
    several = Fudan().search(position, Limits(depth=5), lines=8).lines
    assert (several[0].move, several[0].value_to_move) == (alone.move, alone.value_to_move)
    assert len(several) == 8


class TestLimits:
    START = random_position("15x15", seed=2, stones=8)

    @BOTH_FORMS
    @pytest.mark.parametrize("nodes", [1, 10, 500, 7000])
    def test_nodes(self, config: FudanConfig, nodes: int) -> None:
        for limits in (Limits(nodes=nodes), Limits(simulations=nodes), Limits(nodes=nodes, depth=30)):
            analysis = Fudan(config).search(self.START, limits)
            assert analysis.nodes == nodes
            assert self.START.is_legal(analysis.lines[0].move)

    def test_depth(self) -> None:
        for depth in (1, 4):
            assert Fudan().search(self.START, Limits(depth=depth)).depth == depth

    def test_time(self) -> None:
        for limits in (Limits(time_ms=20), Limits(clock_ms=400), Limits(time_ms=0)):
            analysis = Fudan().search(self.START, limits)
            assert self.START.is_legal(analysis.lines[0].move)

    @BOTH_FORMS
    def test_a_stop_before_the_search(self, config: FudanConfig) -> None:
        stop = StopSignal()
        stop.set()
        analysis = Fudan(config).search(self.START, Limits(depth=40), stop=stop)
        assert analysis.nodes <= 1
        assert self.START.is_legal(analysis.lines[0].move)

    @BOTH_FORMS
    def test_a_stop_from_another_thread(self, config: FudanConfig) -> None:
        stop, heard = StopSignal(), threading.Event()
        results: list[Analysis] = []

        def run() -> None:
            search = Fudan(config)
            results.append(search.search(self.START, Limits(depth=40), stop=stop, on_analysis=lambda _: heard.set()))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        assert heard.wait(60)
        stop.set()
        thread.join(60)
        assert not thread.is_alive()
        assert 1 <= results[0].depth < 40

    def test_an_error_of_the_listener_ends_the_search(self) -> None:
        def fail(analysis: Analysis) -> None:
            raise KeyError(analysis.depth)

        with pytest.raises(KeyError):
            Fudan().search(self.START, Limits(depth=40), on_analysis=fail)


@pytest.mark.parametrize("rules", SUPPORTED)
def test_supported_rulesets(rules: str) -> None:
    assert supports(Ruleset.parse(rules))


@pytest.mark.parametrize("rules", ["15x15:5:renju", "15x15:5:caro", "15x15:5:caro-exact", "6x6:4", "15x4:5", "8x8:6"])
def test_other_rulesets_are_refused(rules: str) -> None:
    position = Position.start(Ruleset.parse(rules))
    assert not supports(position.ruleset)
    with pytest.raises(RulesetError, match=f"on boards of at least 5x5, not {position.ruleset}"):
        Fudan().search(position, Limits(depth=1))
    with pytest.raises(RulesetError):
        PointScores(position)


def test_a_finished_game_is_refused() -> None:
    with pytest.raises(InputError, match="the game is over"):
        Fudan().search(position_of("c5d5e5f5g5", "c7d7e7f7"), Limits(depth=1))
