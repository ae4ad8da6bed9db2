"""A manager for tests, connected to a brain in a thread of this process or in a child process; and test players."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import Self

from tengen.core.contracts import Agent, Analysis, AnalysisLine, Decision, Limits, Proof, Report, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.protocols.pipe import LineSplitter
from tengen.protocols.piskvork.brain import BrainServer
from tengen.protocols.piskvork.notation import About
from tengen.protocols.piskvork.settings import Settings

PATIENCE_S = 30.0
"""Timeout for expected answers, long enough for a busy machine."""


class Connection:
    """Sends lines to a brain and receives lines from it."""

    def __init__(self, input_fd: int, output_fd: int) -> None:
        self._input = input_fd
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(output_fd,), daemon=True)
        self._reader.start()

    def send(self, text: str) -> None:
        """Send one or several lines."""
        self.send_bytes(text.encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        os.write(self._input, data)

    def line(self, seconds: float = PATIENCE_S) -> str:
        """Return the next line."""
        line = self._lines.get(timeout=seconds)
        assert line is not None, "the brain has closed its output"
        return line

    def answer(self, seconds: float = PATIENCE_S) -> str:
        """Return the next line other than MESSAGE, DEBUG and INFO."""
        while (line := self.line(seconds)).startswith(("MESSAGE", "DEBUG", "INFO")):
            pass
        return line

    def ask(self, text: str) -> str:
        """Send lines and return the answer."""
        self.send(text)
        return self.answer()

    def lines_until_answer(self) -> list[str]:
        """Return all lines up to and including the next answer."""
        lines = [self.line()]
        while lines[-1].startswith(("MESSAGE", "DEBUG", "INFO")):
            lines.append(self.line())
        return lines

    def rest(self) -> list[str]:
        """Return the remaining lines until the output ends."""
        lines: list[str] = []
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            lines.append(line)
        return lines

    def _read(self, output_fd: int) -> None:
        splitter = LineSplitter()
        while data := os.read(output_fd, 65_536):
            for line in splitter.feed(data):
                self._lines.put(line)
        self._lines.put(None)


class LocalBrain(Connection):
    """A brain in this process; the `with` statement ends it."""

    def __init__(self, make_agent: Callable[[], Agent]) -> None:
        to_brain, self._to_brain = os.pipe()
        self._from_brain, from_brain = os.pipe()
        self._server = BrainServer(
            make_agent,
            lambda: os.read(to_brain, 65_536),
            lambda data: _write_all(from_brain, data),
            about=About("Test", "1"),
        )
        self._served = threading.Thread(target=self._serve, args=(to_brain, from_brain), daemon=True)
        self._served.start()
        super().__init__(self._to_brain, self._from_brain)

    @property
    def settings(self) -> Settings:
        """The settings of the running session."""
        return self._server._session.settings

    def _serve(self, to_brain: int, from_brain: int) -> None:
        self._server.run()
        os.close(to_brain)
        os.close(from_brain)

    def end(self, text: str = "END") -> list[str]:
        """End the session and return the remaining output."""
        if text:
            self.send(text)
        os.close(self._to_brain)
        lines = self.rest()
        self._served.join(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        os.close(self._from_brain)
        return lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if exception[0] is None:
            self.end()


class BrainProcess(Connection):
    """A brain in a child process; the `with` statement kills it."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        super().__init__(self.process.stdin.fileno(), self.process.stdout.fileno())

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def leave(self) -> tuple[list[str], bytes]:
        """Wait for the process to exit; return its remaining output and its stderr."""
        assert self.process.stderr is not None
        lines = self.rest()
        errors = self.process.stderr.read()
        self.process.wait(PATIENCE_S)
        return lines, errors

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


# -- players -----------------------------------------------------------------------------------------------------------


