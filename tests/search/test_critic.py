"""Critics: inputs, evaluation and games, each compared with a slow implementation."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from tengen import _native
from tengen.core.contracts import Colour, Outcome, Ruleset
from tengen.core.position import Position
from tengen.core.shipped import shipped_folder
from tengen.errors import InputError, RulesetError
from tengen.search.critic import Activation, Critic, CriticConfig, CriticInput, critic_inputs, critic_names, load_critic
from tengen.search.critic_games import CriticGames, play_games

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
RULESETS = [Ruleset.parse(text) for text in ("3x3:3", "7x6:4", "9x9:5", "15x15:5:renju", "9x9:5:standard")]
PATTERNS = [ruleset for ruleset in RULESETS if ruleset.win_length > 3]


def random_positions(ruleset: Ruleset, seed: int, games: int = 3) -> list[Position]:
    """Yield every position of random games with stones close together."""
    rng = np.random.default_rng(seed)
    positions = []
    for _ in range(games):
        position = Position.start(ruleset)
        while not position.is_over:
            positions.append(position)
            points = position.legal_points()
            near = [p for p in points if any(abs(p.x - q.x) < 2 and abs(p.y - q.y) < 2 for q in position.moves[-6:])]
            position = position.play((near or points)[rng.integers(len(near or points))])
    return positions


def make_critic(kind: CriticInput, ruleset: Ruleset, seed: int = 0) -> Critic:
    activation = Activation.SIGMOID if kind is CriticInput.STONES else Activation.RELU
    config = CriticConfig(input=kind, hidden=16, activation=activation, radius=1)
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(0, 0.2, shape).astype(np.float32) for name, shape in config.shapes().items()}
    return Critic(config, ruleset, weights)


def written_out(critic: Critic, position: Position, view: Colour) -> float:
    """Compute the critic's output with dense arithmetic."""
    indices, amounts = critic_inputs(critic.config.input, position, view)
    row = np.zeros(critic.config.input.size)
    np.add.at(row, indices, amounts)
    hidden = row @ critic.weights["weights"] + critic.weights["biases"]
    hidden = np.maximum(hidden, 0) if critic.config.activation is Activation.RELU else 1 / (1 + np.exp(-hidden))
    return float(1 / (1 + np.exp(-(hidden @ critic.weights["output_weights"] + critic.weights["output_bias"][0]))))


# -- inputs -----------------------------------------------------------------------------------------------------------


def all_shapes() -> list[tuple]:
    """Return the hundred shapes in order: the length of the middle run and what is on its two sides."""
    shapes: list[tuple] = []
    for length, longest_outer in ((1, 3), (2, 3), (3, 2), (4, 0), (5, 0)):
        sides = [(outer, blocked) for outer in range(longest_outer + 1) for blocked in (False, True)]
        pairs = itertools.combinations_with_replacement(sides, 2)
        shapes += [(length, *pair) for pair in sorted(pairs, key=lambda pair: pair[::-1])]
    return [*shapes, (6,)]


def shape_of(position: Position, x: int, y: int, dx: int, dy: int) -> tuple:
    """Return the shape of a stone along one line, cell by cell."""
    width, height = position.ruleset.width, position.ruleset.height
    cells = position.cells()
    own = cells[y, x]

    def cell(steps: int) -> int:
        cx, cy = x + steps * dx, y + steps * dy
        return int(cells[cy, cx]) if 0 <= cx < width and 0 <= cy < height else -1

    length, sides = 1, []
    for sign in (-1, 1):
        at = 1
        while cell(sign * at) == own:
            at += 1
        length += at - 1
        outer, is_blocked = 0, cell(sign * at) != 0
        if not is_blocked:
            while cell(sign * (at + 1 + outer)) == own:
                outer += 1
            is_blocked = outer > 0 and cell(sign * (at + 1 + outer)) != 0
        sides.append((outer, is_blocked))
    if length >= 6:
        return (6,)
    longest = {1: 3, 2: 3, 3: 2}.get(length, 0)
    seen = [(min(outer, longest), blocked and (longest > 0 or outer == 0)) for outer, blocked in sides]
    return (length, *sorted(seen))


def test_there_are_a_hundred_shapes_of_stones() -> None:
    assert len(set(all_shapes())) == 100
    assert CriticInput.STONES.size == 402


