"""The long forms of the tests in this folder, for `python -m tests.endurance`."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path

from tengen.arena.match import TimeControl
from tests.faults import KINDS


def fail_everything() -> int:
    """Fail every operation of a training iteration, a tournament and a web session with every kind of error."""
    scenarios: tuple[tuple[str, Callable[[Path], Iterator[str]], str], ...] = (
        ("training iteration", _fail_training, "every resumed run ended like the unbroken one"),
        ("tournament", _fail_tournament, "no counted game was lost"),
        ("web session", _fail_web, "no acknowledged move, game or study was lost"),
    )
    total = 0
    for name, fail, result in scenarios:
        with tempfile.TemporaryDirectory() as folder:
            faults = Counter(operation.split()[0] for operation in fail(Path(folder)))
        parts = ", ".join(f"{count} {operation}" for operation, count in faults.most_common())
        print(f"{name}: {faults.total()} faults ({parts}); {result}", flush=True)
        total += faults.total()
    print(f"{total} faults in all", flush=True)
    return 0


def _fail_training(folder: Path) -> Iterator[str]:
    """Yield the operations of a training iteration as they fail."""
    from tests.endurance.training_faults import Training

    training = Training(folder)
    numbers = range(1, len(training.operations()) + 1)
    for kind in KINDS:
        for operation, _ in training.fail(numbers, cycle([kind])):
            yield operation


def _fail_tournament(folder: Path) -> Iterator[str]:
    """Yield the operations of a tournament as they fail."""
    from tests.endurance import tournament_faults

    numbers = range(1, len(tournament_faults.count_operations(folder)) + 1)
    for kind in KINDS:
        for operation, _ in tournament_faults.fail(folder, numbers, cycle([kind])):
            yield operation


def _fail_web(folder: Path) -> Iterator[str]:
    """Yield the operations of a web session as they fail."""
    from tests.endurance.web_faults import spend_evening_with_fault, start_machine

    with start_machine() as machine:
        counted = spend_evening_with_fault(machine, folder / "counted", 0, "no space")
        for kind in KINDS:
            for number in range(1, len(counted.operations) + 1):
                fault = spend_evening_with_fault(machine, folder / f"{number}-{kind}", number, kind)
                assert fault.happened, f"operation {number} did not fail"
                yield fault.failed[0]


def count_time_losses(games: int, control: TimeControl) -> int:
    """Play games of the engine against itself through the protocol; return 1 if any was lost on time."""
    from tengen.arena.adjudication import Adjudication, ProofTrust
    from tengen.arena.entrant import Entrant
    from tengen.arena.store import GameStore
    from tengen.arena.tournament import Tournament, play
    from tengen.core.contracts import Ruleset

    lost = 0
    brain = f'brain:cmd="{sys.executable} -m tengen.cli brain",start_ms=60000'
    for rules in ("freestyle", "standard", "renju", "caro", "20x20:5:freestyle"):
        tournament = Tournament(
            rules=(Ruleset.parse(rules),),
            players=(Entrant(agent=brain), Entrant(agent=brain)),
            rounds=(games + 1) // 2,
            games=games,
            limits=control,
            adjudication=Adjudication(proofs=ProofTrust.BOTH),
        )
        with GameStore(None) as store:
            endings = play(tournament, store).tally.endings
            slowest = max((turn.time_ms for stored in store.games() for turn in stored.result.turns), default=0.0)
        forfeits = {ending: count for ending, count in endings.items() if ending.is_forfeit}
        lost += sum(forfeits.values())
        text = ", ".join(f"{count} by {ending}" for ending, count in forfeits.items()) or "no forfeits"
        clock = f"{control.time_ms} ms" if control.match_ms is None else f"{control.match_ms}+{control.increment_ms} ms"
        print(f"{rules}: {endings.total()} games at {clock}, {text}, slowest move {slowest:.0f} ms", flush=True)
    return 1 if lost else 0


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
