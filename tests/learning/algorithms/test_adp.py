"""ADP: returns against a slow reference, gradients, overfitting a few games, runs that improve, resumed runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from tengen.agents.registry import make_agent
from tengen.arena.match import play_game
from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, RunError
from tengen.learning.algorithms.adp import (
    Config,
    CriticNet,
    CriticPlayConfig,
    CriticPool,
    CriticSamples,
    Learner,
    LearnerConfig,
    Loss,
    compute_loss,
    lambda_returns,
    make_samples,
    plan_games,
    train,
)
from tengen.learning.config import load_config, preset_names
from tengen.learning.run import Run, RunHeader
from tengen.learning.run.progress import Progress
from tengen.learning.shipping import ship_run
from tengen.search.critic import Activation, CriticConfig, CriticInput, critic_inputs, load_critic
from tengen.search.critic_games import play_games

SMALL = CriticConfig(input=CriticInput.STONES, hidden=8, activation=Activation.SIGMOID, radius=1)
FIVE = Ruleset.parse("5x5:4")


# -- targets ----------------------------------------------------------------------------------------------------------


def slow_return(values: list[float], best: list[float], at: int, config: LearnerConfig) -> float:
    """Compute the return of one position of one game from its definition."""

    def look_ahead(place: int, steps: int) -> float:
        if steps == 0 or place == len(values) - 1:
            return values[place]
        if config.cuts and best[place + 1] != values[place + 1]:
            return best[place + 1]
        return (1 - config.trace) * values[place + 1] + config.trace * look_ahead(place + 1, steps - 1)

    return look_ahead(at, config.steps or len(values))


@pytest.mark.parametrize("trace", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("cuts", [False, True])
def test_returns_are_those_of_the_definition(trace: float, steps: int, cuts: bool) -> None:
    config = LearnerConfig(trace=trace, steps=steps, cuts=cuts)
    rng = np.random.default_rng(1)
    lengths = (1, 7, 4)
    values = rng.random((sum(lengths), 2)).astype(np.float32)
    best = np.where(rng.random(values.shape) < 0.3, rng.random(values.shape), values).astype(np.float32)
    is_last = np.zeros(len(values), np.bool_)
    is_last[np.cumsum(lengths) - 1] = True
    returns = lambda_returns(values, best, is_last, config)
    start = 0
    for length in lengths:
        for at in range(length):
            for view in range(2):
                game = slice(start, start + length)
                expected = slow_return(values[game, view].tolist(), best[game, view].tolist(), at, config)
                assert returns[start + at, view] == pytest.approx(expected, abs=1e-6)
        start += length


def test_one_step_is_the_next_value_and_a_full_trace_the_result() -> None:
    values = np.array([[0.2], [0.4], [0.7], [1.0]], np.float32)
    is_last = np.array([False, False, False, True])
    for config, expected in (
        (LearnerConfig(trace=0.0), [0.4, 0.7, 1.0, 1.0]),
        (LearnerConfig(trace=1.0), [1.0, 1.0, 1.0, 1.0]),
        (LearnerConfig(trace=1.0, steps=2), [0.7, 1.0, 1.0, 1.0]),
    ):
        np.testing.assert_allclose(lambda_returns(values, values, is_last, config).ravel(), expected)


def test_targets_are_for_the_colour_that_sees_the_position() -> None:
    critic = CriticNet(SMALL, 1).critic(FIVE)
    games = play_games(critic, FIVE, games=5, seed=1, epsilon=0.2, random_stones=1)
    config = LearnerConfig(trace=1.0, cuts=False)
    samples = make_samples(games, config)
    results = {"black": 1.0, "white": 0.0, "draw": 0.5}
    expected = [
        results[outcome] if view == 0 else 1 - results[outcome]
        for outcome, length in zip(games.outcomes, np.diff(np.flatnonzero(games.is_last), prepend=-1), strict=True)
        for _ in range(length - 1)
        for view in range(2)
    ]
    assert samples.targets.tolist() == expected


# -- the critic -------------------------------------------------------------------------------------------------------


def some_samples(kind: CriticInput, ruleset: Ruleset, seed: int = 1) -> tuple[CriticNet, CriticSamples]:
    config = CriticConfig(input=kind, hidden=8, radius=1)
    net = CriticNet(config, seed)
    games = play_games(net.critic(ruleset), ruleset, games=6, seed=seed, epsilon=0.3, random_stones=2)
    return net, make_samples(games, LearnerConfig())


@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("activation", Activation)
def test_gradients_are_those_of_small_differences(loss: Loss, activation: Activation) -> None:
    _, samples = some_samples(CriticInput.STONES, FIVE)
    net = CriticNet(CriticConfig(input=CriticInput.STONES, hidden=8, activation=activation), 2).double()
    *inputs, targets = samples.batch(np.arange(6))
    inputs[2], targets = inputs[2].double(), targets.double()
    compute_loss(net(*inputs), targets, loss).backward()
    used = int(inputs[0][0])
    for parameter, place in (
        (net.weights, (used, 3)),
        (net.biases, (2,)),
        (net.output_weights, (5,)),
        (net.output_bias, (0,)),
    ):
        assert parameter.grad is not None
        with torch.no_grad():
            step = 1e-6
            parameter[place] += step
            above = float(compute_loss(net(*inputs), targets, loss))
            parameter[place] -= 2 * step
            below = float(compute_loss(net(*inputs), targets, loss))
            parameter[place] += step
        assert float(parameter.grad[place]) == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("kind", CriticInput)
def test_torch_and_native_code_compute_the_same(kind: CriticInput) -> None:
    net, _ = some_samples(kind, FIVE)
    position = Position.from_moves(FIVE, "c3b2d4")
    judgement = net.critic(FIVE).judge(position)
    for index, chance in zip(judgement.points.tolist(), judgement.chances, strict=True):
        indices, amounts = critic_inputs(kind, position.play(index), Colour.WHITE)
        with torch.no_grad():
            logit = net(torch.from_numpy(indices).long(), torch.tensor([0]), torch.from_numpy(amounts))
        assert float(torch.sigmoid(logit)) == pytest.approx(chance, abs=1e-6)


def test_a_few_games_are_learned_by_heart() -> None:
    net, samples = some_samples(CriticInput.POINTS, FIVE)
    learner = Learner(net, LearnerConfig(learning_rate=0.02, final_learning_rate=0.02, loss=Loss.SQUARED))
    rows = np.arange(len(samples))
    losses = [learner.step(samples, rows, 0.0) for _ in range(200)]
    assert losses[-1] < 0.05 * losses[0]


def test_games_are_shared_among_opponents_and_actors() -> None:
    config = CriticPlayConfig(
        games=100, actors=2, opponents=("chains", "random"), opponents_share=0.4, pool=2, pool_share=0.2, pool_every=3
    )
    pool = CriticPool(config, SMALL, FIVE)
    rng = np.random.default_rng(1)
    assert sum(task.games for task in plan_games(config, pool, rng) if task.opponent is None) == 60
    critics = [CriticNet(SMALL, seed).critic(FIVE) for seed in range(9)]
    for iteration, critic in enumerate(critics, start=1):
        pool.add_if_due(critic, iteration)
    assert pool.critics == [critics[5], critics[8]]
    again = CriticPool(config, SMALL, FIVE)
    again.restore(pool.tensors())
    assert [critic.to_bytes() for critic in again.critics] == [critic.to_bytes() for critic in pool.critics]
    tasks = plan_games(config, pool, rng)
    by_opponent = {name: [task.games for task in tasks if task.opponent == name] for name in ("chains", "random", None)}
    assert by_opponent == {"chains": [10, 10], "random": [10, 10], None: [20, 20]}
    assert sum(task.games for task in tasks) == 100
    assert len({task.seed for task in tasks}) == len(tasks)


# -- whole runs -------------------------------------------------------------------------------------------------------

TINY = ("strength.every=0", "minutes=0", "cpu_minutes=0", "self_play.games=32", "self_play.random_stones=2")


def begin(folder: Path, preset: str, *settings: str, seed: int = 1) -> Run:
    config = load_config(Config, "adp", preset, [*TINY, *settings])
    return Run.create(folder, RunHeader(algorithm="adp", seed=seed), config)


def go(run: Run) -> None:
    train(run, Progress(Console(quiet=True), "test"))


def points_against_random(folder: Path, ruleset: Ruleset, games: int) -> float:
    points = 0.0
    with make_agent(f'adp:run="{folder}"') as ours, make_agent("random") as other:
        for seed in range(games):
            ours_first = seed % 2 == 0
            result = play_game(ruleset, (ours, other) if ours_first else (other, ours), seed=seed)
            points += 0.5 if result.winner_seat is None else float((result.winner_seat == 0) == ours_first)
    return points


@pytest.mark.parametrize(("preset", "rules"), [("fudan", "3x3:3"), ("15x15", "5x5:4")])
def test_a_tiny_run_ends_ahead_of_random(preset: str, rules: str, tmp_path: Path) -> None:
    run = begin(
        tmp_path / "run",
        preset,
        f"ruleset={rules}",
        "iterations=30",
        "strength.every=15",
        "strength.games=2",
        "strength.ladder_games=2",
        "strength.opponents=['random', 'chains']",
        "strength.anchor=random",
    )
    go(run)
    assert [line["iteration"] for line in run.metrics() if "strength" in line] == [15, 30]
    names = {path.name for path in run.folder.iterdir()}
    assert {"config.toml", "critic.safetensors", "losses.png", "strength.svg", "checkpoints"} <= names
    assert points_against_random(run.folder, Ruleset.parse(rules), 40) >= 30


class _Breaking(Progress):
    """Interrupts the run in the middle of an iteration."""

    def __init__(self, at: int) -> None:
        super().__init__(Console(quiet=True), "test")
        self._left = at

    def update(self, fraction: float, seconds_left: float | None, text: str) -> None:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt


def fingerprint(run: Run) -> tuple[list[dict[str, object]], bytes]:
    clock = ("seconds", "cpu_seconds")
    metrics = [{key: value for key, value in line.items() if key not in clock} for line in run.metrics()]
    return metrics, (run.folder / "critic.safetensors").read_bytes()


def test_a_run_that_is_broken_off_ends_like_an_unbroken_one(tmp_path: Path) -> None:
    settings = ("ruleset=5x5:4", "iterations=6", "self_play.pool_every=2", "self_play.actors=2")
    whole, broken = (begin(tmp_path / name, "15x15", *settings) for name in ("whole", "broken"))
    go(whole)
    for at in (2, 3):
        with pytest.raises(KeyboardInterrupt):
            train(Run.open(broken.folder), _Breaking(at))
    go(Run.open(broken.folder))
    assert fingerprint(broken) == fingerprint(whole)
    other = begin(tmp_path / "other", "15x15", *settings, seed=2)
    go(other)
    assert fingerprint(other) != fingerprint(whole)


def test_a_run_begins_with_another_critic_of_the_same_form(tmp_path: Path) -> None:
    go(begin(tmp_path / "first", "15x15", "ruleset=5x5:4", "iterations=1"))
    source = f'init_from="{tmp_path / "first"}"'
    still = ("learner.learning_rate=0", "learner.final_learning_rate=0")
    go(begin(tmp_path / "second", "15x15", "ruleset=6x6:4", "iterations=1", source, *still))
    before, after = (make_agent(f'adp:run="{tmp_path / name}"') for name in ("first", "second"))
    position = Position.from_moves(FIVE, "c3b2")
    assert before.choose(position, Limits()) == after.choose(position, Limits())
    with pytest.raises(InputError, match="different shapes"):
        go(begin(tmp_path / "third", "15x15", "ruleset=6x6:4", source, "critic.hidden=8"))


def test_a_run_stops_on_nan_or_infinite_values(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="value became"):
        go(begin(tmp_path / "run", "15x15", "ruleset=5x5:4", "iterations=9", "learner.learning_rate=1e30"))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("ruleset=3x3:3", "win length of 4 or 5"),
        ("self_play.opponents=['nobody']", "is not a simple player"),
        ("self_play.random_stones=9", "random_stones=9 is outside the range 0–8"),
        ("self_play.opponents_share=0.9", "is above 1"),
        ("learner.trace=1.5", "trace"),
        ("learner.learning_rate=-1", r"learning_rate must be finite and at least 0, not -1\.0"),
        ("learner.threads=0", "threads must be finite and at least 1, not 0"),
        ("critic.hidden=9", "multiple of 8"),
        ("learner.lambda=0.5", "lambda"),
    ],
)
def test_configurations_that_make_no_sense_are_refused(setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_config(Config, "adp", "15x15", [setting])


def test_every_preset_can_be_read() -> None:
    for name in preset_names("adp"):
        assert load_config(Config, "adp", name).iterations > 0


def test_a_run_is_shipped_with_its_card(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "15x15", "ruleset=5x5:4", "iterations=1")
    go(run)
    target = tmp_path / "small"
    ship_run(run, target, "tengen train adp")
    files = {"critic.safetensors", "card.json", "card.md", "losses.svg", "metrics.jsonl"}
    assert {path.name for path in target.iterdir()} == files
    assert "adp:model=small" in (target / "card.md").read_text()
    assert load_critic(target).to_bytes() == load_critic(run.folder).to_bytes()
