"""Policy gradient, PPO and DQN: gradients of their losses, the papers' formulas, and whole runs on 3×3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from tengen.agents.registry import make_agent
from tengen.arena.match import play_game
from tengen.core.contracts import Limits, Outcome, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentNameError, InputError, RunError
from tengen.learning.algorithms import dqn, policy_gradient, ppo
from tengen.learning.config import load_config, preset_names
from tengen.learning.experience.episodes import (
    Colours,
    EpisodePlayer,
    FullBoard,
    PlayConfig,
    discounted_returns,
    greedy_policy,
    sample_policy,
    standardised_returns,
)
from tengen.learning.run import Run, RunHeader
from tengen.learning.run.guards import GuardConfig
from tengen.learning.run.loop import Loop
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import NetConfig, NetKind, NetOutput, build_net, count_weights, load_net
from tengen.nets.export import export_onnx
from tengen.nets.models import load_evaluator
from tests.learning.run_helpers import fingerprint, go_with_a_break

THREE = Ruleset.parse("3x3:3")
ALGORITHMS: dict[str, Any] = {"pg": policy_gradient, "ppo": ppo, "dqn": dqn}


# -- losses -----------------------------------------------------------------------------------------------------------


def toy(rows: int = 6, area: int = 9) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    legal = torch.rand(rows, area, generator=generator) < 0.7
    legal[:, 0] = True
    actions = torch.rand(rows, area, generator=generator).masked_fill(~legal, -1).argmax(dim=1)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)

    return {
        "logits": numbers(rows, area),
        "values": numbers(rows),
        "legal": legal,
        "actions": actions,
        "advantages": numbers(rows).detach(),
        "targets": numbers(rows).detach(),
        "log_probs": -2 + 0.3 * numbers(rows).detach(),
    }


def test_gradients_of_the_policy_gradient_are_those_of_small_differences() -> None:
    t = toy()
    config = policy_gradient.LearnerConfig(credit=policy_gradient.Credit.GAE, value_weight=0.7, entropy_weight=0.3)

    def loss(logits: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        output = NetOutput(logits, torch.tanh(values))
        losses = policy_gradient.compute_losses(output, t["legal"], t["actions"], t["advantages"], t["targets"])
        return policy_gradient.weigh_losses(losses, config)

    assert torch.autograd.gradcheck(loss, (t["logits"], t["values"]))


def test_the_gradient_of_pg9_is_the_action_minus_the_probabilities() -> None:
    t = toy(rows=1)
    everything = torch.ones_like(t["legal"])
    output = NetOutput(t["logits"], torch.zeros(1, dtype=torch.float64))
    losses = policy_gradient.compute_losses(output, everything, t["actions"], t["advantages"], t["targets"])
    policy_gradient.weigh_losses(losses, policy_gradient.LearnerConfig()).backward()
    action = torch.nn.functional.one_hot(t["actions"], 9)
    expected = -(action - torch.softmax(t["logits"], dim=1)) * t["advantages"][:, None]
    torch.testing.assert_close(t["logits"].grad, expected.detach())


def ppo_batch(t: dict[str, torch.Tensor]) -> ppo.Rollout:
    names = ("legal", "actions", "log_probs", "advantages", "targets")
    return ppo.Rollout(torch.zeros(len(t["actions"])), *(t[name] for name in names))


def test_gradients_of_ppo_are_those_of_small_differences() -> None:
    t = toy()
    config = ppo.LearnerConfig(entropy_weight=0.2)

    def loss(logits: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        losses = ppo.compute_losses(NetOutput(logits, torch.tanh(values)), ppo_batch(t), 0.2)
        return ppo.weigh_losses(losses, config, 0.25)

    assert torch.autograd.gradcheck(loss, (t["logits"], t["values"]))


def test_losses_of_ppo_are_those_of_sb3_contrib() -> None:
    """Uses MaskablePPO's distribution class, and the loss formulas of `MaskablePPO.train`."""
    from sb3_contrib.common.maskable.distributions import MaskableCategorical

    t = toy(rows=64)
    output = NetOutput(t["logits"].detach().float(), torch.tanh(t["values"].detach().float()))
    batch = ppo_batch({name: x.detach().float() if x.is_floating_point() else x for name, x in t.items()})
    losses = ppo.compute_losses(output, batch, 0.2)
    distribution = MaskableCategorical(logits=output.policy_logits, masks=batch.legal)
    ratio = torch.exp(distribution.log_prob(batch.actions) - batch.log_probs)
    first, second = batch.advantages * ratio, batch.advantages * torch.clamp(ratio, 0.8, 1.2)
    assert bool((first != second).any())
    torch.testing.assert_close(losses["policy"], -torch.min(first, second).mean())
    torch.testing.assert_close(losses["entropy"], distribution.entropy().mean())
    torch.testing.assert_close(losses["value"], torch.nn.functional.mse_loss(batch.targets, output.value_to_move))


