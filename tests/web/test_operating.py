"""Operating the laboratory from the browser: training runs and tournaments as processes that outlive the server."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from starlette.testclient import TestClient

from tengen.errors import InputError
from tengen.learning.algorithms import ppo
from tengen.learning.algorithms.registry import find_algorithm
from tengen.learning.config import describe_keys, load_config, preset_table
from tengen.learning.run import Run, new_header
from tengen.web.app import create_app
from tengen.web.laboratory.managed import ORDER_FILE, STOP_FILE, Ending, Order, command, is_alive, read_ending
from tengen.web.laboratory.operating import OperatingLimits, Operations
from tengen.web.laboratory.training_choices import SETTINGS, check_choice, describe_algorithms
from tengen.web.limits import is_loopback
from tengen.web.services import ServerConfig, Services
from tengen.web.serving import _why_read_only
from tengen.web.workers.scheduler import SearchPoolConfig
from tests.web.conftest import GENEROUS
from tests.web.talk import Json

PATIENCE_S = 600
LOCAL = "http://127.0.0.1:8080"
TINY = {
    "iterations": 2,
    "minutes": 0,
    "play.games": 4,
    "net.channels": 4,
    "net.blocks": 1,
    "learner.batch": 16,
    "strength.every": 0,
    "milestone_every": 1,
}
TRAINING: Json = {"name": "tiny", "algorithm": "ppo", "preset": "6x6x4", "settings": TINY, "seed": 3}
TOURNAMENT: Json = {
    "name": "cup",
    "rules": "6x6:4:freestyle",
    "players": ["random", "naive:level=1"],
    "rounds": 1,
    "timeMs": 1000,
}
LONG: Json = TRAINING | {"settings": TINY | {"iterations": 100_000}}


@contextmanager
def laboratory(folder: Path, **fields: object) -> Iterator[TestClient]:
    """Start a server whose laboratory can be operated; its processes live on when it ends."""
    (folder / "runs").mkdir(exist_ok=True)
    config = ServerConfig(
        data=folder / "data",
        runs=(folder / "runs",),
        read_only="",
        limits=replace(GENEROUS, hosts=frozenset({"127.0.0.1", "lab.example"})),
        operating=OperatingLimits(min_free_mb=0),
        pool=SearchPoolConfig(workers=1),
    )
    app = create_app(replace(config, **fields))  # type: ignore[arg-type]
    with TestClient(app, base_url=LOCAL, client=("127.0.0.1", 50_000)) as client:
        yield client


@pytest.fixture(autouse=True)
def _no_process_survives(tmp_path: Path) -> Iterator[None]:
    yield
    for process in processes(tmp_path):
        process.kill()
        process.wait()


def processes(folder: Path) -> list[psutil.Process]:
    """Return the managed processes whose orders are below a folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "tengen.web.laboratory.managed" in line and line[-1].startswith(str(folder)):
            found.append(process)
    return found


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.05)


def operation(client: TestClient) -> Json:
    """Return the only operation."""
    (found,) = client.get("/api/operations").json()["operations"]
    assert isinstance(found, dict)
    return found


def operations_of(client: TestClient) -> Operations:
    services: Services = cast("Any", client.app).state.services
    return services.operations


def wait_for(client: TestClient, *states: str) -> Json:
    wait_until(lambda: operation(client)["state"] in states)
    return operation(client)


def has_iterations(folder: Path, count: int) -> bool:
    metrics = folder / "runs" / "tiny" / "metrics.jsonl"
    return metrics.exists() and metrics.read_bytes().count(b"\n") >= count


# -- training ---------------------------------------------------------------------------------------------------------


