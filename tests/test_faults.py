"""The failing disk of `tests.faults` fails where it is told to, once, and leaves what a real disk would leave."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tengen.core.files import replace_file, replace_folder
from tests.faults import KINDS, Kind, fail_nth

WORDS = "|".join((*map(os.strerror, (errno.ENOSPC, errno.EIO, errno.EROFS)), "disk is full", "I/O error", "readonly"))


def write_numbers(folder: Path) -> None:
    # Opened here, because `zipfile` tries another mode when it cannot open a file and so hides the fault.
    with open(folder / "arrays.npz", "wb") as file:
        np.savez(file, numbers=np.arange(10))


def store_all(folder: Path) -> None:
    """Write in every way that the package does."""
    replace_file(folder / "a", b"new")
    with open(folder / "log", "ab", buffering=0) as file:
        file.write(b"0123456789")
    replace_folder(folder / "checkpoint", write_numbers)
    (folder / "notes").write_text("words", encoding="utf-8")
    with open(folder / "notes", encoding="utf-8") as file_read:
        file_read.read()
    database = sqlite3.connect(folder / "games.sqlite", isolation_level=None)
    database.execute("CREATE TABLE entries (id INTEGER)")
    database.execute("INSERT INTO entries VALUES (1)")
    database.execute("SELECT * FROM entries").fetchall()
    database.close()


def test_every_operation_is_counted_in_order(tmp_path: Path) -> None:
    with fail_nth(0, "no space", under=tmp_path) as fault:
        store_all(tmp_path)
    kinds = [operation.split()[0] for operation in fault.operations]
    assert kinds[:4] == ["create", "write", "fsync", "rename"]
    assert kinds[4:6] == ["create", "write"]
    assert kinds[-4:] == ["create", "write", "commit", "commit"]
    assert fault.operations[-1] == "commit games.sqlite: INSERT INTO ENTRIES VALUES (1)"
    assert not fault.happened


@pytest.mark.parametrize("kind", KINDS)
def test_each_operation_can_fail_once(tmp_path: Path, kind: Kind) -> None:
    (tmp_path / "0").mkdir()
    with fail_nth(0, kind, under=tmp_path / "0") as counted:
        store_all(tmp_path / "0")
    failed: list[str] = []
    for n in range(1, len(counted.operations) + 1):
        folder = tmp_path / str(n)
        folder.mkdir()
        with fail_nth(n, kind, under=folder) as fault, pytest.raises((OSError, sqlite3.OperationalError), match=WORDS):
            store_all(folder)
        failed += fault.failed
    assert failed == counted.operations
    assert len(failed) > 15


def test_a_failing_write_leaves_half_of_its_data(tmp_path: Path) -> None:
    with (
        fail_nth(2, "no space", under=tmp_path),
        pytest.raises(OSError, match=os.strerror(errno.ENOSPC)),
        open(tmp_path / "log", "ab", buffering=0) as file,
    ):
        file.write(b"0123456789")
    assert (tmp_path / "log").read_bytes() == b"01234"


def test_a_lasting_fault_fails_until_the_block_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with fail_nth(2, "io error", under=tmp_path, lasting=True) as fault:
        for _ in range(2):
            with pytest.raises(OSError, match=os.strerror(errno.EIO)):
                replace_file(tmp_path / "a", b"new")
    assert len(fault.failed) >= 2
    assert (tmp_path / "a").read_bytes() == b"old"
    replace_file(tmp_path / "a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with fail_nth(1, "read-only", under=tmp_path / "in", lasting=True) as fault:
        (tmp_path / "out").write_text("fine", encoding="utf-8")
    assert not fault.operations
