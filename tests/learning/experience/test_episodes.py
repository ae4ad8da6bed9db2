"""Training rows from batches of games: their player, their order, their rewards and advantages."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tengen.core.contracts import Ruleset
from tengen.errors import InputError
from tengen.learning.experience.episodes import (
    Colours,
    EpisodePlayer,
    PlayConfig,
    Pool,
    PoolConfig,
    discounted_returns,
    entropy,
    generalised_advantages,
    masked_log_policy,
    sample_policy,
)
from tengen.nets.architectures import NetConfig, NetKind, build_net

FOUR = Ruleset.parse("5x5:4")
NET = NetConfig(kind=NetKind.DENSE_VALUE, planes="board", channels=16)


def play(config: PlayConfig, seed: int = 1):
    player = EpisodePlayer(FOUR, NET.planes, config)
    choose = sample_policy(torch.Generator().manual_seed(seed))
    net = build_net(NET, FOUR)
    return player, player.play(net, build_net(NET, FOUR, seed=5), choose, np.random.default_rng(seed))


def test_rows_are_the_learners_moves_game_after_game() -> None:
    player, rows = play(PlayConfig(games=40, opponents=("self", "past", "naive:level=1"), symmetric=False))
    moves, _ = player.games(40)
    assert rows.plies == pytest.approx(np.mean([len(game) for game in moves]))
    actions = iter(rows.actions.tolist())
    signs, stones = rows.next_sign.tolist(), rows.planes.abs().sum(dim=(1, 2, 3)).tolist()
    row = 0
    for game, played in enumerate(moves):
        plays_self = game % 3 == 0
        first = 0 if plays_self else (game // 3) % 2
        own = range(first, len(played), 1 if plays_self else 2)
        for place, ply in enumerate(own):
            assert next(actions) == played[ply]
            assert stones[row] == ply
            assert signs[row] == (0 if place == len(own) - 1 else -1 if plays_self else 1)
            row += 1
    assert row == len(rows)
    assert bool(rows.legal.gather(1, rows.actions[:, None]).all())


def test_results_and_rewards_are_those_of_the_player_to_move() -> None:
    _, rows = play(PlayConfig(games=60, opponents=("naive:level=3",), colours=Colours.WHITE))
    results = rows.results[rows.next_sign == 0].tolist()
    assert results == rows.rewards.tolist()
    assert set(results) == {-1.0, 1.0} or set(results) == {-1.0, 0.0, 1.0} or results == [-1.0] * 60
    assert rows.scores["naive:level=3"] == pytest.approx((1 + np.mean(results)) / 2)
    _, rows = play(PlayConfig(games=60, opponents=("self",)))
    ends = torch.nonzero(rows.next_sign == 0).squeeze(1)
    assert torch.equal(rows.results[ends - 1], -rows.results[ends])


def test_the_same_seed_gives_the_same_games() -> None:
    config = PlayConfig(games=20, opponents=("self", "naive:level=3"), opening_moves=3)
    (_, one), (_, same), (_, other) = play(config), play(config), play(config, seed=2)
    assert torch.equal(one.planes, same.planes)
    assert torch.equal(one.log_probs, same.log_probs)
    assert not torch.equal(one.rewards, other.rewards) if len(one) == len(other) else True


def test_without_a_mask_illegal_moves_are_played_and_lose() -> None:
    _, rows = play(PlayConfig(games=60, opponents=("random",), masked=False, colours=Colours.BLACK))
    assert bool(rows.legal.all())
    assert rows.rewards.mean() < -0.5
    lost_by_it = rows.illegal * len(rows) / 60
    assert 0.8 < lost_by_it <= 1.0


def test_log_probabilities_are_those_of_the_network() -> None:
    _, rows = play(PlayConfig(games=10))
    output = build_net(NET, FOUR)(rows.planes)
    chosen = masked_log_policy(output.policy_logits, rows.legal).gather(1, rows.actions[:, None]).squeeze(1)
    torch.testing.assert_close(chosen, rows.log_probs)
    torch.testing.assert_close(output.value_to_move, rows.value_to_move)


def test_entropy_ignores_illegal_moves() -> None:
    legal = torch.tensor([[True, True, False, False], [True, False, False, False]])
    log_policy = masked_log_policy(torch.zeros(2, 4, requires_grad=True), legal)
    found = entropy(log_policy)
    torch.testing.assert_close(found, torch.tensor([np.log(2.0), 0.0], dtype=torch.float32))
    found.sum().backward()


def test_credit_by_hand() -> None:
    # One game of self-play (three rows), one against an opponent (two rows).
    values = torch.tensor([0.1, -0.2, 0.3, 0.5, 0.4])
    results = torch.tensor([1.0, -1.0, 1.0, -1.0, -1.0])
    signs = torch.tensor([-1.0, -1.0, 0.0, 1.0, 0.0])
    torch.testing.assert_close(discounted_returns(results, signs, 0.5), torch.tensor([0.25, -0.5, 1.0, -0.5, -1.0]))
    a2 = 1.0 - 0.3
    a1 = -0.9 * 0.3 + 0.2 - 0.9 * 0.8 * a2
    a0 = -0.9 * -0.2 - 0.1 - 0.9 * 0.8 * a1
    a4 = -1.0 - 0.4
    a3 = 0.9 * 0.4 - 0.5 + 0.9 * 0.8 * a4
    advantages, targets = generalised_advantages(values, results, signs, 0.9, 0.8)
    torch.testing.assert_close(advantages, torch.tensor([a0, a1, a2, a3, a4]))
    torch.testing.assert_close(targets, advantages + values)


def test_advantages_without_decay_are_results_minus_values() -> None:
    _, rows = play(PlayConfig(games=30, opponents=("self", "naive:level=2")))
    advantages, targets = generalised_advantages(rows.value_to_move, rows.results, rows.next_sign, 1.0, 1.0)
    torch.testing.assert_close(targets, rows.results)
    torch.testing.assert_close(advantages, rows.results - rows.value_to_move)


def test_the_pool_keeps_the_newest_and_comes_back() -> None:
    net = build_net(NET, FOUR)
    pool = Pool(net, PoolConfig(size=2, every=2))
    for iteration in range(1, 7):
        with torch.no_grad():
            net.get_parameter("policy.bias").fill_(float(iteration))
        pool.add_if_due(net, iteration)
    restored = Pool(build_net(NET, FOUR, seed=3), PoolConfig(size=2))
    restored.restore(pool.tensors())
    biases = [float(weights["policy.bias"][0]) for weights in restored.tensors().values()]
    assert biases == [4.0, 6.0]


def test_unknown_opponents_are_refused() -> None:
    with pytest.raises(InputError, match=r"unknown opponent 'naive:level=7' \(known: self, past, random"):
        PlayConfig(opponents=("naive:level=7",))


def test_moves_of_simple_players_can_be_watched() -> None:
    player = EpisodePlayer(FOUR, NET.planes, PlayConfig(games=20, opponents=("naive:level=1", "self"), symmetric=False))
    choose = sample_policy(torch.Generator().manual_seed(1))
    rows = player.play(build_net(NET, FOUR), None, choose, np.random.default_rng(1), watches=True)
    moves, _ = player.games(20)
    assert rows.actions.tolist() == [move for game in moves for move in game]
    assert set(rows.next_sign.tolist()) == {-1.0, 0.0}
    turned = EpisodePlayer(FOUR, NET.planes, PlayConfig(games=20, opponents=("naive:level=1",)))
    rows = turned.play(build_net(NET, FOUR), None, choose, np.random.default_rng(1), watches=True)
    assert bool(rows.legal.gather(1, rows.actions[:, None]).all())