class FirstPoint(Agent):
    """Plays the first legal point, from the lower left, and records all calls."""

    name = "first"

    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.limits: list[Limits] = []
        self.games: list[tuple[Ruleset, int]] = []
        self.bounds: list[tuple[int | None, int | None]] = []
        self.is_closed = False

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        self.bounds.append((memory_bytes, threads))

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self.games.append((ruleset, seed))

    def choose(self, position: Position, limits: Limits) -> Decision:
        self.positions.append(position)
        self.limits.append(limits)
        return Decision(move=position.legal_points()[0])

    def close(self) -> None:
        self.is_closed = True


class Obedient(FirstPoint):
    """Thinks until `stop` is called."""

    name = "obedient"

    def __init__(self) -> None:
        super().__init__()
        self.is_thinking = threading.Event()

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        def run(stop: StopSignal, report: Report) -> Decision:
            is_stopped = threading.Event()
            with stop.calling(is_stopped.set):
                self.is_thinking.set()
                is_stopped.wait(limits.time_ms / 1000 if limits.time_ms is not None else None)
                self.is_thinking.clear()
            return self.choose(position, limits)

        return Search(run)


class Stubborn(FirstPoint):
    """Ignores `stop` and thinks until `release` is set."""

    name = "stubborn"

    def __init__(self) -> None:
        super().__init__()
        self.is_thinking = threading.Event()
        self.release = threading.Event()

    def choose(self, position: Position, limits: Limits) -> Decision:
        self.is_thinking.set()
        self.release.wait()
        return super().choose(position, limits)


class Slow(Stubborn):
    """Has a best move so far long before it answers."""

    name = "slow"

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        def run(stop: StopSignal, report: Report) -> Decision:
            report(Analysis(lines=(AnalysisLine(move=Point("d5"), value_to_move=0.0, line=(Point("d5"),)),)))
            return self.choose(position, limits)

        return Search(run)


class Failing(Agent):
    """Raises an exception at every move."""

    name = "failing"

    def choose(self, position: Position, limits: Limits) -> Decision:
        raise RuntimeError("out of ideas\non two lines")


class Cheating(Agent):
    """Always plays the centre, even if it is occupied."""

    name = "cheating"

    def choose(self, position: Position, limits: Limits) -> Decision:
        return Decision(move=position.ruleset.centre)


class Valuing(Agent):
    """Plays the first legal point and gives every position the same value."""

    name = "valuing"

    def __init__(self, value: float) -> None:
        self._value = value

    def choose(self, position: Position, limits: Limits) -> Decision:
        return Decision(move=position.legal_points()[0], value_to_move=self._value, nodes=10, depth=2)


class Analyst(FirstPoint):
    """Reports the first legal points at depths 1, 2 and 3, the n-th with value 0.5 - n/10.

    With `is_deep`, it continues until `stop`.
    """

    name = "analyst"

    def __init__(self, *, is_deep: bool = False) -> None:
        super().__init__()
        self._is_deep = is_deep
        self.excluded: frozenset[Point] = frozenset()
        self.table_bytes = 0

    def exclude(self, points: frozenset[Point]) -> None:
        self.excluded = points

    def resize_table(self, table_bytes: int) -> None:
        self.table_bytes = table_bytes

    def table_usage(self) -> float:
        return 0.25

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        return Search(
            lambda stop, report: self.choose(position, limits), lambda stop: self._snapshots(position, lines, stop)
        )

    def _snapshots(self, position: Position, lines: int, stop: StopSignal) -> Generator[Analysis, None, None]:
        points = [point for point in position.legal_points() if point not in self.excluded][:lines]
        depth = 0
        while depth < 3 or (self._is_deep and not stop.is_set()):
            depth += 1
            yield Analysis(
                lines=tuple(
                    AnalysisLine(
                        move=point,
                        value_to_move=0.5 - index / 10,
                        line=(point,),
                        proof=Proof("loss", 4) if index == 2 else None,
                        depth=depth,
                        selective_depth=depth + 2,
                        visits=10,
                    )
                    for index, point in enumerate(points)
                ),
                depth=depth,
                nodes=100 * depth,
                elapsed_ms=1.0,
            )
            if depth > 3:
                time.sleep(0.001)