def test_a_run_is_trained_extended_and_played(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        started = client.post("/api/operations/training", json=TRAINING)
        assert (started.status_code, started.json()["state"]) == (201, "running"), started.text
        assert wait_for(client, "finished", "failed")["state"] == "finished", operation(client)
        (run,) = client.get("/api/runs").json()["runs"]
        assert (run["name"], run["steps"], run["state"], run["milestones"]) == ("tiny", 2, "finished", [1, 2])
        assert client.get("/api/runs/tiny").json()["summary"] == run
        again = client.post("/api/operations/training", json=TRAINING)
        assert (again.status_code, again.json()["code"]) == (409, "not-due")
        resume = "/api/operations/resume/training/tiny"
        assert client.post(resume, json={}).status_code == 409
        assert "by iterations" in client.post(resume, json={"moreMinutes": 1}).json()["error"]
        assert client.post(resume, json={"moreIterations": 1}).status_code == 200
        assert wait_for(client, "finished", "failed")["state"] == "finished"
        assert client.get("/api/runs/tiny").json()["summary"]["steps"] == 3


def test_a_run_is_stopped_and_resumed(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        client.post("/api/operations/training", json=LONG)
        wait_until(lambda: has_iterations(tmp_path, 1))
        (run,) = client.get("/api/runs").json()["runs"]
        assert run["state"] == "running"
        assert run["secondsLeft"] > 0
        assert client.post("/api/operations/resume/training/tiny", json={}).status_code == 409
        assert client.post("/api/operations/stop/training/tiny", json={}).json()["state"] == "stopping"
        wait_for(client, "stopped")
        assert client.post("/api/operations/stop/training/tiny", json={}).status_code == 409
        before = client.get("/api/runs/tiny").json()["summary"]["steps"]
        assert client.post("/api/operations/resume/training/tiny", json={}).json()["state"] == "running"
        wait_until(lambda: client.get("/api/runs/tiny").json()["summary"]["steps"] > before)
        client.post("/api/operations/stop/training/tiny", json={})
        wait_for(client, "stopped")


def test_a_restarted_server_adopts_a_live_run_and_resumes_a_killed_one(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        client.post("/api/operations/training", json=LONG)
        wait_until(lambda: has_iterations(tmp_path, 1))
    (process,) = processes(tmp_path)
    with laboratory(tmp_path) as client:
        assert operation(client)["state"] == "running"
        assert [each.pid for each in processes(tmp_path)] == [process.pid]
    process.kill()
    process.wait()
    steps = len((tmp_path / "runs" / "tiny" / "metrics.jsonl").read_text().splitlines())
    with laboratory(tmp_path) as client:
        assert operation(client)["state"] == "running"
        (other,) = processes(tmp_path)
        assert other.pid != process.pid
        wait_until(lambda: has_iterations(tmp_path, steps + 1))
        client.post("/api/operations/stop/training/tiny", json={})
        wait_for(client, "stopped")
    with laboratory(tmp_path) as client:  # a run that somebody stopped stays stopped
        assert operation(client)["state"] == "stopped"
        assert processes(tmp_path) == []


def test_a_process_that_is_killed_again_and_again_is_left_alone(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        client.post("/api/operations/training", json=LONG)
    state = ""
    for _ in range(4):
        for process in processes(tmp_path):
            process.kill()
            process.wait()
        with laboratory(tmp_path) as client:
            state = operation(client)["state"]
    assert (state, processes(tmp_path)) == ("killed", [])


def test_a_killed_run_whose_configuration_now_names_a_program_is_not_restarted(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        client.post("/api/operations/training", json=LONG)
        wait_until(lambda: has_iterations(tmp_path, 1))
    for process in processes(tmp_path):
        process.kill()
        process.wait()
    config = tmp_path / "runs" / "tiny" / "config.toml"
    text = config.read_text(encoding="utf-8")
    for was, trap in (('algorithm = "ppo"', 'algorithm = "./evil.py:Learner"'), ('kind = "', 'kind = "./evil.py:')):
        assert was in text
        config.write_text(text.replace(was, trap, 1), encoding="utf-8")
        with laboratory(tmp_path) as client:
            assert operation(client)["state"] == "killed"
    assert processes(tmp_path) == []


def test_a_process_that_is_being_started_does_not_look_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    launch = Operations._launch
    with laboratory(tmp_path) as client:
        looking = threading.Thread(target=lambda: seen.append(operation(client)["state"]))

        def launch_slowly(operations: Operations, folder: Path) -> None:
            looking.start()
            looking.join(0.5)
            launch(operations, folder)

        monkeypatch.setattr(Operations, "_launch", launch_slowly)
        client.post("/api/operations/training", json=LONG)
        looking.join()
    assert seen == ["running"]


def test_a_failed_start_says_why_and_frees_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with laboratory(tmp_path) as client:
        # Only the process itself knows all rules for settings.
        ranges = cast("dict[str, Any]", SETTINGS["alphazero"])
        monkeypatch.setitem(ranges, "net.channels", replace(ranges["net.channels"], least=1))
        bad = {"self_play.games": 2, "net.channels": 1}
        client.post("/api/operations/training", json=TRAINING | {"algorithm": "alphazero", "settings": bad})
        found = wait_for(client, "failed")
        assert "channels 4–512, not" in found["message"]
        assert "Traceback" not in found["message"]
    assert list((tmp_path / "runs").iterdir()) == []


# -- the process itself -----------------------------------------------------------------------------------------------


def write_order(folder: Path, **fields: object) -> Path:
    order: Json = {
        "kind": "training",
        "name": "tiny",
        "path": str(folder / "run"),
        "started_at": time.time(),
        "deadline": time.time() + 1000,
        "memory_mb": 1 << 20,
        "algorithm": "ppo",
        "preset": "6x6x4",
        "settings": check_choice("ppo", "6x6x4", TINY | {"iterations": 100_000}),
    }
    Order(**(order | fields)).write(folder / "order")
    return folder / "order"


@pytest.mark.parametrize(
    ("fields", "ending", "reason"),
    [
        ({"deadline": 0.0}, Ending.TIMED_OUT, ""),
        ({"memory_mb": 1}, Ending.OUT_OF_MEMORY, ""),
        ({"min_free_mb": 1 << 40}, Ending.FAILED, "MB of disk space is free; free some, then resume"),
        ({"settings": ["net.channels=many"]}, Ending.FAILED, "channels"),
    ],
)
def test_a_process_ends_at_its_limits_and_says_why(tmp_path: Path, fields: Json, ending: Ending, reason: str) -> None:
    folder = write_order(tmp_path, **fields)
    subprocess.run(command(folder), check=False, capture_output=True)
    found = read_ending(folder)
    assert found is not None
    assert found[0] is ending
    assert reason in found[1]
    assert bool(reason) is bool(found[1])
    assert not is_alive(folder)


def test_a_run_that_ran_out_of_disk_space_is_resumed(tmp_path: Path) -> None:
    settings = check_choice("ppo", "6x6x4", TINY)
    subprocess.run(command(write_order(tmp_path, settings=settings)), check=True, capture_output=True)
    run = Run.open(tmp_path / "run")
    extension = {"config_sha256": run.config_sha256, "extension": {"iterations": 100_000}}
    folder = write_order(tmp_path, min_free_mb=1 << 40, output=str(tmp_path / "run"), **extension)
    subprocess.run(command(folder), check=True, capture_output=True)
    ended = read_ending(folder)
    assert ended is not None
    assert ended[0] is Ending.FAILED
    extension = {"config_sha256": Run.open(tmp_path / "run").config_sha256, "extension": {"iterations": 100_000}}
    done = len(run.metrics())
    process = subprocess.Popen(command(write_order(tmp_path, min_free_mb=1, **extension)))
    wait_until(lambda: len(run.metrics()) > done)
    (folder / STOP_FILE).touch()
    assert process.wait() == 0


def test_a_started_process_keeps_half_of_the_disk_space_free_that_it_needs_to_start(tmp_path: Path) -> None:
    with laboratory(tmp_path, operating=OperatingLimits(min_free_mb=4)) as client:
        client.post("/api/operations/training", json=LONG)
        client.post("/api/operations/tournament", json=TOURNAMENT)
        orders = {order.kind: order for _, order in operations_of(client)._orders()}
    assert {order.min_free_mb for order in orders.values()} == {2}
    assert Path(orders["training"].output) == tmp_path / "runs" / "tiny"
    assert Path(orders["tournament"].output) == tmp_path / "runs"


@pytest.mark.parametrize("checked", ["", "0" * 64])
def test_a_configuration_that_changed_after_the_check_is_refused(tmp_path: Path, checked: str) -> None:
    # A local writer puts a program into the configuration, after the server has read it and before the process does.
    Run.create(tmp_path / "run", new_header("ppo", "6x6x4", 1), load_config(ppo.Config, "ppo", "6x6x4"))
    config = tmp_path / "run" / "config.toml"
    text = config.read_text(encoding="utf-8")
    trap = f"brain:cmd='touch {tmp_path / 'executed'}'"
    config.write_text(text.replace('opponents = ["self"]', f"opponents = [{json.dumps(trap)}]"), encoding="utf-8")
    folder = write_order(tmp_path, config_sha256=checked)
    subprocess.run(command(folder), check=True, capture_output=True)
    found = read_ending(folder)
    assert found is not None
    assert found[0] is Ending.FAILED
    assert ("has changed since the server checked it" if checked else "already holds a run") in found[1]
    assert not (tmp_path / "executed").exists()
    assert not (tmp_path / "run" / "metrics.jsonl").exists()


def test_a_process_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "psutil.py").write_text("open('executed', 'w')")
    folder = write_order(tmp_path, deadline=0.0)
    subprocess.run(command(folder), check=False, capture_output=True, cwd=tmp_path)
    assert read_ending(folder) is not None
    assert not (tmp_path / "executed").exists()


def test_a_run_that_another_process_trains_is_kept(tmp_path: Path) -> None:
    config = load_config(ppo.Config, "ppo", "6x6x4")
    run = Run.create(tmp_path / "run", new_header("ppo", "6x6x4", 1), config)
    folder = write_order(tmp_path, config_sha256=run.config_sha256)
    with run.lock():
        subprocess.run(command(folder), check=False, capture_output=True)
        found = read_ending(folder)
        assert found is not None
        assert "another process is writing" in found[1]
        assert (tmp_path / "run" / "config.toml").exists()


def test_a_damaged_order_is_refused(tmp_path: Path) -> None:
    (tmp_path / ORDER_FILE).write_text('{"kind": "training", "unknown": 1}')
    with pytest.raises(InputError, match=r"order\.json is damaged"):
        Order.read(tmp_path)


# -- tournaments ------------------------------------------------------------------------------------------------------


def test_a_tournament_is_played(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        assert client.post("/api/operations/tournament", json=TOURNAMENT).status_code == 201
        assert wait_for(client, "finished", "failed")["state"] == "finished", operation(client)
        (summary,) = client.get("/api/tournaments").json()["tournaments"]
        assert (summary["name"], summary["games"], summary["gamesPlanned"]) == ("cup", 2, 2)
        assert summary["players"] == ["random", "naive:level=1"]


def test_networks_of_two_iterations_play_each_other(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        client.post("/api/operations/training", json=TRAINING)
        wait_for(client, "finished", "failed")
        players = ["policy:run=tiny,iteration=1", "policy:run=tiny,iteration=2"]
        played = client.post("/api/operations/tournament", json=TOURNAMENT | {"players": players})
        assert played.status_code == 201, played.text

        def states() -> list[str]:
            return [one["state"] for one in client.get("/api/operations").json()["operations"]]

        wait_until(lambda: states() == ["finished", "finished"])
        (summary,) = client.get("/api/tournaments").json()["tournaments"]
        assert summary["players"] == players
        missing = client.post("/api/operations/tournament", json=TOURNAMENT | {"players": ["random", players[0] + "0"]})
        assert missing.status_code == 400


# -- what a browser may ask for ---------------------------------------------------------------------------------------


def test_the_settings_are_those_of_the_algorithms() -> None:
    types = {"integer": True, "number": False}
    for algorithm, settings in SETTINGS.items():
        keys = {key.key: types.get(key.type) for key in describe_keys(find_algorithm(algorithm).Config, algorithm)}
        assert {key: one.is_integer for key, one in settings.items()} == {key: keys[key] for key in settings}
    for described in describe_algorithms():
        for preset in described.presets:
            assert preset.rules, preset.name
            table = preset_table(described.name, preset.name)
            Services(ServerConfig()).operations._check_agents(table)  # a run of any preset can be resumed
            check_choice(described.name, preset.name, preset.values)  # no preset is outside the limits


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "../up"},
        {"name": "a/b"},
        {"name": ".hidden"},
        {"name": "C"},
        {"name": "nul"},
        {"name": ""},
        {"algorithm": "supervised", "preset": "cnn"},
        {"algorithm": "../ppo"},
        {"preset": "../../../../etc/passwd"},
        {"preset": "none"},
        {"settings": {"init_from": 1}},
        {"settings": {"strength.opponents": 1}},
        {"settings": {"play.opponents": ["brain:cmd=touch x"]}},
        {"settings": {"net.channels": 100_000}},
        {"settings": {"net.channels": 2.5}},
        {"settings": {"iterations": 0}},
        {"maxMinutes": 1e9},
        {"unknown": 1},
    ],
)
def test_training_is_refused(tmp_path: Path, changes: Json) -> None:
    with laboratory(tmp_path) as client:
        assert client.post("/api/operations/training", json=TRAINING | changes).status_code in (400, 422)
        assert client.get("/api/operations").json()["operations"] == []
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"players": ["random", "brain:cmd=touch x"]},
        {"players": ["random", "alphazero:model=/etc/passwd"]},
        {"players": ["random", "alphazero:run=/tmp"]},
        {"players": ["random", "./evil.py:Agent"]},
        {"players": ["random", "random"]},
        {"players": ["random"]},
        {"players": ["random", "alphabeta:hash-mb=100000"]},
        {"rounds": 500, "players": ["random", "rule-based", "chains", "naive:level=1"]},
        {"timeMs": None},
        {"timeMs": 10**9},
        {"name": "../cup"},
        {"rules": "15x15:9"},
    ],
)
def test_tournaments_are_refused(tmp_path: Path, changes: Json) -> None:
    with laboratory(tmp_path) as client:
        assert client.post("/api/operations/tournament", json=TOURNAMENT | changes).status_code in (400, 422)
        assert client.get("/api/operations").json()["operations"] == []
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"host": "evil.example"},
        {"host": "lab.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"x-forwarded-for": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
        {"via": "1.1 proxy"},
    ],
)
def test_strange_pages_and_machines_cannot_operate(tmp_path: Path, headers: dict[str, str]) -> None:
    requests = {
        "training": TRAINING,
        "tournament": TOURNAMENT,
        "stop/training/tiny": {},
        "resume/training/tiny": {},
    }
    with laboratory(tmp_path) as client:
        for path, body in requests.items():
            sent = {"content-type": "application/json"} | headers
            response = client.post(f"/api/operations/{path}", content=json.dumps(body), headers=sent)
            assert response.status_code in (403, 422), (path, response.text)
        assert client.get("/api/operations").json()["operations"] == []
    assert list((tmp_path / "runs").iterdir()) == []


