"""Evolution: the strategy on functions with a known maximum, and whole runs on small boards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from tengen.agents.registry import make_agent
from tengen.arena.match import play_game
from tengen.core.contracts import Ruleset
from tengen.errors import InputError, RunError
from tengen.learning.algorithms.evolution import (
    Config,
    Evaluation,
    LearnerConfig,
    Strategy,
    choose_best,
    rank_utilities,
    read_weights,
    train,
    write_weights,
)
from tengen.learning.config import load_config, preset_names
from tengen.learning.run import Run, RunHeader
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import NetConfig, NetKind, NetOutput, build_net, count_weights, load_net
from tests.learning.run_helpers import fingerprint, go_with_a_break

FOUR = Ruleset.parse("4x4:3")


# -- strategy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("antithetic", [True, False])
def test_the_strategy_finds_the_top_of_a_stretched_bowl(antithetic: bool) -> None:
    target = np.linspace(-2.0, 2.0, 12)
    stretch = np.logspace(0, 3, 12)
    strategy = Strategy(np.zeros(12), LearnerConfig(antithetic=antithetic, deviation=1.0))
    rng = np.random.default_rng(1)
    for _ in range(800):
        noise = strategy.draw(rng)
        strategy.update(noise, -(((strategy.candidates(noise) - target) ** 2) @ stretch))
    np.testing.assert_allclose(strategy.mean, target, atol=1e-3)
    assert strategy.deviation.max() < 1e-2


def test_the_strategy_sees_through_noise() -> None:
    strategy = Strategy(np.full(8, 1.5), LearnerConfig(population=20, deviation=0.5, deviation_rate=0.05))
    rng = np.random.default_rng(2)
    for _ in range(300):
        noise = strategy.draw(rng)
        wins = 1 / (1 + np.square(strategy.candidates(noise)).sum(axis=1))  # the chance to win a game
        strategy.update(noise, rng.binomial(30, wins).astype(np.float64))
    assert float(np.square(strategy.mean).sum()) < 1.0  # from 18


def test_the_usual_sizes_are_those_of_the_paper() -> None:
    assert Strategy(np.zeros(140), LearnerConfig()).population == 18
    noise = Strategy(np.zeros(5), LearnerConfig(population=6)).draw(np.random.default_rng(1))
    np.testing.assert_array_equal(noise[:3], -noise[3:])


def test_utilities_depend_on_ranks_alone_and_equals_share() -> None:
    utilities = rank_utilities(np.array([0.1, 0.9, 0.5, 0.2]))
    np.testing.assert_array_equal(utilities, rank_utilities(np.array([-7.0, 100.0, 2.0, 0.0])))
    assert utilities.sum() == pytest.approx(0)
    raw = np.log(3) - np.log([1, 2])
    assert utilities[1] == pytest.approx(raw[0] / raw.sum() - 0.25)
    assert utilities[0] == utilities[3] == pytest.approx(-0.25)
    np.testing.assert_allclose(rank_utilities(np.full(6, 0.5)), 0, atol=1e-15)
    tied = rank_utilities(np.array([1.0, 0.0, 1.0, 0.0]))
    np.testing.assert_allclose(tied, [0.25, -0.25, 0.25, -0.25])


# -- candidates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [NetKind.MDRNN, NetKind.RESIDUAL])
def test_weights_of_any_network_are_one_row_and_back(kind: NetKind) -> None:
    config = NetConfig(kind=kind, planes="own-other", channels=4, blocks=1)
    one, other = (build_net(config, FOUR, seed=seed) for seed in (1, 2))
    other.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    row = read_weights(one)
    assert row.shape == (count_weights(one),)
    write_weights(other, row)
    planes = torch.rand(3, 2, 4, 4)
    torch.testing.assert_close(one(planes).policy_logits, other(planes).policy_logits)
    np.testing.assert_array_equal(read_weights(other), row)


def test_the_best_move_is_a_legal_one() -> None:
    output = NetOutput(torch.tensor([[0.0, 1.0, 5.0]]), torch.zeros(1))
    assert choose_best(output, torch.tensor([[True, True, False]]))[0].tolist() == [1]


@pytest.mark.parametrize("moves", ["best", "drawn"])
def test_the_same_weights_play_the_same_games_of_a_seed(moves: str) -> None:
    config = load_config(Config, "evolution", None, ["ruleset=4x4:3", f"moves={moves}", *TINY])
    one, other, past = (build_net(config.net, FOUR, seed=seed) for seed in (1, 2, 3))
    evaluation = Evaluation(one, config)
    weights, others = 4 * read_weights(one), 4 * read_weights(other)
    games = []
    for row, seed in ((weights, 5), (others, 5), (weights, 5), (weights, 6)):
        evaluation.play(row, past, seed)
        games.append(evaluation.player.games(config.play.games)[0])
    assert games[0] == games[2] != games[1]
    assert games[0] != games[3]
    openings = [
        [game[0] for game in played] for played in games[:2]
    ]  # a random stone, or the first move of the simple player
    assert sum(one == other for one, other in zip(*openings, strict=True)) > len(openings[0]) / 3


# -- whole runs -------------------------------------------------------------------------------------------------------

TINY = ("net.kind=mdrnn", "net.planes=own-other", "net.channels=4", "play.games=12", "play.opening_moves=1",
        "play.opponents=['random', 'naive:level=1', 'past']", "pool.every=2", "learner.deviation=0.5",
        "learner.population=6", "generations=2", "iterations=4", "strength.every=0")  # fmt: skip


def begin(folder: Path, *settings: str, seed: int = 1) -> Run:
    config = load_config(Config, "evolution", None, ["ruleset=4x4:3", *TINY, *settings])
    return Run.create(folder, RunHeader(algorithm="evolution", seed=seed), config)


def go(run: Run) -> None:
    train(run, Progress(Console(quiet=True), "test"))


def points_against_random(agent_text: str, ruleset: Ruleset, games: int) -> float:
    """Return the mean points per game with both colours."""
    points = 0.0
    with make_agent(agent_text) as ours, make_agent("random") as other:
        for seed in range(games):
            ours_first = seed % 2 == 0
            result = play_game(ruleset, (ours, other) if ours_first else (other, ours), seed=seed)
            points += 0.5 if result.winner_seat is None else float((result.winner_seat == 0) == ours_first)
    return points / games


def test_a_tiny_run_ends_ahead_of_random_and_leaves_what_a_run_needs(tmp_path: Path) -> None:
    strength = ("strength.every=2", "strength.games=2", "strength.ladder_games=2", "strength.opponents=['random']",
                "strength.anchor=random")  # fmt: skip
    play = ("ruleset=5x5:4", "play.opponents=['random']", "play.games=16", "learner.population=10")
    run = begin(tmp_path / "run", *strength, *play)
    go(run)
    metrics = run.metrics()
    assert [line["iteration"] for line in metrics if "strength" in line] == [2, 4]
    assert metrics[-1]["games"] == 4 * 2 * 10 * 16
    assert metrics[-1]["losses"]["population"] < metrics[0]["losses"]["population"]
    names = {path.name for path in run.folder.iterdir()}
    assert {"config.toml", "model.onnx", "model.safetensors", "losses.png", "strength.svg", "checkpoints"} <= names
    assert points_against_random(f'evolution:run="{run.folder}"', Ruleset.parse("5x5:4"), 40) > 0.7


def test_the_same_seed_gives_the_same_run(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        go(begin(tmp_path / name / "run", "iterations=2", seed=seed))
    one, same, other = (fingerprint(tmp_path / name / "run") for name in ("one", "same", "other"))
    assert one == same
    assert one["model"] != other["model"]


@pytest.mark.parametrize("moves", ["best", "drawn"])
def test_a_run_stopped_in_the_middle_ends_like_an_unbroken_one(
    moves: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = (begin(tmp_path / name / "run", f"moves={moves}") for name in ("whole", "broken"))
    go(whole)
    go_with_a_break(broken, go, 3, monkeypatch)
    assert fingerprint(broken.folder) == fingerprint(whole.folder)


def test_a_run_begins_with_the_weights_of_another_network(tmp_path: Path) -> None:
    net = ("net.kind=gated-mdrnn", "net.planes=threats-last", "net.channels=16", "net.blocks=2", "ruleset=5x5:4")
    settings = (*net, "init_from=mdrnn-15x15", "learner.deviation=1e-9", "iterations=1", "generations=1")
    run = begin(tmp_path / "run", *settings)
    go(run)
    shipped = load_net(Path("models/mdrnn-15x15/model.safetensors"))[0]
    np.testing.assert_allclose(read_weights(load_net(run.folder / "model.safetensors")[0]), read_weights(shipped))


def test_nan_weights_stop_the_run(tmp_path: Path) -> None:
    refused = pytest.raises(RunError, match=r"the mean deviation became .* lower learner\.deviation_rate")
    with refused, np.errstate(all="ignore"):
        go(begin(tmp_path / "run", "learner.deviation_rate=1e5"))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("learner.population=7", "population=7 must be"),
        ("learner.population=2", "population=2 must be"),
        ("learner.deviation=0", "deviation must be finite and above 0, not 0"),
        ("learner.mean_rate=-1", "mean_rate must be finite and above 0, not -1.0"),
        ("generations=0", "generations must be finite and at least 1, not 0"),
        ("play.opponents=['self', 'past']", "remove self from play.opponents"),
        ("play.opponents=['nobody']", "unknown opponent 'nobody'"),
        ("moves=worst", "worst"),
        ("learner.poplation=10", "did you mean 'population'"),
        ("net.planes=nothing", "nothing"),
    ],
)
def test_settings_that_make_no_sense_are_refused(setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_config(Config, "evolution", None, ["ruleset=9x9", setting])
    assert load_config(Config, "evolution", None, ["ruleset=9x9", "learner.antithetic=false", "learner.population=7"])


def test_the_preset_evolves_the_network_of_the_paper() -> None:
    assert preset_names("evolution") == ("9x9-mdrnn",)
    config = load_config(Config, "evolution", "9x9-mdrnn")
    assert count_weights(build_net(config.net, config.ruleset)) == 140
