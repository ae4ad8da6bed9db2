"""A full or failing disk under the server: the client is told, nothing changes, and what was acknowledged is kept.

`python -m tests.endurance faults` fails every write of the session in every way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tengen.errors import StorageError
from tengen.web.store import Store
from tests.endurance.web_faults import Machine, Visit, spend_evening_with_fault, start_machine
from tests.faults import KINDS, Kind, fail_nth


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with start_machine() as machine:
        yield machine


def test_each_write_of_a_session_fails_once(machine: Machine, tmp_path: Path) -> None:
    counted = spend_evening_with_fault(machine, tmp_path / "0", 0, "no space")
    writes = len(counted.operations)
    assert writes >= 20, counted.operations
    faults = [
        spend_evening_with_fault(machine, tmp_path / str(n), n, KINDS[n % len(KINDS)]) for n in range(1, writes + 1)
    ]
    assert all(fault.happened for fault in faults)


@pytest.mark.thorough
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_each_write_of_a_session_fails_in_each_way(machine: Machine, tmp_path: Path, kind: Kind, lasting: bool) -> None:
    writes = len(spend_evening_with_fault(machine, tmp_path / "0", 0, kind).operations)
    for n in range(1, writes + 1):
        assert spend_evening_with_fault(machine, tmp_path / str(n), n, kind, lasting=lasting).happened


def test_a_disk_that_stays_full_is_survived(machine: Machine, tmp_path: Path) -> None:
    writes = len(spend_evening_with_fault(machine, tmp_path / "0", 0, "no space").operations)
    for n in range(1, writes + 1, 7):
        assert spend_evening_with_fault(machine, tmp_path / str(n), n, "no space", lasting=True).happened


def test_a_failed_write_deletes_no_old_entry(tmp_path: Path) -> None:
    store = Store(tmp_path / "games.sqlite", max_entries=1)
    store.put("game", "old", "body", is_new=True)
    store.close()
    with fail_nth(0, "no space", under=tmp_path) as opened:
        Store(tmp_path / "games.sqlite").close()
    for n in range(1, 4):  # INSERT, DELETE, COMMIT
        with fail_nth(len(opened.operations) + n, "no space", under=tmp_path):
            store = Store(tmp_path / "games.sqlite", max_entries=1)
            with pytest.raises(StorageError, match="cannot store the game: database or disk is full"):
                store.put("game", "new", "body", is_new=True)
            assert store.get("game", "old") == "body"
            store.close()
    store = Store(tmp_path / "games.sqlite", max_entries=1)
    store.put("game", "new", "body", is_new=True)
    assert (store.get("game", "old"), store.get("game", "new")) == (None, "body")


def test_the_oldest_entries_make_room(tmp_path: Path) -> None:
    store = Store(tmp_path / "games.sqlite", max_entries=5, max_bytes=200_000)
    for number in range(10):
        store.put("game", str(number), "x" * 100, is_new=True)
    assert [number for number in range(10) if store.get("game", str(number))] == [5, 6, 7, 8, 9]
    for number in range(5):
        store.put("study", str(100 + number), "x" * 80_000, is_new=True)
    assert [number for number in range(5) if store.get("study", str(100 + number))] == [3, 4]
    store.put("study", "104", "x" * 190_000)
    assert store.get("study", "103") is None
    assert store.get("game", "9")


def test_a_loss_on_time_that_cannot_be_stored_is_tried_again(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tengen.web.games.live_games._RETRY_S", 0.05)
    with (
        fail_nth(0, "io error", under=tmp_path) as fault,
        machine.server(tmp_path) as client,
        client.websocket_connect("/api/socket") as socket,
    ):
        visit = Visit(client, socket, fault)
        game = visit.begin(clock={"mainMs": 1000, "incrementMs": 0})
        fault.n, fault.lasting = 1, True
        socket.send_json({"type": "watch", "id": "watch", "gameId": game})
        for _ in range(2):
            problem = visit.receive(lambda message: message["type"] == "error")
            assert (problem["code"], problem["goesOn"]) == ("storage", True)
            assert client.get(f"/api/games/{game}").json()["outcome"] == "ongoing"
        fault.is_armed = False
        over = visit.receive(lambda message: message["type"] == "game" and message["game"]["outcome"] != "ongoing")
        assert over["game"]["reason"] == "time"
    with machine.server(tmp_path) as client:
        assert client.get(f"/api/games/{game}").json()["reason"] == "time"