def test_another_machine_cannot_operate(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        stranger = TestClient(client.app, base_url=LOCAL, client=("192.0.2.1", 50_000))
        response = stranger.post("/api/operations/training", json=TRAINING)
        assert (response.status_code, response.json()["code"]) == (403, "refused")


def test_a_read_only_server_starts_and_resumes_nothing(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        client.post("/api/operations/training", json=LONG)
    for process in processes(tmp_path):
        process.kill()
        process.wait()
    with laboratory(tmp_path, read_only="the server was started with --read-only") as client:
        info = client.get("/api/operations").json()
        assert (info["isEnabled"], info["operations"]) == (False, [])
        for path in ("training", "tournament", "stop/training/tiny", "resume/training/tiny"):
            response = client.post(f"/api/operations/{path}", json={})
            assert response.status_code == 403
            assert "--read-only" in response.json()["error"]
    assert processes(tmp_path) == []


@pytest.mark.parametrize(
    ("host", "hosts", "proxies", "is_open"),
    [
        ("127.0.0.1", (), (), True),
        ("::1", (), (), True),
        ("localhost", (), (), True),
        ("0.0.0.0", (), (), False),
        ("::", (), (), False),
        ("192.168.0.7", (), (), False),
        ("127.0.0.1", ("lab.example",), (), False),
        ("127.0.0.1", (), ("127.0.0.1",), False),
    ],
)
def test_operating_is_off_unless_only_this_machine_can_reach_the_server(
    host: str, hosts: tuple[str, ...], proxies: tuple[str, ...], is_open: bool
) -> None:
    assert (_why_read_only(host, hosts, proxies, read_only=False) == "") is is_open
    assert _why_read_only(host, hosts, proxies, read_only=True)


def test_a_server_is_read_only_by_default() -> None:
    assert Services(ServerConfig()).operations.why_not
    assert Services(ServerConfig(read_only="")).operations.why_not  # without folders


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("strength", "opponents = ['brain:cmd=\"touch x\"']"),
        ("strength", "anchor = './evil.py:Agent'"),
        ("play", "opponents = ['self', 'brain:cmd=\"touch x\"']"),
        ("net", "kind = './evil.py:Net'"),
        ("strength", "opponents = 'brain:cmd=\"touch x\"'"),
        ("a" + ".a" * 3000, "b = 1"),
    ],
)
def test_a_run_that_names_a_program_is_not_resumed(tmp_path: Path, table: str, line: str) -> None:
    folder = tmp_path / "runs" / "trap"
    folder.mkdir(parents=True)
    text = f'[run]\nalgorithm = "ppo"\n[config]\nruleset = "6x6:4"\niterations = 5\n[config.{table}]\n'
    (folder / "config.toml").write_text(text + f"{line}\n")
    with laboratory(tmp_path) as client:
        response = client.post("/api/operations/resume/training/trap", json={})
        assert response.status_code == 400
        assert "cannot be resumed from a browser" in response.json()["error"]
        for name in ("..%2Ftrap", "%2Fetc", "none", "..%2F..%2Fetc"):
            assert client.post(f"/api/operations/resume/training/{name}", json={}).status_code == 404
        assert client.get("/api/operations").json()["operations"] == []


