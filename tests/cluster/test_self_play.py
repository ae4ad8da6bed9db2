"""Self-play on a fleet, in simulated time and with a real thread: what is counted, in which order, when it stops."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tengen.cluster.self_play import FleetSelfPlay, Request, Shard, open_player
from tengen.core.contracts import Outcome, Ruleset
from tengen.errors import InputError, WorkerError
from tengen.learning.experience.game_source import Generation, SelfPlaySpec
from tengen.learning.experience.replay import Samples
from tengen.learning.experience.self_play import FinishedGame
from tengen.nets.architectures import NetConfig, build_net
from tengen.nets.export import export_onnx
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_self_play import Openings
from tests.cluster.fake_site import FakeSite

RULES = Ruleset.parse("4x4:3")
SEARCH = PuctConfig(simulations=4)
SPEC = SelfPlaySpec(ruleset=RULES, layout="own-other", openings=Openings(), games=10, actors=2, parallel=8, seed=1)


def sample(count: int) -> Samples:
    return Samples(
        planes=np.zeros((count, 2, 4, 4), np.int8),
        policy=np.full((count, 16), 1 / 16, np.float16),
        value_to_move=np.zeros(count, np.float32),
        result=np.zeros(count, np.float32),
        reply=np.zeros(count, np.int16),
        surprise=np.zeros(count, np.float32),
    )


class Clock(FakeSite):
    """A fake site that does not run away: simulated time passes no faster than a hundred times real time."""

    def wait(self, references, timeout_s):
        time.sleep(0.005)
        return super().wait(references, timeout_s)


def playing_site(games_per_call: int = 3, **options) -> Clock:
    def play(number: int):
        def carry_out(request: Request, model: bytes) -> Shard:
            assert model == f"model {request.version}".encode()
            games = [FinishedGame((number, call), Outcome.DRAW, sample(2), request.version) for call in range(3)]
            return Shard(games[:games_per_call], evaluations=7)

        return carry_out

    return Clock(open=play, **options)


@contextmanager
def playing(site: FakeSite, arrays=None) -> Iterator[FleetSelfPlay]:
    with FleetSelfPlay(site, site.put, SPEC, arrays or {}) as source:
        yield source


def generation(version: int) -> Generation:
    return Generation(version, f"model {version}".encode(), SEARCH)


def test_an_iteration_has_exactly_its_games_and_the_rest_counts_in_the_next() -> None:
    site = playing_site()
    with playing(site) as source:
        shards: Counter[str] = Counter()
        for version in range(5):
            source.publish(generation(version))
            games = source.collect()
            assert len(games.moves) == len(games.outcomes) == len(games.versions) == 10
            assert len(games.samples) == 20
            assert all(0 <= version - played <= version for played in games.versions)
            shards.update(games.shards)
        # Ten is not a multiple of three: a shard is shared by two iterations, but no game is lost or counted twice.
        assert sorted(shards.values(), reverse=True)[:16] == [3] * 16
        assert sum(shards.values()) == 50
        assert source.metrics()["workers"] == 2
        assert [name for name, _ in source.metrics()["nodes"]] == ["a", "b"]
        assert "2 workers on 2 nodes" in source.describe()


def test_workers_that_die_cost_nothing_but_time_and_are_counted() -> None:
    site = playing_site()
    with playing(site) as source:
        source.publish(generation(0))
        seen: Counter[str] = Counter()
        for _ in range(10):
            site.at(site.time + 2, lambda: site.kill(site.living()[0]) if site.living() else None)
            games = source.collect()
            assert len(games.moves) == 10
            seen.update(games.shards)
        assert max(seen.values()) == 3
        restarts = source.metrics()["restarts"]
        assert restarts >= 5
        arrays = source.arrays()
    # A run that continues does not use the numbers of workers again, and goes on counting.
    with playing(playing_site(), arrays) as source:
        source.publish(generation(1))
        games = source.collect()
        assert not {shard.partition(".")[0] for shard in games.shards} & {shard.partition(".")[0] for shard in seen}
        assert source.metrics()["restarts"] >= restarts


def test_workers_wait_when_the_learner_falls_behind() -> None:
    site = playing_site()
    with playing(site) as source:
        source.publish(generation(0))
        deadline = time.monotonic() + 30
        while site.time < 60 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert site.time >= 60
        # One iteration is waiting, and what was in flight then: two calls of two workers with three games each.
        assert 10 <= len(source._arrived) <= 10 + 2 * 2 * 3
        assert source._fleet.open_calls == 0


def test_calls_after_publishing_have_the_new_weights() -> None:
    site = playing_site()
    with playing(site) as source:
        source.publish(generation(0))
        source.collect()
        source.publish(generation(1))
        versions = [version for _ in range(6) for version in source.collect().versions]
        assert versions == sorted(versions)
        assert versions[-1] == 1


def test_nothing_is_played_before_there_are_weights() -> None:
    site = playing_site()
    with playing(site) as source:
        while site.time < 20:
            time.sleep(0.01)
        assert source._fleet.open_calls == 0
        assert len(source._arrived) == 0


def test_an_error_of_a_worker_or_of_the_fleet_reaches_the_learner() -> None:
    with playing(playing_site(start_error=InputError("no such device"))) as source:
        source.publish(generation(0))
        with pytest.raises(InputError, match="no such device"):
            source.collect()
    with playing(playing_site(version="0.0.1")) as source, pytest.raises(WorkerError, match=r"0\.0\.1"):
        source.collect()


def test_closing_ends_the_workers_and_the_thread() -> None:
    site = playing_site()
    with playing(site) as source:
        source.publish(generation(0))
        source.collect()
        assert site.living()
    assert site.living() == []
    assert not any(thread.name == "fleet" for thread in threading.enumerate())


# -- what a worker does ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models() -> list[bytes]:
    config = NetConfig(planes="own-other", channels=4, blocks=1)
    return [export_onnx(build_net(config, RULES, seed=seed), RULES) for seed in (1, 2)]


def test_a_worker_keeps_its_unfinished_games_between_calls(models: list[bytes]) -> None:
    def play(*counts: int) -> list[tuple[int, ...]]:
        with open_player(SPEC, 5) as carry_out:
            shards = [carry_out(Request(0, SEARCH, count, 1000.0), models[0]) for count in counts]
        assert [len(shard.games) for shard in shards] == list(counts)
        assert sum(shard.evaluations for shard in shards) > 0
        return [game.moves for shard in shards for game in shard.games]

    # However the games are divided into calls, they are the same.
    assert play(12) == play(1, 4, 7) == play(5, 5, 2)


def test_a_worker_answers_in_time_even_without_a_finished_game(models: list[bytes]) -> None:
    with open_player(SPEC, 5) as carry_out:
        shard = carry_out(Request(0, SEARCH, 10, 0.0), models[0])
        assert shard.games == []
        shard = carry_out(Request(0, SEARCH, 3, 1000.0), models[0])
        assert len(shard.games) == 3


def test_a_worker_continues_its_games_with_new_weights(models: list[bytes]) -> None:
    with open_player(SPEC, 5) as carry_out:
        carry_out(Request(0, SEARCH, 1, 1000.0), models[0])
        shard = carry_out(Request(1, SEARCH, 30, 1000.0), models[1])
    versions = [game.version for game in shard.games]
    assert versions == sorted(versions)
    assert versions[-1] == 1
    assert shard.evaluations > 0


def test_each_worker_plays_other_games(models: list[bytes]) -> None:
    games = []
    for number in (1, 2):
        with open_player(SPEC, number) as carry_out:
            games.append([game.moves for game in carry_out(Request(0, SEARCH, 8, 1000.0), models[0]).games])
    assert games[0] != games[1]
