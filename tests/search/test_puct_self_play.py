"""Self-play in batches: legal games, valid policy targets, the same games for the same seed."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest

from tengen.core.contracts import Evaluator, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import InputError, RulesetError
from tengen.search.evaluation import UniformEvaluator
from tengen.search.puct_config import PRESETS, Noise, PuctConfig, Symmetry
from tengen.search.puct_self_play import Openings, SelfPlay, SelfPlayGame
from tests.search.networks import FixedEvaluator
from tests.search.reference import Reference, is_dead

PLAIN = PuctConfig(simulations=24, noise=Noise.EVERY, noise_alpha=0.3)
SOLVING = PuctConfig(
    simulations=24,
    leaves=4,
    noise=Noise.ROOT,
    solve=True,
    tactics=True,
    vcf_nodes_leaf=30,
    symmetry=Symmetry.RANDOM,
    cache_entries=1 << 10,
    fpu_reduction=0.2,
    temperature_plies=6,
    discount=0.99,
)
THREATS = replace(SOLVING, vct_nodes=50, vct_visits=8)
GUMBEL = replace(SOLVING, gumbel=True, noise=Noise.NONE, simulations=16, stop_when_proved=True)
CAPPED = replace(
    SOLVING, full_fraction=0.5, fast_simulations=6, forced_playouts=2.0, reuse_tree=True, root_temperature=1.2
)
CONFIGS = {
    "plain": PLAIN,
    "solving": SOLVING,
    "threats": THREATS,
    "gumbel": GUMBEL,
    "gumbel threats": replace(GUMBEL, vct_nodes=50, vct_visits=8),
    "capped": CAPPED,
    "zero9": PRESETS["zero9"],
}


def play_games(play: SelfPlay, network: Evaluator, games: int) -> list[SelfPlayGame]:
    finished: list[SelfPlayGame] = []
    while len(finished) < games:
        play.step(network)
        finished += play.finished()
    return finished


def same(a: SelfPlayGame, b: SelfPlayGame) -> bool:
    arrays = ("moves", "policies", "value_to_move", "surprises", "full")
    return a.outcome is b.outcome and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(
    ("rules", "layout"),
    [
        ("6x6:4:freestyle", "threats"),
        ("7x7:5:renju", "stones"),
        ("5x4:4:caro", "own-other-last-colour"),
        ("3x3:3:freestyle", "board"),
        ("7x7:6:standard", "board"),
    ],
)
def test_games_follow_the_rules(name: str, rules: str, layout: str) -> None:
    ruleset = Ruleset.parse(rules)
    config = replace(CONFIGS[name], simulations=min(CONFIGS[name].simulations, 24))
    play = SelfPlay(ruleset, config, games=6, seed=3, layout=layout)
    for game in play_games(play, FixedEvaluator(layout), 8):
        position = Position.start(ruleset)
        searched = len(game.moves) - game.opening_length
        assert game.policies.shape == (searched, ruleset.area)
        assert len(game.value_to_move) == len(game.surprises) == len(game.full) == searched
        for ply, move in enumerate(game.moves):
            policy = game.policies[ply]
            assert policy.sum() == pytest.approx(1, abs=1e-5)
            assert not policy[~position.legal_mask()].any()
            assert policy[move] > 0
            assert abs(game.value_to_move[ply]) <= 1 + 1e-5
            position = position.play(int(move))
        if not config.stop_when_proved:
            assert position.outcome is game.outcome
        assert game.outcome is not Outcome.ONGOING
        assert (game.surprises > -1e-4).all()
        assert game.full.all() or config.full_fraction < 1


@pytest.mark.parametrize("name", CONFIGS)
def test_the_same_seed_gives_the_same_games(name: str) -> None:
    ruleset = Ruleset.parse("6x6:4")
    config = replace(CONFIGS[name], simulations=min(CONFIGS[name].simulations, 24))

    def play(seed: int) -> list[SelfPlayGame]:
        self_play = SelfPlay(ruleset, config, games=5, seed=seed, layout="stones")
        return play_games(self_play, FixedEvaluator("stones"), 12)

    first, again, other = play(1), play(1), play(2)
    assert all(same(a, b) for a, b in zip(first, again, strict=True))
    assert not all(same(a, b) for a, b in zip(first, other, strict=False))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_state_goes_on_as_the_run_it_was_taken_from(name: str) -> None:
    ruleset = Ruleset.parse("6x6:4")
    config = replace(CONFIGS[name], simulations=min(CONFIGS[name].simulations, 24))
    network = FixedEvaluator("stones")
    openings = Openings(random_stones=3, balance_candidates=3, fraction=0.7)
    kept = SelfPlay(ruleset, config, games=5, seed=1, layout="stones", openings=openings)
    play_games(kept, network, 7)
    state = kept.state()
    assert state["policies"].dtype == np.float32
    loaded = SelfPlay(ruleset, config, games=5, seed=99, layout="stones", openings=openings)
    loaded.load_state(state)
    for a, b in zip(play_games(kept, network, 8), play_games(loaded, network, 8), strict=True):
        assert same(a, b)


def test_damaged_states_are_refused() -> None:
    ruleset = Ruleset.parse("6x6:4")
    play = SelfPlay(ruleset, PLAIN, games=2, seed=1)
    while not play.state()["moves"].size:
        for _ in range(60):
            play.step(UniformEvaluator())
        play.finished()
    state = play.state()
    for name, damaged in (
        ("rng", state["rng"][:1]),
        ("moves", np.zeros_like(state["moves"])),
        ("moves", state["moves"][:-1]),
        ("policies", state["policies"][:, :-1]),
        ("values", state["values"][:-1]),
    ):
        with pytest.raises(InputError, match="does not belong to 2 games of 6x6:4:freestyle"):
            play.load_state({**state, name: damaged})
    with pytest.raises(InputError, match="this state does not belong to"):
        play.load_state({})


def test_states_wait_until_finished_games_are_fetched() -> None:
    play = SelfPlay(Ruleset.parse("3x3:3"), PLAIN, games=2, seed=1)
    while not play.counts.games:
        play.step(UniformEvaluator())
    with pytest.raises(InputError, match="finished games have not been fetched"):
        play.state()
    assert len(play.finished()) == play.counts.games
    play.state()


def test_quick_searches_are_marked_and_make_up_their_share() -> None:
    games = play_games(SelfPlay(Ruleset.parse("6x6:4"), CAPPED, games=8, seed=5), UniformEvaluator(), 30)
    full = np.concatenate([game.full for game in games])
    assert 0.4 < full.mean() < 0.6


def test_forced_playouts_are_made_and_pruned_from_the_target() -> None:
    ruleset, simulations = Ruleset.parse("4x4:3"), 80
    network = FixedEvaluator("own-other-last-colour")
    forcing, free = Reference(network, 1.25, forced=2.0), Reference(network, 1.25)
    config = PuctConfig(simulations=simulations, forced_playouts=2.0)
    play = SelfPlay(ruleset, config, games=4, seed=1, layout=network.plane_layout)
    more_visits = pruned = 0
    for game in play_games(play, network, 4):
        position = Position.start(ruleset)
        for move, policy in zip(game.moves.tolist(), game.policies, strict=True):
            root = forcing.search(position, simulations)
            target = forcing.target(root)
            expected = np.zeros(ruleset.area)
            expected[list(target)] = list(target.values())
            assert policy == pytest.approx(expected, abs=1e-5)
            more_visits += root.visits != free.search(position, simulations).visits
            pruned += target != {point: visits / simulations for point, visits in root.visits.items()}
            position = position.play(move)
    # Otherwise no playouts were forced and the comparison would test nothing.
    assert more_visits > 10
    assert pruned > 10


def test_games_that_nobody_can_win_any_more_end_as_draws() -> None:
    ruleset = Ruleset.parse("6x6:5")
    drawn = 0
    for game in play_games(SelfPlay(ruleset, GUMBEL, games=8, seed=2), FixedEvaluator("board"), 40):
        positions = list(accumulate(game.moves.tolist(), Position.play, initial=Position.start(ruleset)))
        assert not any(is_dead(position) for position in positions[:-1])
        if is_dead(positions[-1]):
            drawn += 1
            assert game.outcome is Outcome.DRAW
            assert game.plies_left == ruleset.area - len(game.moves)
    assert drawn > 0


def test_openings_come_from_the_list_in_all_symmetries() -> None:
    ruleset = Ruleset.parse("7x7")
    play = SelfPlay(ruleset, PLAIN, games=16, seed=1, openings=Openings(sequences=("a1b1",)))
    starts = set()
    for game in play_games(play, UniformEvaluator(), 40):
        assert game.opening_length == 2
        assert len(game.policies) == len(game.moves) - 2
        starts.add(tuple(Point.from_index(int(move), 7) for move in game.moves[:2]))
    corners = {"a1", "a7", "g1", "g7"}
    assert len(starts) == 8
    assert all(first in corners for first, _ in starts)


def test_some_games_begin_with_random_stones() -> None:
    openings = Openings(random_stones=4, fraction=0.5)
    play = SelfPlay(Ruleset.parse("9x9"), replace(PLAIN, simulations=4), games=16, seed=1, openings=openings)
    lengths = [game.opening_length for game in play_games(play, UniformEvaluator(), 60)]
    assert set(lengths) == {0, 1, 2, 3, 4}
    assert lengths.count(0) > 25


def test_balancing_prefers_even_positions() -> None:
    class LikesCentre:
        """Evaluates a position as even if the last stone is in column d, and as decided otherwise."""

        plane_layout = "own-other-last-colour"

        def evaluate(self, planes):
            log_policy, _ = UniformEvaluator().evaluate(planes)
            even = planes[:, 2, :, 3].sum(axis=1)
            return log_policy, (0.95 * (1 - even)).astype(np.float32)

    openings = Openings(random_stones=2, balance_candidates=20)
    config = replace(PLAIN, simulations=2)
    play = SelfPlay(Ruleset.parse("7x7"), config, games=16, seed=1, layout=LikesCentre.plane_layout, openings=openings)
    games = play_games(play, LikesCentre(), 60)
    last = [int(game.moves[game.opening_length - 1]) % 7 for game in games if game.opening_length > 0]
    assert len(last) == len(games)
    assert last.count(3) > 0.9 * len(last)


def test_the_cache_saves_evaluations_and_can_be_cleared() -> None:
    ruleset = Ruleset.parse("5x5:4")
    without, cached = FixedEvaluator("board"), FixedEvaluator("board")
    config = replace(PLAIN, noise=Noise.NONE, temperature=0.5)
    a = play_games(SelfPlay(ruleset, config, games=4, seed=1), without, 6)
    play = SelfPlay(ruleset, replace(config, cache_entries=1 << 14), games=4, seed=1)
    b = play_games(play, cached, 6)
    assert cached.rows == play.counts.evaluations < 0.8 * without.rows
    assert play.counts.cache_hits > 0
    # Without symmetries the cache returns exactly the network's output.
    key = lambda game: game.moves.tobytes()  # noqa: E731
    assert {key(game) for game in a[:4]} & {key(game) for game in b}
    before = play.counts.cache_hits
    play.clear_cache()
    play.step(cached)
    assert play.counts.cache_hits - before <= 4


def test_noise_on_the_choice_changes_the_moves_but_not_the_targets() -> None:
    ruleset = Ruleset.parse("5x5:4")
    config = replace(PLAIN, noise=Noise.NONE, temperature=0.01)
    plain = play_games(SelfPlay(ruleset, config, games=1, seed=1), FixedEvaluator("board"), 12)
    noisy = play_games(
        SelfPlay(ruleset, replace(config, noise=Noise.CHOICE), games=1, seed=1), FixedEvaluator("board"), 12
    )
    assert len({int(game.moves[0]) for game in plain}) == 1
    assert len({int(game.moves[0]) for game in noisy}) > 1
    assert all((game.policies[0] == plain[0].policies[0]).all() for game in noisy)
    # The noise reaches moves that the search never visited.
    alone = replace(config, noise=Noise.CHOICE, noise_fraction=1.0, noise_alpha=10.0)
    random = play_games(SelfPlay(ruleset, alone, games=4, seed=2), FixedEvaluator("board"), 60)
    assert len({int(game.moves[0]) for game in random}) > 15
    assert any(game.policies[0][game.moves[0]] == 0 for game in random)


def test_bad_answers_are_refused() -> None:
    play = SelfPlay(Ruleset.parse("5x5:4"), PLAIN, games=2, seed=1)
    planes = play.new_planes()
    rows = play.collect(planes)
    assert rows == 2
    with pytest.raises(ValueError, match="waiting"):
        play.collect(planes)
    good = np.zeros((2, 25), dtype=np.float32)
    with pytest.raises(InputError, match="NaN"):
        play.supply(good, np.array([0, np.nan], dtype=np.float32))
    with pytest.raises(ValueError, match=r"log_policies has the shape \[1, 25\], not \[2, 25\]"):
        play.supply(good[:1], np.zeros(2, dtype=np.float32))
    play.supply(good, np.zeros(2, dtype=np.float32))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"simulations": 0}, "simulations=0"),
        ({"c_puct": -1.0}, "c_puct=-1.0"),
        ({"c_puct": float("nan")}, "c_puct=nan"),
        ({"noise_fraction": 1.5}, "noise_fraction=1.5"),
        ({"full_fraction": 0.5}, "requires fast_simulations"),
        ({"gumbel": True, "reuse_tree": True}, "cannot be combined with reuse_tree"),
        ({"tactics": True}, "tactics requires solve"),
        ({"solve": True, "vcf_nodes_leaf": 10}, "require tactics"),
        ({"stop_when_proved": True}, "stop_when_proved requires solve"),
        ({"discount": 1.5}, "discount=1.5"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PuctConfig(**settings)  # type: ignore[arg-type]


def test_what_does_not_fit_the_rules_is_refused() -> None:
    with pytest.raises(RulesetError, match="'threats' requires a win length of 4 or 5"):
        SelfPlay(Ruleset.parse("3x3:3"), PLAIN, games=1, layout="threats")
    with pytest.raises(InputError, match="ends the game"):
        SelfPlay(Ruleset.parse("3x3:3"), PLAIN, games=1, openings=Openings(sequences=("a1a2b1b2c1",)))
    with pytest.raises(InputError, match="balance_candidates=3 requires random stones"):
        Openings(balance_candidates=3)
    with pytest.raises(InputError, match="unknown plane layout 'zero'"):
        SelfPlay(Ruleset.parse("3x3:3"), PLAIN, games=1, layout="zero")
