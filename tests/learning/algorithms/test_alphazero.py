"""AlphaZero: losses and their gradients, overfitting a few positions, a run that improves, killed runs."""

from __future__ import annotations

import errno
import io
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from tengen.agents.registry import make_agent
from tengen.arena.match import play_game
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, RunError
from tengen.learning.algorithms.alphazero import Config, Learner, LearnerConfig, compute_losses, train, weigh_losses
from tengen.learning.config import load_config
from tengen.learning.experience.game_source import Generation, LocalSelfPlay
from tengen.learning.experience.replay import Samples
from tengen.learning.experience.warm_start import read_samples
from tengen.learning.learner import StepPrecision
from tengen.learning.run import Run, RunHeader
from tengen.learning.run.guards import GuardConfig, Guards
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import NetConfig, NetKind, NetOutput, build_net
from tengen.nets.evaluators import OnnxEvaluator
from tengen.records import load
from tengen.tuning.engine_games import EngineGamesConfig, generate_games, read_games
from tests.learning.run_helpers import fingerprint
from tests.nets.positions import random_planes

FOUR = Ruleset.parse("4x4:3")
NETS = [NetConfig(kind=NetKind.PLAIN), NetConfig(kind=NetKind.RESIDUAL, channels=16, blocks=2)]


def make_samples(ruleset: Ruleset, count: int, seed: int = 0) -> Samples:
    rng = np.random.default_rng(seed)
    planes = np.unique(random_planes(ruleset, 3 * count, "own-other-last-colour", seed).astype(np.int8), axis=0)[:count]
    policy = rng.dirichlet(np.full(ruleset.area, 0.1), count)
    return Samples(
        planes=planes,
        policy=policy.astype(np.float16),
        value_to_move=rng.uniform(-1, 1, count).astype(np.float32),
        result=rng.choice((-1.0, 0.0, 1.0), count).astype(np.float32),
        reply=rng.integers(-1, ruleset.area, count).astype(np.int16),
        surprise=np.ones(count, np.float32),
    )


@pytest.mark.parametrize("has_chances", [False, True])
def test_gradients_of_the_losses_are_those_of_small_differences(has_chances: bool) -> None:
    samples = make_samples(FOUR, 5)
    config = LearnerConfig(search_share=0.3, soft_policy_weight=1.5, reply_weight=0.7, value_weight=1.2)
    generator = torch.Generator().manual_seed(1)

    def logits(size: int) -> torch.Tensor:
        return torch.randn(5, size, generator=generator, dtype=torch.float64, requires_grad=True)

    def loss(policy: torch.Tensor, value: torch.Tensor, soft: torch.Tensor, reply: torch.Tensor) -> torch.Tensor:
        if has_chances:
            chances = torch.softmax(value, dim=1)
            output = NetOutput(policy, chances[:, 0] - chances[:, 2], value, soft, reply)
        else:
            output = NetOutput(policy, torch.tanh(value[:, 0]))
        return weigh_losses(compute_losses(output, samples, config), config)

    assert torch.autograd.gradcheck(loss, (logits(16), logits(3), logits(16), logits(16)))


def test_value_target_is_result_search_or_a_blend() -> None:
    samples = replace(
        make_samples(FOUR, 1), value_to_move=np.array([0.5], np.float32), result=np.array([-1.0], np.float32)
    )
    output = NetOutput(torch.zeros(1, 16), torch.tensor([0.2]))
    for share, target in ((0.0, -1.0), (1.0, 0.5), (0.5, -0.25)):
        losses = compute_losses(output, samples, LearnerConfig(search_share=share))
        assert float(losses["value"]) == pytest.approx((0.2 - target) ** 2)


@pytest.mark.parametrize("precision", StepPrecision)
@pytest.mark.parametrize("net", NETS, ids=lambda net: str(net.kind))
def test_sixty_four_positions_are_learned_by_heart(net: NetConfig, precision: StepPrecision) -> None:
    samples = make_samples(FOUR, 64)
    config = LearnerConfig(learning_rate=5e-3, search_share=0.0, average=0.9, precision=precision)
    learner = Learner(build_net(net, FOUR), config)
    policy = samples.policy.astype(np.float32)
    entropy = float(-(policy * np.log(np.maximum(policy, 1e-9))).sum(axis=1).mean())
    first = learner.validate(samples)
    for step in range(250):
        learner.step(samples, learner.learning_rate(step / 250))
    last = learner.validate(samples)
    assert first["policy"] - entropy > 1.0
    assert last["policy"] - entropy < 0.05
    assert last["value"] < 0.1


