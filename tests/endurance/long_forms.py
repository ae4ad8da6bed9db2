"""The long forms of the tests in this folder, for `python -m tests.endurance`."""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from collections import Counter
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path

from tests.faults import KINDS


def fail_everything() -> int:
    """Fail every operation of a training iteration and of a tournament with every kind of error."""
    from tests.endurance import tournament_faults
    from tests.endurance.training_faults import Training

    with tempfile.TemporaryDirectory() as folder:
        training = Training(Path(folder) / "training")
        operations = training.operations()
        faults: Counter[str] = Counter()
        for kind in KINDS:
            for operation, _ in training.fail(range(1, len(operations) + 1), cycle([kind])):
                faults[operation.split()[0]] += 1
        print(f"training iteration: {_describe(faults)}; every resumed run ended like the unbroken one", flush=True)
        faults.clear()
        (Path(folder) / "tournament").mkdir()
        operations = tournament_faults.count_operations(Path(folder) / "tournament")
        for kind in KINDS:
            target = Path(folder) / kind.replace(" ", "-")
            target.mkdir()
            for operation, _ in tournament_faults.fail(target, range(1, len(operations) + 1), cycle([kind])):
                faults[operation.split()[0]] += 1
        print(f"tournament: {_describe(faults)}; no counted game was lost", flush=True)
    return 0


def _describe(faults: Counter[str]) -> str:
    parts = ", ".join(f"{count} {name}" for name, count in faults.most_common())
    return f"{faults.total()} faults ({parts})"


def run_mutations(name: str, seed: int, count: int, link: Connection) -> None:
    """Run the cases of one subject in a child process; send each case, then the counts and the peak memory."""
    from tests.endurance.mutations import SUBJECTS

    (subject,) = (one for one in SUBJECTS if one.name == name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = subject(Path(folder) / "samples")
            found = made.run(seed, count, link.send)
            link.send((dict(found), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024))
        except AssertionError as error:
            link.send(str(error))


def mutate_everything(names: list[str], seed: int, count: int, limit: float, memory: int) -> int:
    """Run all subjects; return the exit code."""
    failures = 0
    context = multiprocessing.get_context("spawn")
    for name in names:
        ours, theirs = context.Pipe()
        process = context.Process(target=run_mutations, args=(name, seed, count, theirs))
        process.start()
        theirs.close()
        begun, case, answer = time.monotonic(), -1, None
        slowest = 0.0
        try:
            while True:
                asked = time.monotonic()
                # The samples of the first case take longer to make.
                if not ours.poll(limit if case >= 0 else 600):
                    answer = f"{name}, seed {seed}, case {case}: no answer in {limit:g} s"
                    break
                answer = ours.recv()
                if not isinstance(answer, int):
                    break
                slowest = max(slowest, time.monotonic() - asked if case >= 0 else 0.0)
                case = answer
        except EOFError:
            answer = f"{name}, seed {seed}, case {case}: the process died"
        finally:
            process.kill()
            process.join()
        if isinstance(answer, str):
            print(f"FAILED {answer}", flush=True)
            failures += 1
            continue
        assert isinstance(answer, tuple)
        counts, peak_mb = answer
        shown = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
        print(
            f"{name}: {count} mutations, {shown}; slowest {slowest:.2f} s, peak {peak_mb} MB,"
            f" {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        failures += peak_mb > memory
    return int(failures > 0)