def test_a_link_does_not_free_a_name(tmp_path: Path) -> None:
    with laboratory(tmp_path) as client:
        (tmp_path / "runs" / "cup.db").symlink_to(tmp_path / "outside.db")
        assert client.post("/api/operations/tournament", json=TOURNAMENT).status_code == 409


def test_http_1_0_is_not_from_this_machine() -> None:
    scope = {
        "type": "http",
        "client": ("127.0.0.1", 50_000),
        "headers": [(b"host", b"127.0.0.1:8080")],
    }
    assert is_loopback(scope | {"http_version": "1.1"})
    assert not is_loopback(scope | {"http_version": "1.0"})


def test_the_number_of_processes_is_limited(tmp_path: Path) -> None:
    with laboratory(tmp_path, operating=OperatingLimits(max_processes=1, min_free_mb=0)) as client:
        client.post("/api/operations/training", json=LONG)
        response = client.post("/api/operations/tournament", json=TOURNAMENT)
        assert (response.status_code, response.json()["code"]) == (409, "not-due")
        client.post("/api/operations/stop/training/tiny", json={})
        wait_for(client, "stopped", "killed")
    with laboratory(tmp_path, operating=OperatingLimits(min_free_mb=1 << 40)) as client:
        assert client.post("/api/operations/tournament", json=TOURNAMENT).status_code == 409