def test_learner_restored_in_the_middle_ends_the_same() -> None:
    batches = [make_samples(FOUR, 16, seed) for seed in range(6)]
    whole, first, second = (Learner(build_net(NETS[1], FOUR), LearnerConfig()) for _ in range(3))
    for batch in batches:
        whole.step(batch, 1e-3)
    for batch in batches[:3]:
        first.step(batch, 1e-3)
    second.restore(first.tensors(), first.steps)
    for batch in batches[3:]:
        second.step(batch, 1e-3)
    for name, tensors in whole.tensors().items():
        for key, tensor in tensors.items():
            assert torch.equal(tensor, second.tensors()[name][key]), (name, key)


def test_an_iteration_can_begin_with_a_fresh_optimizer_and_a_penalty() -> None:
    config = LearnerConfig(fresh_optimizer=True, l2_penalty=0.1)
    first, second = (Learner(build_net(NETS[0], FOUR), config) for _ in range(2))
    first.step(make_samples(FOUR, 16, 1), 1e-3)
    first.begin_iteration()
    second.net.load_state_dict(first.net.state_dict())
    for learner in (first, second):
        learner.step(make_samples(FOUR, 16, 2), 1e-3)
    for name, tensor in second.net.state_dict().items():
        assert torch.equal(tensor, first.net.state_dict()[name]), "the moments of the first step are forgotten"
    (group,) = first._optimizer.param_groups
    assert group["weight_decay"] == pytest.approx(0.2), "the gradient of 0.1 · ‖θ‖² is 0.2 · θ"


def test_guards_stop_on_what_goes_wrong() -> None:
    guards = Guards(GuardConfig(patience=2), Path("runs/one"))
    with pytest.raises(RunError, match=r"value became nan in iteration 3, .* \(--init-from runs.one\)"):
        guards.check_losses({"policy": 1.0, "value": float("nan")}, "in iteration 3")
    with pytest.raises(RunError, match="the replay buffer is empty"):
        guards.check_samples(0, "in iteration 1")
    guards.check_policy(0.001, 50, "in iteration 1")
    guards.check_policy(0.5, 50, "in iteration 2")
    guards.check_policy(0.001, 50, "in iteration 3")
    with pytest.raises(RunError, match=r"policy entropy has been below 0\.02 for 2 iterations \(0\.001"):
        guards.check_policy(0.001, 50, "in iteration 4")


# -- whole runs -------------------------------------------------------------------------------------------------------

TINY = [
    "ruleset=4x4:3",
    "minutes=0",
    "net.planes=own-other-last-colour",
    "net.channels=16",
    "net.blocks=1",
    "search.simulations=12",
    "search.vcf_nodes_leaf=0",
    "search.vcf_nodes_root=0",
    "self_play.games=24",
    "self_play.parallel=12",
    "self_play.first_simulations=8",
    "learner.batch=64",
    "strength.every=0",
]


def begin(folder: Path, *settings: str, seed: int = 1) -> Run:
    config = load_config(Config, "alphazero", "6x6x4", [*TINY, *settings])
    return Run.create(folder, RunHeader(algorithm="alphazero", seed=seed), config)


def go(run: Run) -> None:
    train(run, Progress(Console(quiet=True), "test"))


def test_a_tiny_run_ends_ahead_of_random_and_leaves_what_a_run_needs(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "iterations=12", "strength.every=6", "strength.games=2", "strength.ladder_games=2")
    go(run)
    metrics = run.metrics()
    assert metrics[-1]["losses"]["policy"] < metrics[0]["losses"]["policy"]
    assert [line["iteration"] for line in metrics if "strength" in line] == [6, 12]
    names = {path.name for path in run.folder.iterdir()}
    assert {"config.toml", "model.onnx", "model.safetensors", "losses.png", "strength.svg", "checkpoints"} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)
    assert len(load(run.folder / "games" / "000012.sgf")) >= 24
    points = 0.0
    with make_agent(f'alphazero:run="{run.folder}",simulations=16') as ours, make_agent("random") as other:
        for seed in range(20):
            ours_first = seed % 2 == 0
            result = play_game(FOUR, (ours, other) if ours_first else (other, ours), seed=seed)
            points += 0.5 if result.winner_seat is None else float((result.winner_seat == 0) == ours_first)
    assert points >= 15


