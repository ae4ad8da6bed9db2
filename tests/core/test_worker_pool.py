"""Worker processes: every order gets a result, whatever happens to the workers, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from tengen.core.worker_pool import MAX_DEATHS, LostOrder, WorkerPool
from tengen.core.worker_process import CarryOut, OrderContext, OrderReport, OrderResult, WorkerProcess
from tengen.errors import InputError, WorkerError

PATIENCE_S = 60.0

# The code of a process that outlives its parent unless somebody kills it.
SLEEPER = (sys.executable, "-S", "-c", "import time; time.sleep(3600)")


def carry_out(folder: Path, order: str, context: OrderContext) -> str:
    """Do what the order says; what must happen only once leaves a file behind."""
    word, _, rest = order.partition(" ")
    match word:
        case "echo":
            return rest
        case "die":
            os._exit(7)
        case "die-once":
            marker = folder / rest
            if not marker.exists():
                marker.touch()
                os._exit(7)
            return rest
        case "hang":
            context.expect_within(0.2, note=int(rest))
            time.sleep(3600)
        case "sleep":
            child = subprocess.Popen(SLEEPER, start_new_session=True)
            (folder / "pids.part").write_text(f"{os.getpid()} {child.pid}")
            (folder / "pids.part").rename(folder / "pids")
            time.sleep(3600)
        case "refuse":
            raise InputError(rest)
        case "bug":
            raise ZeroDivisionError(rest)
        case "until-stopped":
            context.report("began")
            while not context.stop.is_set():
                time.sleep(0.005)
            return "stopped"
    raise AssertionError(order)


@contextmanager
def prepare(folder: Path, start: str = "") -> Iterator[CarryOut]:
    if start == "die":
        os._exit(9)
    if start == "refuse":
        raise InputError("no such network")
    yield partial(carry_out, folder)
    (folder / f"closed {os.getpid()}").touch()


def open_pool(folder: Path, start: str = "", workers: int = 2) -> WorkerPool[str, str]:
    def lose(order: str, lost: LostOrder) -> str:
        return f"{'hung' if lost.is_hung else 'dead'} {lost.note}: {lost.reason}"

    return WorkerPool(partial(prepare, folder, start), name="test worker", workers=workers, on_loss=lose)


def wait_until_gone(pids: list[int]) -> None:
    alive = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    deadline = time.monotonic() + PATIENCE_S
    while any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in alive):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait_for_pids(folder: Path) -> list[int]:
    """The worker and the child of its order `sleep`."""
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "pids").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def test_every_order_gets_its_result(tmp_path: Path) -> None:
    orders = [f"echo {number}" for number in range(20)]
    with open_pool(tmp_path) as pool:
        for _ in range(2):
            assert sorted(pool.run(orders)) == sorted((order, order[5:]) for order in orders)


def test_workers_that_are_idle_close_what_they_opened(tmp_path: Path) -> None:
    with open_pool(tmp_path) as pool:
        list(pool.run(["echo a", "echo b"]))
    assert len(list(tmp_path.glob("closed *"))) == 2


def test_each_worker_gets_an_order_before_any_gets_a_second(tmp_path: Path) -> None:
    with open_pool(tmp_path) as pool:
        results = pool.run(["until-stopped", "echo b"])
        assert next(results) == ("echo b", "b")  # from the other worker, since the first one never ends


def test_a_death_in_the_middle_costs_time_only(tmp_path: Path) -> None:
    orders = [f"die-once {number}" for number in range(4)]
    with open_pool(tmp_path) as pool:
        assert sorted(pool.run(orders)) == sorted((order, order[9:]) for order in orders)


def test_an_order_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    with open_pool(tmp_path) as pool:
        results = dict(pool.run(["echo a", "die", "echo b"]))
    assert results == {
        "echo a": "a",
        "echo b": "b",
        "die": f"dead 0: the worker process died {MAX_DEATHS} times (exit code 7)",
    }


def test_without_a_handler_a_lost_order_is_an_error(tmp_path: Path) -> None:
    pool: WorkerPool[str, str] = WorkerPool(partial(prepare, tmp_path), name="test worker")
    with pool, pytest.raises(WorkerError, match="died 3 times"):
        list(pool.run(["die"]))


def test_workers_that_die_at_their_start_are_an_error(tmp_path: Path) -> None:
    with (
        open_pool(tmp_path, "die") as pool,
        pytest.raises(WorkerError, match=r"dying during start-up \(last exit code 9\)"),
    ):
        list(pool.run(["echo a"]))


def test_an_error_at_the_start_reaches_the_parent(tmp_path: Path) -> None:
    with open_pool(tmp_path, "refuse") as pool, pytest.raises(InputError, match="no such network"):
        list(pool.run(["echo a"]))


def test_a_worker_that_hangs_is_ended(tmp_path: Path) -> None:
    with open_pool(tmp_path) as pool:
        results = dict(pool.run(["hang 1", "echo a", "echo b"]))
    assert results["hang 1"].startswith("hung 1: the worker did not answer in time")
    assert (results["echo a"], results["echo b"]) == ("a", "b")


def test_errors_and_bugs_reach_the_parent(tmp_path: Path) -> None:
    with open_pool(tmp_path) as pool, pytest.raises(InputError, match="no such thing"):
        list(pool.run(["refuse no such thing"]))
    with open_pool(tmp_path) as pool, pytest.raises(WorkerError, match=r"(?s)Traceback.*ZeroDivisionError: oops"):
        list(pool.run(["bug oops"]))


def test_closing_kills_workers_and_what_they_started(tmp_path: Path) -> None:
    with open_pool(tmp_path) as pool:
        results = pool.run(["sleep", "echo a"])
        assert next(results) == ("echo a", "a")
        pids = wait_for_pids(tmp_path)
    assert len(pids) == 2
    wait_until_gone(pids)


PARENT = """
import sys
from functools import partial
from pathlib import Path
from tengen.core.worker_process import WorkerProcess
from tests.core.test_worker_pool import prepare

if __name__ == "__main__":
    worker = WorkerProcess(partial(prepare, Path(sys.argv[1])), name="test worker")
    worker.send(0, "sleep")
    worker.receive()
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_workers_exit_with_their_parent(tmp_path: Path, is_killed: bool) -> None:
    """When it is killed, and when it exits without ending its worker."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = (sys.executable, str(script), str(tmp_path))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        assert parent.stdout.readline() == b"ready\n"
        pids = wait_for_pids(tmp_path)
        if is_killed:
            parent.kill()
        else:
            parent.stdin.close()
        parent.wait(PATIENCE_S)
    wait_until_gone(pids)


@pytest.mark.parametrize("begins_first", [True, False])
def test_an_order_can_be_stopped_before_and_after_it_begins(tmp_path: Path, begins_first: bool) -> None:
    worker = WorkerProcess(partial(prepare, tmp_path), name="test worker")
    try:
        worker.send(1, "until-stopped")
        if not begins_first:
            worker.stop(1)
        assert worker.receive() is None
        assert worker.receive() == OrderReport(1, "began")
        if begins_first:
            worker.stop(1)
        result = worker.receive()
        assert isinstance(result, OrderResult)
        assert (result.number, result.payload, result.error) == (1, "stopped", None)
    finally:
        worker.end()