@pytest.mark.parametrize("ruleset", RULESETS, ids=str)
def test_counts_of_stones_are_those_of_walking_the_lines(ruleset: Ruleset) -> None:
    shapes = all_shapes()
    for position in random_positions(ruleset, 1)[::3]:
        for view in Colour:
            expected = np.zeros(402)
            turn = 0 if position.to_move is view else 1
            for colour in Colour:
                for point in position.points_of(colour):
                    for dx, dy in DIRECTIONS:
                        shape = shapes.index(shape_of(position, point.x, point.y, dx, dy))
                        expected[4 * shape + (colour is not view)] += 1
            expected[2 + turn : 400 : 4] = 1
            expected[400 + turn] = 1
            row = np.zeros(402)
            indices, amounts = critic_inputs(CriticInput.STONES, position, view)
            row[indices] = amounts
            np.testing.assert_array_equal(row, expected, str(position))


@pytest.mark.parametrize("ruleset", PATTERNS, ids=str)
def test_counts_of_points_are_those_of_the_pattern_board(ruleset: Ruleset) -> None:
    codes = {tuple(shapes): code for code, shapes in enumerate(_native.shape_codes())}
    open_one, kinds = 3, 14
    for position in random_positions(ruleset, 2)[::3]:
        board = _native.PatternBoard(position.native)
        empty = np.flatnonzero(position.cells().ravel() == 0)
        for view, number in ((Colour.BLACK, 0), (Colour.WHITE, 1)):
            expected = np.zeros(CriticInput.POINTS.size)
            for side, colour in enumerate((number, 1 - number)):
                for shapes in board.shapes(colour).reshape(4, -1)[:, empty].T:
                    if max(shapes) > open_one:
                        expected[side * len(codes) + codes[tuple(sorted(int(shape) for shape in shapes))]] += 1
                counts = np.bincount(board.threats().reshape(2, -1)[colour, empty], minlength=kinds)
                first = 2 * len(codes) + side * 2 * kinds
                for level in (0, 1):
                    expected[first + level : first + 2 * kinds : 2] = counts > level
                    expected[first + level] = 0
            row = np.zeros(CriticInput.POINTS.size)
            indices, amounts = critic_inputs(CriticInput.POINTS, position, view)
            row[indices] = amounts
            np.testing.assert_array_equal(row, expected, str(position))


def test_points_are_refused_where_there_are_no_patterns() -> None:
    with pytest.raises(ValueError, match="win lengths 4 and 5"):
        critic_inputs(CriticInput.POINTS, Position.start(Ruleset.parse("3x3:3")), Colour.BLACK)


