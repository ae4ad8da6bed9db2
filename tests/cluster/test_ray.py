"""What only a real Ray cluster can show. All of it uses one cluster of two nodes on this machine."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.arena.adjudication import Adjudication
from tengen.arena.entrant import Entrant
from tengen.arena.schedule import ScheduledGame
from tengen.arena.store import GameStore
from tengen.arena.tournament import Progress, Tournament, play
from tengen.arena.workers import PlaySettings, game_workers
from tengen.cli import app
from tengen.cluster.local_cluster import LocalCluster
from tengen.cluster.pool import RayPools
from tengen.core.contracts import Ruleset
from tengen.errors import AgentError, InputError
from tests.cluster import orders

pytestmark = pytest.mark.xdist_group("ray")  # one cluster for all of them


def new_pool(**options):
    return RayPools(**options)(orders.prepare, name="test worker", on_loss=orders.on_loss)


def test_a_pool_survives_the_death_of_workers_and_nodes(cluster: LocalCluster) -> None:
    strikes = [cluster.kill_worker, cluster.replace_node, cluster.kill_worker]
    results = []
    with new_pool() as pool:
        for number, result in enumerate(pool.run(range(300)), start=1):
            results.append(result)
            if number % 75 == 0 and strikes:
                strikes.pop(0)()
    assert sorted(results) == [(order, order * order) for order in range(300)]
    assert strikes == []
    assert pool._fleet.restarts >= 3


def test_players_that_crash_or_hang_are_dealt_with_as_on_one_machine(cluster: LocalCluster) -> None:
    with new_pool() as pool:
        results = dict(pool.run([1, orders.CRASH, 2, orders.HANG, 3]))
    assert results == {1: 1, 2: 4, 3: 9, orders.CRASH: "crashed 0", orders.HANG: "hung 7"}
    assert pool._fleet.restarts == 0


def test_an_error_of_an_order_is_raised_here(cluster: LocalCluster) -> None:
    with new_pool(workers=1) as pool, pytest.raises(InputError, match="order -3 is refused"):
        list(pool.run([orders.REFUSE]))


def test_closing_a_pool_leaves_no_actor(cluster: LocalCluster) -> None:
    with new_pool() as pool:
        assert len(list(pool.run([1, 2, 3]))) == 3
        assert cluster.workers()
    deadline = time.monotonic() + 30
    while cluster.workers() and time.monotonic() < deadline:
        threading.Event().wait(0.2)
    assert cluster.workers() == []


def test_a_tournament_of_200_games_counts_each_once_whatever_is_killed(cluster: LocalCluster, tmp_path: Path) -> None:
    database = tmp_path / "games.db"
    strikes = [cluster.kill_worker, cluster.replace_node] * 2

    def strike(progress: Progress) -> None:
        if progress.played_now % 30 == 0 and strikes:
            strikes.pop(0)()

    tournament = Tournament(
        name="chaos",
        rules=(Ruleset.parse("9x9:5:freestyle"),),
        players=(Entrant(agent="naive:level=3"), Entrant(agent="rule-based")),
        rounds=100,
        games=200,
    )
    with GameStore(database) as store:
        # Stopped in the middle and resumed: the database decides what is left.
        with pytest.raises(KeyboardInterrupt):
            play(tournament, store, make_pool=RayPools(), on_result=interrupt_after(70))
        assert 70 <= len(store) < 200
        progress = play(tournament, store, make_pool=RayPools(), on_result=strike)
    assert strikes == []
    assert progress.tally.games == 200
    with GameStore(database, is_writer=False) as store, GameStore(None) as local:
        assert store.numbers() == set(range(200))
        # Both players are deterministic, so where a game was played changes nothing.
        play(tournament, local)
        assert list(store.scores()) == list(local.scores())


def interrupt_after(games: int):
    def watch(progress: Progress) -> None:
        if progress.played_now == games:
            raise KeyboardInterrupt

    return watch


def test_a_player_that_a_node_lacks_is_refused_before_the_first_game(cluster: LocalCluster, tmp_path: Path) -> None:
    settings = PlaySettings(players=(Entrant(agent=f"alphazero:run={tmp_path}"),), adjudication=Adjudication())
    rules = Ruleset.parse("9x9")
    game = ScheduledGame(number=0, ruleset=rules, first=0, second=0, round=0, opening=(), opening_number=0, seed=0)
    with (
        game_workers(settings, make_pool=RayPools(workers=1)) as pool,
        pytest.raises(AgentError, match=f"alphazero:run={tmp_path} cannot be created on "),
    ):
        list(pool.run([game]))


def test_generated_games_are_the_same_as_on_one_machine(cluster: LocalCluster, tmp_path: Path) -> None:
    arguments = ["data", "generate", "--rules", "9x9", "--games", "12", "--nodes", "200"]
    for name, place in (("ray", f"ray={cluster.address}"), ("local", "local")):
        done = CliRunner().invoke(app, [*arguments, str(tmp_path / name), "--on", place, "--workers", "2"])
        assert done.exit_code == 0, done.output
    ours, theirs = ((tmp_path / name).read_text().splitlines() for name in ("ray", "local"))
    assert len(ours) == 12
    assert sorted(ours) == sorted(theirs)


def test_a_match_is_played_on_the_cluster(cluster: LocalCluster, tmp_path: Path) -> None:
    arguments = [
        "match",
        "naive:level=3",
        "random",
        "--rules",
        "9x9",
        "--games",
        "10",
        "--on",
        f"ray={cluster.address}",
    ]
    done = CliRunner().invoke(app, [*arguments, "--db", str(tmp_path / "games.db"), "--quiet"])
    assert done.exit_code == 0, done.output
    with GameStore(tmp_path / "games.db", is_writer=False) as store:
        assert store.numbers() == set(range(10))
