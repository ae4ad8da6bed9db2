from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest

from tengen.cluster.fleet import ALONE_S, START_S, Fleet, WorkerLostError
from tengen.cluster.pool import MAX_LOSSES, FleetPool
from tengen.errors import InputError, WorkerError
from tests.cluster.fake_site import FakeSite, FakeWorker


class Endless:
    """Orders 0, 1, 2, …; lost ones are only counted."""

    def __init__(self) -> None:
        self.taken = 0
        self.lost: list[tuple[int, bool]] = []

    def take(self) -> tuple[int]:
        self.taken += 1
        return (self.taken - 1,)

    def lose(self, order: tuple[int], *, was_running: bool) -> None:
        self.lost.append((order[0], was_running))


def run_for(site: FakeSite, fleet: Fleet[tuple[int]], orders: Endless, until: float) -> list:
    answers = []
    while site.time < until:
        answers += fleet.poll(orders, 0.5)
    return answers


def pool_site(**options) -> FakeSite:
    """A site whose workers square their orders."""
    return FakeSite(open=lambda _: lambda number, order: order * order, **options)


def test_a_fleet_fills_every_slot_and_keeps_two_calls_in_flight() -> None:
    site, orders = FakeSite(slots={"a": 2, "b": 3}), Endless()
    fleet = Fleet[tuple[int]](site)
    answers = run_for(site, fleet, orders, 20)
    assert fleet.nodes == {"a": 2, "b": 3}
    assert site.most_calls_of_a_worker == 2
    # Five workers at one call a second, without a pause between calls.
    assert 5 * 18 <= len(answers) <= 5 * 20
    assert Counter(answer.node for answer in answers).keys() == {"a", "b"}


def test_numbers_of_calls_are_unique_and_ascend() -> None:
    site, orders = FakeSite(), Endless()
    fleet = Fleet[tuple[int]](site, first_number=7)
    rng = random.Random(1)
    for second in range(2, 60, 3):
        site.at(second, lambda: site.kill(rng.choice(site.living())))
    answers = run_for(site, fleet, orders, 70)
    numbers = [answer.number for answer in answers]
    assert len(set(numbers)) == len(numbers)
    assert min(number.worker for number in numbers) == 7
    assert fleet.restarts == 20
    assert max(number.worker for number in numbers) == 7 + 1 + 20
    for worker in {number.worker for number in numbers}:
        calls = [number.call for number in numbers if number.worker == worker]
        assert calls == sorted(calls)
    # Every order came back exactly once, was lost, or is still open.
    assert sorted([answer.order[0] for answer in answers] + [order for order, _ in orders.lost]) == sorted(
        set(range(orders.taken)) - {call.value[0] for call in site.calls.values() if isinstance(call.value, tuple)}
    )


def test_the_call_that_was_running_is_told_from_the_one_that_waited() -> None:
    site, orders = FakeSite(slots={"a": 1}), Endless()
    fleet = Fleet[tuple[int]](site)
    site.at(3.5, lambda: site.kill(site.living()[0]))
    run_for(site, fleet, orders, 4)
    assert orders.lost == [(3, True), (4, False)]


def test_an_answer_that_came_before_the_death_counts() -> None:
    site, orders = FakeSite(slots={"a": 1}), Endless()
    fleet = Fleet[tuple[int]](site)
    while not site.calls or site.time < 0.2:
        fleet.poll(orders, 0.1)
    # The first call ends at 1.1; the worker dies before the fleet looks again.
    site.time = 1.2
    site.kill(site.living()[0])
    assert [answer.order for answer in fleet.poll(orders, 0.0)] == [(0,)]
    assert orders.lost == [(1, True)]


def test_answers_of_a_worker_may_arrive_in_another_order() -> None:
    site, orders = FakeSite(slots={"a": 1}), Endless()
    fleet = Fleet[tuple[int]](site)
    while fleet.open_calls < 2:
        fleet.poll(orders, 0.1)
    first, second = site.calls
    site.calls[first].done_at, site.calls[second].done_at = 5.0, 3.0
    answers = run_for(site, fleet, orders, 5.5)
    numbers = [str(answer.number) for answer in answers]
    assert numbers[0] == "0.2"
    assert numbers.count("0.1") == 1
    assert len(set(numbers)) == len(numbers)


def test_nodes_join_and_leave() -> None:
    site, orders = FakeSite(slots={"a": 1}), Endless()
    fleet = Fleet[tuple[int]](site)
    site.at(5, lambda: site.slots.update(b=2))
    site.at(10, lambda: site.remove_node("a"))
    run_for(site, fleet, orders, 9)
    assert fleet.nodes == {"a": 1, "b": 2}
    run_for(site, fleet, orders, 15)
    assert fleet.nodes == {"b": 2}
    assert fleet.restarts == 1