def test_a_curve_that_cannot_be_drawn_gives_an_error_message_and_releases_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(tmp_path / "run", "iterations=1")

    def replace_file(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tengen.core.plots.replace_file", replace_file)
    with pytest.raises(InputError, match=r"cannot write .*losses\.png: No space left on device"):
        go(run)
    assert len(run.metrics()) == 1
    assert not run.is_running()


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_same_seed_gives_the_same_run_and_another_seed_another(tmp_path: Path, precision: str) -> None:
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        go(begin(tmp_path / name / "run", "iterations=3", f"self_play.precision={precision}", seed=seed))
    one, same, other = (fingerprint(tmp_path / name / "run") for name in ("one", "same", "other"))
    assert one == same
    assert one["games"] != other["games"]


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[Generation]:
    """What self-play was given, in order."""
    generations: list[Generation] = []
    publish = LocalSelfPlay.publish

    def watch(source: LocalSelfPlay, generation: Generation) -> None:
        generations.append(generation)
        publish(source, generation)

    monkeypatch.setattr(LocalSelfPlay, "publish", watch)
    return generations


def test_self_play_is_int8_from_its_first_games_on(tmp_path: Path, published: list[Generation]) -> None:
    go(begin(tmp_path / "run", "iterations=2", "self_play.precision=int8"))
    assert len(published) == 2
    assert {OnnxEvaluator(generation.model).metadata["precision"] for generation in published} == {"int8"}


@pytest.mark.parametrize(("overlaps", "versions"), [("true", [0, 0, 1]), ("false", [0, 1, 2])])
def test_the_metrics_tell_how_the_games_were_played(
    tmp_path: Path, published: list[Generation], overlaps: str, versions: list[int]
) -> None:
    run = begin(tmp_path / "run", "iterations=3", f"self_play.overlaps={overlaps}")
    go(run)
    simulations = [generation.search.simulations for generation in published]
    assert [line["simulations"] for line in run.metrics()] == simulations == [8, 9, 11]
    assert [generation.version for generation in published] == versions
    staleness = [iteration - version for iteration, version in enumerate(versions)]
    assert [line["self_play"]["staleness"] for line in run.metrics()] == staleness


@pytest.mark.parametrize("damaged", [1, 2])
def test_a_run_with_damaged_checkpoints_ends_like_a_whole_one(tmp_path: Path, damaged: int) -> None:
    # A window of a few iterations, so that the older checkpoint needs positions that the newest does not.
    settings = ("iterations=7", "window.first=50", "window.largest=150", "window.exponent=1.0")
    whole, broken = (begin(tmp_path / name / "run", *settings) for name in ("whole", "broken"))
    go(whole)
    go(broken)
    for iteration in range(8 - damaged, 8):
        weights = broken.folder / "checkpoints" / f"{iteration:06}" / "weights.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])
    shown = io.StringIO()
    train(Run.open(broken.folder), Progress(Console(file=shown, width=1000), "test"))
    assert f"going back to iteration {7 - damaged}\n" in shown.getvalue()
    assert f"resuming after iteration {7 - damaged}, " in shown.getvalue()
    assert fingerprint(broken.folder) == fingerprint(whole.folder)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("replay/000004.npz", "{}", "000004.npz is damaged"),
        ("replay/000004.npz", None, "000004.npz is missing"),
        ("checkpoints/000004/state.json", "{}", "state.json is damaged"),
    ],
)
def test_a_run_with_damaged_positions_or_counters_ends_like_a_whole_one(
    tmp_path: Path, name: str, content: str | None, text: str
) -> None:
    run = begin(tmp_path / "run", "iterations=4", "window.first=50", "window.largest=150", "window.exponent=1.0")
    go(run)
    whole = fingerprint(run.folder)
    if content is None:
        (run.folder / name).unlink()
    else:
        (run.folder / name).write_text(content)
    shown = io.StringIO()
    train(Run.open(run.folder), Progress(Console(file=shown, width=1000), "test"))
    assert text in shown.getvalue()
    assert "going back to iteration 3\n" in shown.getvalue()
    assert fingerprint(run.folder) == whole


def test_positions_that_every_checkpoint_needs_cannot_be_replaced(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "iterations=4")
    go(run)
    (run.folder / "replay" / "000001.npz").unlink()
    with pytest.raises(RunError, match=r"all checkpoints in .* are damaged: .*000001\.npz is missing.*--init-from"):
        go(Run.open(run.folder))
    assert len(run.metrics()) == 4


def test_a_run_that_gets_more_iterations_goes_on_as_if_it_had_always_had_them(tmp_path: Path) -> None:
    even = ("self_play.first_simulations=0", "learner.final_learning_rate=2e-3")
    long, short = (begin(tmp_path / name / "run", f"iterations={name}", *even) for name in ("4", "2"))
    go(long)
    go(short)
    config = short.folder / "config.toml"
    config.write_text(config.read_text().replace("iterations = 2\n", "iterations = 4\n"))
    go(Run.open(short.folder))
    assert fingerprint(short.folder) == fingerprint(long.folder)


