"""What only a real Ray cluster can show. All of it uses one cluster of two nodes on this machine."""

from __future__ import annotations

import threading
import time

import pytest

from tengen.cluster.place import ray_pool
from tengen.errors import InputError
from tests.cluster import orders
from tests.cluster.conftest import TestCluster, actor_processes


def new_pool(**options):
    return ray_pool(orders.prepare, name="test worker", on_loss=orders.on_loss, **options)


def test_a_pool_survives_the_death_of_workers_and_nodes(cluster: TestCluster) -> None:
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


def test_players_that_crash_or_hang_are_dealt_with_as_on_one_machine(cluster: TestCluster) -> None:
    with new_pool() as pool:
        results = dict(pool.run([1, orders.CRASH, 2, orders.HANG, 3]))
    assert results == {1: 1, 2: 4, 3: 9, orders.CRASH: "crashed 0", orders.HANG: "hung 7"}
    assert pool._fleet.restarts == 0


def test_an_error_of_an_order_is_raised_here(cluster: TestCluster) -> None:
    with new_pool(workers=1) as pool, pytest.raises(InputError, match="order -3 is refused"):
        list(pool.run([orders.REFUSE]))


def test_closing_a_pool_leaves_no_actor(cluster: TestCluster) -> None:
    with new_pool() as pool:
        assert len(list(pool.run([1, 2, 3]))) == 3
        assert actor_processes()
    deadline = time.monotonic() + 30
    while actor_processes() and time.monotonic() < deadline:
        threading.Event().wait(0.2)
    assert actor_processes() == []