def test_a_slow_worker_does_not_stall_the_others() -> None:
    def seconds(worker: FakeWorker) -> float:
        return 30.0 if worker.node == "a" else 1.0

    site, orders = FakeSite(seconds_per_call=seconds), Endless()
    fleet = Fleet[tuple[int]](site)
    answers = run_for(site, fleet, orders, 40)
    by_node = Counter(answer.node for answer in answers)
    assert by_node["a"] == 1
    assert by_node["b"] >= 38


def test_the_wanted_number_of_workers_is_kept() -> None:
    site, orders = FakeSite(slots={"a": 8}), Endless()
    fleet = Fleet[tuple[int]](site, workers=3)
    site.at(5, lambda: site.kill(site.living()[1]))
    run_for(site, fleet, orders, 10)
    assert fleet.nodes == {"a": 3}


def test_a_worker_without_a_slot_is_given_up_and_started_again() -> None:
    site, orders = FakeSite(places_workers=False), Endless()
    fleet = Fleet[tuple[int]](site)
    run_for(site, fleet, orders, START_S - 1)
    assert len(site.workers) == 2
    site.places_workers = True
    answers = run_for(site, fleet, orders, START_S + 10)
    assert fleet.nodes == {"a": 1, "b": 1}
    assert answers


def test_a_fleet_without_room_warns_and_then_gives_up() -> None:
    warnings: list[str] = []
    site, orders = FakeSite(slots={}), Endless()
    fleet = Fleet[tuple[int]](site, warn=warnings.append)
    with pytest.raises(WorkerError, match="no free CPU for 10 minutes"):
        run_for(site, fleet, orders, ALONE_S + 60)
    assert ALONE_S < site.time < ALONE_S + 5
    assert 15 <= len(warnings) <= 20


def test_workers_that_die_at_their_start_end_the_fleet() -> None:
    site, orders = FakeSite(start_error=WorkerLostError("out of memory")), Endless()
    fleet = Fleet[tuple[int]](site)
    with pytest.raises(WorkerError, match=r"in a row were lost before responding; last error: out of memory"):
        run_for(site, fleet, orders, 1000)


def test_another_version_of_tengen_is_refused() -> None:
    site, orders = FakeSite(version="0.0.1"), Endless()
    fleet = Fleet[tuple[int]](site)
    with pytest.raises(WorkerError, match=r"node a has Tengen 0.0.1, but this machine has .*: install the same"):
        run_for(site, fleet, orders, 10)


def test_an_error_of_a_worker_is_raised_by_the_fleet() -> None:
    site, orders = FakeSite(start_error=InputError("no such model")), Endless()
    with pytest.raises(InputError, match="no such model"):
        run_for(site, Fleet[tuple[int]](site), orders, 10)


def test_closing_ends_every_worker() -> None:
    site, orders = FakeSite(), Endless()
    with Fleet[tuple[int]](site) as fleet:
        run_for(site, fleet, orders, 5)
        assert len(site.living()) == 2
    assert site.living() == []


# -- a pool on a fleet ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_a_pool_answers_every_order_once_whatever_dies(seed: int) -> None:
    rng = random.Random(seed)
    site = pool_site(slots={"a": 2, "b": 1}, seconds_per_call=lambda _: rng.uniform(0.5, 5))

    def strike() -> None:
        if rng.random() < 0.3 and len(site.slots) > 1:
            site.remove_node(rng.choice(sorted(site.slots)))
        elif rng.random() < 0.3:
            site.slots[f"new {site.time}"] = rng.randrange(1, 3)
        elif site.living():
            site.kill(rng.choice(site.living()))
        site.at(site.time + rng.uniform(4, 12), strike)

    site.at(3, strike)
    with FleetPool[int, int](site) as pool:
        results = list(pool.run(range(200)))
    assert sorted(results) == [(order, order * order) for order in range(200)]


def test_a_pool_takes_orders_only_when_a_worker_has_room() -> None:
    site, taken = pool_site(), []

    def orders():
        for order in range(100):
            taken.append(order)
            yield order

    with FleetPool[int, int](site) as pool:
        list(islice(pool.run(orders()), 5))
    # Two workers with two calls each: what was answered, and what is open.
    assert len(taken) <= 5 + 4 + 2


def test_an_order_that_every_worker_dies_of_is_given_up() -> None:
    site = pool_site(slots={"a": 1})

    def strike() -> None:
        for worker in site.living():
            site.kill(worker)

    for second in range(1, 200):
        site.at(second / 2, strike)
    with (
        FleetPool[int, int](site) as pool,
        pytest.raises(WorkerError, match=f"{MAX_LOSSES} workers were lost while executing the same"),
    ):
        list(pool.run([5]))


def test_a_pool_calls_back_while_it_waits() -> None:
    site, calls = pool_site(seconds_per_call=lambda _: 10.0), []
    with FleetPool[int, int](site) as pool:
        results = list(pool.run([3], on_idle=lambda: calls.append(site.time)))
    assert results == [(3, 9)]
    assert len(calls) >= 19