MEASURED = ("strength.every=1", "strength.games=2", "strength.ladder_games=2", "strength.opponents=['rule-based']")


def test_strength_is_that_of_the_player_that_the_settings_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def watch(text: str) -> Agent:
        made.append(text)
        return make_agent(text)

    monkeypatch.setattr("tengen.learning.run.loop.make_agent", watch)
    go(begin(tmp_path / "run", "iterations=1", *MEASURED, "strength.player=preset=zero9"))
    assert made == [f'alphazero:run="{tmp_path / "run"}",preset=zero9']


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("strength.player=preset=zero", r"strength\.player = 'preset=zero': .*one of best, zero9, .*alphagomoku8"),
        ("strength.anchor=alphabeta:nodes=30,hash-mb=2", r"the anchor alphabeta.* does not play 4x4:3:freestyle"),
    ],
)
def test_strength_that_cannot_be_measured_is_refused_before_any_work(
    tmp_path: Path, setting: str, message: str
) -> None:
    run = begin(tmp_path / "run", "iterations=1", "strength.every=1", setting)
    with pytest.raises(InputError, match=message):
        go(run)
    assert run.is_untouched()


KILLS = 5
# Continues a run and kills itself some time after one file has appeared, at the latest when another one appears. The
# process kills itself because a watcher outside might react too late.
RUN_AND_DIE = """
import os, signal, sys, threading, time
from pathlib import Path
from rich.console import Console
from tengen.learning.algorithms.alphazero import train
from tengen.learning.run.progress import Progress
from tengen.learning.run import Run

folder, first, last, seconds = Path(sys.argv[1]), *sys.argv[2:4], float(sys.argv[4])

def die():
    while not (folder / first).exists():
        time.sleep(0.001)
    moment = time.monotonic() + seconds
    while time.monotonic() < moment and not (folder / last).exists():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)

threading.Thread(target=die, daemon=True).start()
train(Run.open(folder), Progress(Console(quiet=True), "test"))
"""


def newest_checkpoint(folder: Path) -> int:
    return max((int(path.name) for path in (folder / "checkpoints").glob("[0-9]*")), default=0)


def test_a_run_killed_at_random_moments_ends_like_an_unbroken_one(tmp_path: Path) -> None:
    # A kill costs at most two iterations, so some must be left at the end.
    iterations = 2 * KILLS + 2
    settings = (f"iterations={iterations}",)
    whole = begin(tmp_path / "whole" / "run", *settings)
    go(whole)
    first, *_, last = (line["seconds"] for line in whole.metrics())
    folder = begin(tmp_path / "killed" / "run", *settings).folder
    rng = random.Random(5)
    for kill in range(KILLS):
        done = newest_checkpoint(folder)
        # The first kill happens before the first checkpoint, the others in the iteration after a new checkpoint.
        files = (f"checkpoints/{done + 1:06}" if kill else "games/000001.sgf", f"checkpoints/{done + 2:06}")
        seconds = rng.uniform(0.0, (last - first) / (iterations - 1))
        command = [sys.executable, "-c", RUN_AND_DIE, str(folder), *files, str(seconds)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        assert newest_checkpoint(folder) > done or not kill
    assert newest_checkpoint(folder) < iterations
    go(Run.open(folder))
    assert fingerprint(folder) == fingerprint(whole.folder)


def test_a_warm_start_learns_the_moves_of_the_engine(tmp_path: Path) -> None:
    ruleset = Ruleset.parse("5x5:4")
    games = tmp_path / "games.jsonl"
    generate_games(games, EngineGamesConfig(ruleset=ruleset, games=6, nodes=50))
    settings = ("ruleset=5x5:4", f"warm_start.games={games}", "warm_start.epochs=200", "iterations=1")
    run = begin(tmp_path / "run", *settings)
    go(run)
    samples = read_samples(games, ruleset, "own-other-last-colour")
    with make_agent(f'policy:run="{run.folder}"') as agent:
        right = 0
        for game in read_games(games):
            for place in range(game.first, len(game.moves)):
                position = Position.from_moves(ruleset, game.moves[:place])
                right += agent.choose(position, Limits()).move.index(5) == game.moves[place]
    assert right > 0.25 * len(samples)  # by chance, one in fifteen or so
    with pytest.raises(InputError, match=r"has the ruleset 5x5:4:freestyle, not 6x6:4:freestyle"):
        read_samples(games, Ruleset.parse("6x6:4"), "own-other-last-colour")
