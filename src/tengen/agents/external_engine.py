"""The player `brain`: an external engine that speaks the Piskvork (Gomocup) protocol (`brain:cmd=./pbrain-x`)."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from tengen.agents.registry import AgentKind, parameter
from tengen.core.contracts import Agent, Analysis, Decision, Limits, Report, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import GameOverError, InputError
from tengen.protocols.pipe import PipeLog
from tengen.protocols.piskvork.manager import EngineSettings, PiskvorkManager
from tengen.protocols.piskvork.notation import About, is_playable
from tengen.protocols.piskvork.swap2 import Swap2Answer


@dataclass(frozen=True)
class BrainParameters:
    """Parameters of `brain`: how to run an external engine."""

    cmd: str = parameter(help="Program and its arguments, quoted as for a shell (no shell is used).")
    cwd: str | None = parameter(None, help="Working directory for the program (default: the current directory).")
    memory_mb: int | None = parameter(None, help="Memory limit in MB, including child processes (default: no limit).")
    tolerance_ms: int = parameter(
        1000, help="Tolerance in milliseconds; a move that exceeds its time limit by more than this loses the game."
    )
    start_ms: int = parameter(10_000, help="Startup timeout in milliseconds.")
    turn_ms: int = parameter(30_000, help="Time per move in milliseconds if no time limit is set.")
    nodes: int = parameter(
        0, help="Node limit per move, sent as INFO MAX_NODE if the engine supports it; 0 for no limit."
    )
    threads: int = parameter(1, help="Number of threads the engine may use; the per-move limits may allow more.")
    suspend: bool = parameter(
        False, help="Suspend the process when it is not the engine's turn (not supported on Windows)."
    )
    strict: bool = parameter(False, help="Lose the game immediately if the engine answers ERROR or UNKNOWN.")
    log: str | None = parameter(None, help="Append all communication to this file (default: no log).")

    def __post_init__(self) -> None:
        if not split_command(self.cmd):
            raise ValueError("cmd is empty: set it to a program and its arguments")
        for name in ("tolerance_ms", "start_ms", "turn_ms", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.nodes < 0:
            raise ValueError(f"nodes={self.nodes} is negative")
        if self.memory_mb is not None and self.memory_mb < 1:
            raise ValueError(f"memory-mb must be at least 1, not {self.memory_mb}")


class BrainAgent(Agent):
    """An external engine. It is started for the first game and restarted after every failure.

    If the engine fails, the search raises an `EngineError` whose `reason` is the kind of failure.
    """

    def __init__(self, parameters: BrainParameters) -> None:
        self._nodes = parameters.nodes
        self._log = PipeLog(parameters.log) if parameters.log else None
        self._manager = PiskvorkManager(
            EngineSettings(
                argv=resolve_command(parameters.cmd, parameters.cwd),
                cwd=parameters.cwd,
                memory_bytes=None if parameters.memory_mb is None else parameters.memory_mb * 2**20,
                tolerance_ms=parameters.tolerance_ms,
                start_ms=parameters.start_ms,
                turn_ms=parameters.turn_ms,
                is_suspended_when_idle=parameters.suspend,
                is_strict=parameters.strict,
            ),
            self._log,
        )
        self._manager.configure(memory_bytes=None, threads=parameters.threads)

    @property
    def pid(self) -> int | None:
        """Process id of the engine; None while it is not running."""
        return self._manager.pid

    def supports(self, ruleset: Ruleset) -> bool:
        """Return whether the protocol supports the ruleset. If the engine itself does not, `new_game` raises an error.

        That error is an `EngineError`.
        """
        return is_playable(ruleset)

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        """Set the limits that are sent to the engine with the next game or move."""
        self._manager.configure(memory_bytes=memory_bytes, threads=threads)

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        """Prepare the engine for a game. The seed is ignored, because the protocol does not support one."""
        self._manager.new_game(ruleset)

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        """Create a search. Iterating over the search raises `AgentError` unless the engine supports YXNBEST.

        An engine without a stop command runs until its time is up.
        """
        own = self._own(limits)

        def run(stop: StopSignal, report: Report) -> Decision:
            _check_ongoing(position)
            move = self._manager.ask_move(position, own, stop)
            return Decision(move=move, messages=self._manager.messages)

        def snapshots(stop: StopSignal) -> Generator[Analysis, None, None]:
            _check_ongoing(position)
            return self._manager.analyse(position, own, lines, stop)

        return Search(run, snapshots)

    def answer_swap2(
        self, ruleset: Ruleset, points: Sequence[Point], limits: Limits, stop: StopSignal | None = None
    ) -> Swap2Answer:
        """Return the engine's answer to a swap2 opening of 0, 3 or 5 stones. The engine must support SWAP2BOARD."""
        return self._manager.ask_swap2(ruleset, points, self._own(limits), stop or StopSignal())

    def _own(self, limits: Limits) -> Limits:
        nodes = min(filter(None, (limits.nodes, self._nodes)), default=None)
        return dataclasses.replace(limits, nodes=nodes)

    def about(self) -> About | None:
        """Return the running engine's answer to ABOUT; None if it does not answer."""
        return self._manager.ask_about()

    def close(self) -> None:
        """Stop the engine and close the log."""
        self._manager.close()
        if self._log is not None:
            self._log.close()


def split_command(cmd: str) -> tuple[str, ...]:
    """Split a command line into words. Raises `ValueError` if a quote is not closed."""
    words = shlex.split(cmd, posix=os.name == "posix")
    return tuple(words if os.name == "posix" else (word.strip('"') for word in words))


def resolve_command(cmd: str, cwd: str | None) -> tuple[str, ...]:
    """Split a command line and resolve a relative path, so that the program's working directory does not matter.

    A program name that is not on PATH is also looked up next to the Python interpreter: `pbrain-tengen` is found there
    even if the virtual environment is not activated. Raises `InputError` for an empty command or an unclosed quote.
    """
    try:
        argv = split_command(cmd)
    except ValueError as error:
        raise InputError(f"invalid command {cmd!r}: {error}") from None
    if not argv:
        raise InputError("the command is empty; specify a program and its arguments")
    program = argv[0]
    if os.path.dirname(program):
        return (os.path.abspath(program), *argv[1:]) if cwd is not None and shutil.which(program) else argv
    beside = None if shutil.which(program) else shutil.which(program, path=os.path.dirname(sys.executable))
    return (beside, *argv[1:]) if beside else argv


def _check_ongoing(position: Position) -> None:
    if position.is_over:
        raise GameOverError(f"the engine cannot move: the game is over\n{position}")


KINDS = (AgentKind("brain", "Any engine that speaks the Piskvork (Gomocup) protocol.", BrainParameters, BrainAgent),)