# -- evaluation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS, ids=str)
@pytest.mark.parametrize("kind", CriticInput)
def test_candidates_are_judged_as_the_positions_they_lead_to(kind: CriticInput, ruleset: Ruleset) -> None:
    if kind is CriticInput.POINTS and ruleset not in PATTERNS:
        return
    critic = make_critic(kind, ruleset)
    for position in random_positions(ruleset, 3, games=2)[::5]:
        judgement = critic.judge(position)
        legal = [point.index(ruleset.width) for point in position.legal_points()]
        stones = np.flatnonzero(position.cells()).tolist()
        near = [index for index in legal if any(_is_next(index, stone, ruleset.width) for stone in stones)]
        centre = [ruleset.height // 2 * ruleset.width + ruleset.width // 2]
        assert judgement.points.tolist() == (near or (legal if position.stones else centre))
        for index, chance in zip(judgement.points.tolist(), judgement.chances, strict=True):
            after = position.play(index)
            if after.outcome in (Outcome.ONGOING, Outcome.DRAW):
                expected = written_out(critic, after, position.to_move) if not after.is_over else 0.5
                assert chance == pytest.approx(expected, abs=1e-5)
            elif after.outcome.winner is position.to_move and position.is_win(index):
                assert chance == 1


def _is_next(a: int, b: int, width: int) -> bool:
    return abs(a % width - b % width) <= 1 and abs(a // width - b // width) <= 1


def test_other_rules_are_refused_and_other_sizes_are_not() -> None:
    critic = make_critic(CriticInput.POINTS, Ruleset.parse("9x9:5"))
    assert critic.judge(Position.from_moves(Ruleset.parse("20x20:5"), "j10")).points.size == 8
    for text in ("9x9:5:renju", "9x9:4"):
        with pytest.raises(RulesetError, match="the critic supports"):
            critic.judge(Position.start(Ruleset.parse(text)))


def test_files_give_back_the_same_critic_and_refuse_others(tmp_path: Path) -> None:
    critic = make_critic(CriticInput.STONES, Ruleset.parse("9x9:5"))
    path = tmp_path / "critic.safetensors"
    path.write_bytes(critic.to_bytes())
    again = load_critic(tmp_path)
    assert (again.config, again.ruleset, again.to_bytes()) == (critic.config, critic.ruleset, critic.to_bytes())
    for damaged in (b"", critic.to_bytes()[:-1], b"\x02" + bytes(7) + b"{}"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"critic\.safetensors is (not a critic|damaged)"):
            load_critic(path)
    with pytest.raises(InputError, match="nor a shipped critic"):
        load_critic("nobody")
    with pytest.raises(InputError, match=r"missing\.safetensors is missing"):
        load_critic(tmp_path / "missing.safetensors")
    with pytest.raises(InputError, match="have shape"):
        Critic(critic.config, critic.ruleset, {})


# -- games ------------------------------------------------------------------------------------------------------------


def replay(games: CriticGames, ruleset: Ruleset) -> list[tuple[Position, Position]]:
    """Yield the positions before and after each move that has values."""
    pairs: list[tuple[Position, Position]] = []
    ends = np.flatnonzero(games.is_last)
    lengths = np.diff(ends, prepend=-1)
    for moves, length, outcome in zip(games.moves, lengths, games.outcomes, strict=True):
        position = Position.from_moves(ruleset, moves.tolist()[: len(moves) - length])
        for move in moves.tolist()[len(moves) - length :]:
            pairs.append((position, position.play(move)))
            position = pairs[-1][1]
        assert position.outcome is outcome
    return pairs


@pytest.mark.parametrize(
    ("kind", "rules", "opponent"),
    [
        (CriticInput.STONES, "5x5:3", None),
        (CriticInput.STONES, "9x9:5:renju", "critic"),
        (CriticInput.POINTS, "6x6:4", "chains"),
        (CriticInput.POINTS, "9x9:5", "critic"),
        (CriticInput.POINTS, "9x9:5", None),
    ],
)
def test_games_record_what_the_critic_sees_and_thinks(kind: CriticInput, rules: str, opponent: str | None) -> None:
    ruleset = Ruleset.parse(rules)
    critic = make_critic(kind, ruleset)
    rival = make_critic(kind, ruleset, seed=1) if opponent == "critic" else opponent
    games = play_games(critic, ruleset, games=4, seed=3, epsilon=0.3, random_stones=3, opponent=rival)
    pairs = replay(games, ruleset)
    assert len(pairs) == len(games)
    views = games.black_values.shape[1]
    explored = 0
    for number, (before, after) in enumerate(pairs):
        judgement = critic.judge(before)
        best = before.play(int(judgement.points[judgement.chances.argmax()]))
        for place in range(views):
            view = Colour.BLACK if games.is_black_view[number, place] else Colour.WHITE
            assert views == 2 or view is before.to_move
            row = number * views + place
            first, last = games.row_starts[row : row + 2]
            for position, value in (
                (after, games.black_values[number, place]),
                (best, games.black_best_values[number, place]),
            ):
                result = {Outcome.BLACK: 1.0, Outcome.WHITE: 0.0, Outcome.DRAW: 0.5}.get(position.outcome)
                if result is None:
                    chance = written_out(critic, position, view)
                    result = chance if view is Colour.BLACK else 1 - chance
                assert value == pytest.approx(result, abs=1e-5)
            if after.is_over:
                assert first == last
            else:
                indices, amounts = critic_inputs(kind, after, view)
                np.testing.assert_array_equal(games.indices[first:last], indices)
                np.testing.assert_array_equal(games.amounts[first:last], amounts)
        explored += best != after
    assert 0 < explored < len(pairs)
    assert games.is_last.sum() == 4


def test_the_same_seed_gives_the_same_games() -> None:
    ruleset = Ruleset.parse("9x9:5")
    critic = make_critic(CriticInput.POINTS, ruleset)
    one, same, other = (
        [
            moves.tolist()
            for moves in play_games(critic, ruleset, games=3, seed=seed, epsilon=0.2, random_stones=4).moves
        ]
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_games_joined_are_the_games_one_after_the_other() -> None:
    ruleset = Ruleset.parse("5x5:4")
    critic = make_critic(CriticInput.STONES, ruleset)
    parts = [play_games(critic, ruleset, games=2, seed=seed, epsilon=0.1, random_stones=1) for seed in (1, 2)]
    joined = CriticGames.concatenate(parts)
    assert len(joined) == len(parts[0]) + len(parts[1])
    rows = [
        part.indices[first:last].tolist()
        for part in parts
        for first, last in itertools.pairwise(part.row_starts.tolist())
    ]
    assert [
        joined.indices[first:last].tolist() for first, last in itertools.pairwise(joined.row_starts.tolist())
    ] == rows


def test_shipped_critics_are_whole_and_have_their_card() -> None:
    for name in critic_names():
        critic = load_critic(name)
        card = json.loads((shipped_folder("models") / name / "card.json").read_text())
        assert card["sha256"] == hashlib.sha256(critic.to_bytes()).hexdigest()
        assert card["ruleset"] == str(critic.ruleset)