def test_gradients_of_dqn_are_those_of_small_differences() -> None:
    t = toy()

    def loss(logits: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return dqn.q_loss(NetOutput(logits, torch.tanh(values)), t["legal"], t["actions"], t["targets"])

    assert torch.autograd.gradcheck(loss, (t["logits"], t["values"]))


def test_the_best_q_is_the_value_and_illegal_moves_have_none() -> None:
    t = toy()
    q = dqn.q_values(NetOutput(t["logits"], t["values"]), t["legal"])
    torch.testing.assert_close(q.amax(dim=1), t["values"])
    assert bool((q[~t["legal"]] == -torch.inf).all())


def test_double_values_take_the_move_of_one_network_and_the_value_of_the_other() -> None:
    online = NetOutput(torch.tensor([[0.0, 1.0, 5.0]]), torch.tensor([0.0]))
    target = NetOutput(torch.tensor([[2.0, 0.5, 9.0]]), torch.tensor([0.25]))
    legal = torch.tensor([[True, True, False]])
    torch.testing.assert_close(dqn.double_values(online, target, legal), torch.tensor([0.25 + 0.5 - 2.0]))


def test_targets_of_dqn_look_ahead_with_the_sign_of_who_moves() -> None:
    net = build_net(NetConfig(kind=NetKind.DENSE, planes="board", channels=8), THREE)
    player = EpisodePlayer(THREE, "board", PlayConfig(games=30, opponents=("self", "naive:level=0")))
    rows = player.play(net, None, sample_policy(torch.Generator().manual_seed(1)), np.random.default_rng(1))
    made = dqn.make_transitions(rows, 3, 0.9)
    signs = rows.next_sign.tolist()
    for row in range(len(made)):
        sign, place = 1.0, row
        while place < row + 3 and signs[place] != 0:
            sign *= signs[place]
            place += 1
        if place == row + 3:
            assert (made.reward[row], made.ahead[row]) == (0, 3)
            assert made.bootstrap[row] == pytest.approx(sign * 0.9**3)
        else:
            assert (made.bootstrap[row], made.ahead[row]) == (0, 0)
            assert made.reward[row] == pytest.approx(float(rows.results[row]) * 0.9 ** (place - row))


# -- pg9 --------------------------------------------------------------------------------------------------------------


def test_the_network_of_pg9_has_no_biases_and_can_resign() -> None:
    config = load_config(policy_gradient.Config, "pg", "pg9")
    net = build_net(config.net, config.ruleset)
    assert count_weights(net) == 81 * 500 + 500 * 82
    output = net(torch.zeros(1, 1, 9, 9))
    torch.testing.assert_close(output.policy_logits, torch.zeros(1, 81))
    torch.testing.assert_close(output.resign_logit, torch.zeros(1))


def test_a_network_that_can_resign_is_exported_without_that_output(tmp_path: Path) -> None:
    net = build_net(NetConfig(kind=NetKind.DENSE_RESIGN, planes="board", channels=16), THREE, seed=4)
    (tmp_path / "model.onnx").write_bytes(export_onnx(net, THREE))
    planes = np.random.default_rng(1).integers(-1, 2, (5, 1, 3, 3)).astype(np.float32)
    log_policy, value = load_evaluator(tmp_path).evaluate(planes)
    expected = torch.log_softmax(net(torch.from_numpy(planes)).policy_logits, dim=1)
    np.testing.assert_allclose(log_policy, expected.detach().numpy(), atol=1e-5)
    assert not value.any()


def test_the_unmasked_gradient_includes_illegal_moves_and_resignation() -> None:
    t = toy(rows=3)
    resign = torch.randn(3, dtype=torch.float64, requires_grad=True)
    output = NetOutput(t["logits"][:3], torch.zeros(3, dtype=torch.float64), resign_logit=resign)
    rows = (t["legal"][:3], t["actions"][:3], t["advantages"][:3], t["targets"][:3])
    losses = policy_gradient.compute_losses(output, *rows, masked=False)
    (3 * losses["policy"]).backward()
    probabilities = torch.softmax(torch.cat([t["logits"], resign[:, None]], dim=1), dim=1).detach()
    expected = -(torch.nn.functional.one_hot(t["actions"], 10) - probabilities) * t["advantages"][:, None]
    torch.testing.assert_close(t["logits"].grad, expected[:, :9])
    torch.testing.assert_close(resign.grad, expected[:, 9])


def test_returns_are_standardised_over_each_batch_of_games() -> None:
    # Four games of 2, 1, 3 and 1 rows, in batches of two.
    next_sign = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    returns = torch.tensor([1.0, 1.0, -2.0, 5.0, 5.0, 5.0, 5.0])
    found = standardised_returns(returns, next_sign, 2)
    root = 2**0.5
    torch.testing.assert_close(found, torch.tensor([1 / root, 1 / root, -root, 0.0, 0.0, 0.0, 0.0]))


def test_a_summed_update_of_rmsprop_is_that_of_pg9() -> None:
    settings = ["play.games=20", "net.channels=8", 'play.opponents=["random"]', "ruleset=3x3:3"]
    config = load_config(policy_gradient.Config, "pg", "pg9", settings)
    net = build_net(config.net, config.ruleset, seed=1)
    before = net.state_dict()["policy.weight"].clone()
    learner = policy_gradient.Learner(net, config.learner)
    player = EpisodePlayer(config.ruleset, config.net.planes, config.play)
    episodes = player.play(net, None, greedy_policy(torch.Generator().manual_seed(1)), np.random.default_rng(1))
    learner.update(episodes, 0.0)
    returns = discounted_returns(episodes.results, episodes.next_sign, 0.99)
    weights = standardised_returns(returns, episodes.next_sign, 10)
    with torch.no_grad():
        hidden = torch.relu(episodes.planes.flatten(1) @ net.state_dict()["hidden.weight"].T)
    # The first step from a mean square of 0 is 10 times the learning rate, apart from the constant under the fraction.
    fresh = build_net(config.net, config.ruleset, seed=1)
    with torch.no_grad():
        hidden = torch.relu(episodes.planes.flatten(1) @ fresh.state_dict()["hidden.weight"].T)
        probabilities = torch.softmax(hidden @ before.T, dim=1)
        one_hot = torch.nn.functional.one_hot(episodes.actions, 10)
        gradient = ((one_hot - probabilities) * weights[:, None]).T @ hidden
    expected = before + 1e-4 * gradient / ((0.01 * gradient.square()).sqrt() + 1e-5)
    torch.testing.assert_close(net.state_dict()["policy.weight"], expected, atol=1e-6, rtol=1e-4)


def test_greedy_play_varies_only_among_equal_moves() -> None:
    choose = greedy_policy(torch.Generator().manual_seed(1))
    logits = torch.tensor([[0.0, 3.0, 3.0, 9.0]]).repeat(60, 1)
    legal = torch.tensor([[True, True, True, False]]).repeat(60, 1)
    actions, log_probs = choose(NetOutput(logits, torch.zeros(60)), legal)
    assert set(actions.tolist()) == {1, 2}
    torch.testing.assert_close(log_probs, torch.log_softmax(logits[:, :3], dim=1)[:, 1])


@pytest.mark.parametrize(("full_board", "reward"), [("draw", 0.0), ("black", 1.0), ("white", -1.0)])
def test_a_full_board_has_the_configured_result(full_board: str, reward: float) -> None:
    config = PlayConfig(games=40, opponents=("random",), colours=Colours.BLACK, full_board=FullBoard(full_board))
    net = build_net(NetConfig(kind=NetKind.DENSE, planes="board", channels=8), THREE)
    player = EpisodePlayer(THREE, "board", config)
    episodes = player.play(net, None, sample_policy(torch.Generator().manual_seed(1)), np.random.default_rng(1))
    _, outcomes = player.games(40)
    drawn = np.array([outcome is Outcome.DRAW for outcome in outcomes])
    assert drawn.any()
    assert (episodes.rewards[drawn] == reward).all()
    assert set(episodes.rewards[~drawn]) == {-1.0, 1.0}


def test_the_running_reward_is_that_of_the_paper() -> None:
    running = policy_gradient.RunningReward(policy_gradient.RunningRewardConfig(replace_at=4.0, stop_at=4.5))
    rewards = np.concatenate([np.full(10, 0.2), np.tile([1.0, -1.0], 5), -np.ones(10)]).astype(np.float32)
    assert not running.add(rewards)
    assert running.value == pytest.approx(0.99 * (0.99 * 2.0 + 0.0) - 0.1), "it starts with the sum of the first batch"
    replaced = [running.add(np.ones(100, np.float32)) for _ in range(4)]
    assert replaced == [False, False, False, True]  # 10 - 8.14·0.99^n is above 4 after n = 31 batches
    assert running.is_beaten == (running.value > 4.5)
    running.add(-np.ones(10, np.float32))
    assert running.value == -10, "it starts again with the first batch after a replacement"


def test_a_run_ends_at_its_running_reward_and_stays_finished(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "pg", 'play.opponents=["random"]', "play.colours=black", "running_reward.stop_at=4")
    go(run)
    lines = run.metrics()
    assert lines[-1]["running_reward"] > 4
    assert len(lines) < 6
    assert lines[-1]["games"] < 6 * 1000
    again = Run.open(run.folder)
    assert again.is_finished()
    go(again)
    assert again.metrics() == lines


def test_all_presets_load() -> None:
    for name, module in ALGORITHMS.items():
        for preset in preset_names(name):
            load_config(module.Config, name, preset)
    assert {"pg9", "pg9-valid-moves", "pg9-random", "pg9-level-3", "pg9-self-play-level-3"} <= set(preset_names("pg"))


# -- whole runs -------------------------------------------------------------------------------------------------------

DENSE = ("net.kind=dense-value", "net.planes=board", "net.channels=64", "play.opponents=['self', 'past', 'random']")
TINY = {
    "pg": (*DENSE, "play.games=100", "learner.optimizer=adam", "learner.learning_rate=5e-3", "updates=10",
           "iterations=6"),
    "ppo": (*DENSE, "play.games=300", "pool.every=2", "learner.batch=256", "learner.epochs=6",
            "learner.learning_rate=5e-3", "iterations=8"),
    "dqn": (*DENSE, "play.games=150", "pool.every=2", "learner.window=3000", "learner.batch=128", "learner.reuse=16",
            "learner.learning_rate=3e-3", "learner.average=0.98", "iterations=8"),
}  # fmt: skip


def begin(folder: Path, algorithm: str, *settings: str, seed: int = 1) -> Run:
    changes = ["ruleset=3x3:3", "strength.every=0", *TINY[algorithm], *settings]
    config = load_config(ALGORITHMS[algorithm].Config, algorithm, None, changes)
    return Run.create(folder, RunHeader(algorithm=algorithm, seed=seed), config)


def go(run: Run) -> None:
    ALGORITHMS[run.header.algorithm].train(run, Progress(Console(quiet=True), "test"))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_tiny_run_ends_ahead_of_random_and_leaves_what_a_run_needs(algorithm: str, tmp_path: Path) -> None:
    strength = ("strength.every=4", "strength.games=2", "strength.ladder_games=2", "strength.opponents=['random']",
                "strength.anchor=random")  # fmt: skip
    run = begin(tmp_path / "run", algorithm, *strength)
    go(run)
    assert next(line["iteration"] for line in run.metrics() if "strength" in line) == 4
    names = {path.name for path in run.folder.iterdir()}
    assert {"config.toml", "model.onnx", "model.safetensors", "losses.png", "strength.svg", "checkpoints"} <= names
    points = 0.0
    with make_agent(f'{algorithm}:run="{run.folder}"') as ours, make_agent("random") as other:
        for seed in range(100):
            ours_first = seed % 2 == 0
            result = play_game(THREE, (ours, other) if ours_first else (other, ours), seed=seed)
            points += 0.5 if result.winner_seat is None else float((result.winner_seat == 0) == ours_first)
    assert points >= 65  # a random player gets 50


def test_networks_of_chosen_iterations_are_kept_and_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ("milestones=[1]", "milestone_every=3", "iterations=4")
    whole, broken = (begin(tmp_path / name / "run", "ppo", *settings) for name in ("whole", "broken"))
    go(whole)
    go_with_a_break(broken, go, 3, monkeypatch)
    assert [folder.name for folder in whole.milestone_folders()] == ["000001", "000003"]
    for folder, other in zip(whole.milestone_folders(), broken.milestone_folders(), strict=True):
        assert (folder / "model.onnx").read_bytes() == (other / "model.onnx").read_bytes()
    start = Position.start(THREE)
    values = []
    for given in ("iteration=1", "iteration=3", ""):
        with make_agent(f'ppo:run="{whole.folder}",{given}'.rstrip(",")) as agent:
            values.append(agent.choose(start, Limits()).value_to_move)
    assert len(set(values)) == 3
    whole.rewind(2)
    assert [folder.name for folder in whole.milestone_folders()] == ["000001"]
    with pytest.raises(InputError, match=r"no network of iteration 3; the nearest iterations that it kept are 1$"):
        make_agent(f'ppo:run="{whole.folder}",iteration=3')
    with pytest.raises(AgentNameError, match="set run as well"):
        make_agent("ppo:iteration=3")


def test_a_finished_run_is_extended(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "ppo", "iterations=1")
    go(run)
    assert run.is_finished()
    Run.open(run.folder).extend({"iterations": 3})
    longer = Run.open(run.folder)
    assert not longer.is_finished()
    go(longer)
    assert [line["iteration"] for line in longer.metrics()] == [1, 2, 3]
    for limits, message in (
        ({"iterations": 3}, "iterations=3 does not extend .* whose limit is 3; iterations is the total"),
        ({"iterations": 4.5}, "must be an integer"),
        ({"minutes": 3}, "minutes=3 does not extend .* which has no such limit"),
        ({"milestone_every": 3}, "cannot be changed in an existing run"),
    ):
        with pytest.raises(InputError, match=message):
            longer.extend(limits)


def test_a_recurrent_network_learns_by_policy_gradient(tmp_path: Path) -> None:
    net = ("net.kind=gated-mdrnn", "net.planes=own-other", "net.channels=8", "net.blocks=1", "learner.credit=gae")
    run = begin(tmp_path / "run", "pg", *net, "play.games=40", "updates=4", "iterations=2")
    go(run)
    assert {"policy", "value", "entropy"} <= set(run.metrics()[-1]["losses"])
    fresh = build_net(run.config(policy_gradient.Config).net, THREE).state_dict()
    learned, _ = load_net(run.folder / "model.safetensors")
    assert all(not torch.equal(weight, fresh[name]) for name, weight in learned.state_dict().items())
    with make_agent(f'pg:run="{run.folder}"') as agent:
        position = Position.from_moves(THREE, "b2")
        assert position.is_legal(agent.choose(position, Limits()).move)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_stopped_in_the_middle_ends_like_an_unbroken_one(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = (begin(tmp_path / name / "run", algorithm, "iterations=4") for name in ("whole", "broken"))
    go(whole)
    go_with_a_break(broken, go, 2, monkeypatch)
    assert fingerprint(broken.folder) == fingerprint(whole.folder)


def test_guards_stop_a_collapsed_policy(tmp_path: Path) -> None:
    settings = ("guards.min_policy_entropy=5.0", "guards.patience=2")
    with pytest.raises(RunError, match=r"policy entropy has been below 5 for 2 iterations \(.* in iteration 2\)"):
        go(begin(tmp_path / "run", "ppo", *settings))
    assert GuardConfig().patience > 1


def test_the_patience_of_guards_goes_on_in_a_resumed_run(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "ppo", "guards.min_policy_entropy=5.0", "guards.patience=3")
    for _ in range(2):
        with pytest.raises(RunError, match=r"for 3 iterations \([\d.]+ in iteration 3\)"):
            go(run)


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    for algorithm, setting, message in (
        ("pg", "play.games=7", "play.games=7 is not a multiple of running_reward.batch=10"),
        ("ppo", "learner.epochs=0", "epochs must be finite and at least 1, not 0"),
        ("dqn", "learner.window=5", "window=5 is smaller than batch"),
        ("ppo", "play.opponents=['nobody']", "unknown opponent 'nobody'"),
        ("pg", "running_reward.batch=0", "running_reward: batch must be finite and at least 1, not 0"),
        ("pg", "learner.learning_rate=nan", "learner: learning_rate must be finite and at least 0, not nan"),
        ("pg", "learner.square_decay=1", r"square_decay must be at least 0 and below 1, not 1\.0"),
        ("ppo", "learner.discount=1.5", r"discount=1\.5 is outside the range 0–1"),
        ("ppo", "learner.clip=0", r"clip must be finite and above 0, not 0\.0"),
        ("ppo", "learner.threads=0", "threads must be finite and at least 1, not 0"),
        ("ppo", "guards.patience=0", "guards: patience must be finite and at least 1, not 0"),
        ("ppo", "minutes=-1", r"minutes must be finite and at least 0, not -1\.0"),
        ("ppo", "minutes=nan", "minutes must be finite and at least 0, not nan"),
        ("dqn", "pool.size=0", "pool: size must be finite and at least 1, not 0"),
        ("dqn", "learner.exploration=2", r"exploration=2\.0 is outside the range 0–1"),
        ("dqn", "learner.average=1", r"average must be at least 0 and below 1, not 1\.0"),
        ("dqn", "learner.reuse=inf", "reuse must be finite and at least 0, not inf"),
    ):
        with pytest.raises(InputError, match=message):
            begin(tmp_path / "run", algorithm, setting)


def test_strength_is_measured_at_even_distances_of_the_run(tmp_path: Path) -> None:
    strength = ("strength.points=2", "strength.games=2", "strength.ladder_games=2", "strength.opponents=['random']",
                "strength.anchor=random")  # fmt: skip
    run = begin(tmp_path / "run", "ppo", *strength, "iterations=4", "play.games=20", "learner.epochs=1")
    go(run)
    assert [line["iteration"] for line in run.metrics() if "strength" in line] == [2, 4]


def test_the_last_iteration_is_measured_whenever_the_time_runs_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that advances only during logging, so that time runs out after the strength measurement is due."""
    clock = 0.0
    log = Run.log

    def log_slowly(run: Run, iteration: int, line: dict[str, Any]) -> None:
        nonlocal clock
        clock += 40.0
        log(run, iteration, line)

    monkeypatch.setattr(Loop, "seconds", property(lambda _: clock))
    monkeypatch.setattr(Run, "log", log_slowly)
    strength = ("strength.every=100", "strength.games=2", "strength.ladder_games=2", "strength.opponents=['random']",
                "strength.anchor=random")  # fmt: skip
    run = begin(tmp_path / "run", "ppo", *strength, "minutes=1", "play.games=20", "learner.epochs=1")
    go(run)
    lines = run.metrics()
    assert len(lines) == 3
    assert ["strength" in line for line in lines] == [False, False, True]
