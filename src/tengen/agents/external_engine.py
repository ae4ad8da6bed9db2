"""Any program that speaks the Piskvork (Gomocup) protocol, as a player: `brain:cmd=./pbrain-x`."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tengen.agents.registry import AgentKind, parameter
from tengen.core.contracts import Agent, Analysis, Decision, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import GameOverError
from tengen.protocols.pipe import PipeLog
from tengen.protocols.piskvork.manager import EngineSettings, PiskvorkManager
from tengen.protocols.piskvork.notation import About, is_playable
from tengen.protocols.piskvork.swap2 import Swap2Answer


@dataclass(frozen=True)
class BrainParameters:
    """How to run a foreign engine."""

    cmd: str = parameter(help="The program and its arguments, quoted as in a shell; no shell runs it.")
    cwd: str | None = parameter(None, help="The folder the program runs in.")
    memory_mb: int | None = parameter(None, help="Megabytes it may hold with its children; more loses the game.")
    tolerance_ms: int = parameter(1000, help="How much later than allowed a move may come before the game is lost.")
    start_ms: int = parameter(10_000, help="How long the program may take to get ready.")
    turn_ms: int = parameter(30_000, help="Time for a move when the limits give none.")
    nodes: int = parameter(
        0, help="Positions it is told to visit a move (INFO MAX_NODE), if it knows how; 0 for no limit."
    )
    threads: int = parameter(1, help="Threads the engine is told to use, if the limits do not allow more.")
    suspend: bool = parameter(False, help="Stop the process while it is not its turn (not on Windows).")
    strict: bool = parameter(False, help="Whether ERROR or UNKNOWN in place of a move loses at once.")
    log: str | None = parameter(None, help="Append everything that goes over the pipe to this file.")

    def __post_init__(self) -> None:
        if not split_command(self.cmd):
            raise ValueError("cmd is empty")
        for name in ("tolerance_ms", "start_ms", "turn_ms", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is below 1")
        if self.nodes < 0:
            raise ValueError(f"nodes={self.nodes} is negative")
        if self.memory_mb is not None and self.memory_mb < 1:
            raise ValueError(f"memory-mb={self.memory_mb} is below 1")


class BrainAgent(Agent):
    """A foreign engine. It is started with the first game and restarted after every failure.

    `choose` raises `EngineError` with its `reason` when the engine misbehaves.
    """

    def __init__(self, parameters: BrainParameters) -> None:
        self._nodes = parameters.nodes
        self._log = PipeLog(parameters.log) if parameters.log else None
        self._manager = PiskvorkManager(
            EngineSettings(
                argv=_resolved(split_command(parameters.cmd), parameters.cwd),
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
        """The engine's process, None when it does not run."""
        return self._manager.pid

    def supports(self, ruleset: Ruleset) -> bool:
        """Five in a row on boards of 5 to 22 lines; what the engine itself refuses is an `EngineError`."""
        return is_playable(ruleset)

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        """Told to the engine with the next game or move."""
        self._manager.configure(memory_bytes=memory_bytes, threads=threads)

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        """Have the engine ready for a game. The protocol has no seed."""
        self._manager.new_game(ruleset)

    def choose(self, position: Position, limits: Limits) -> Decision:
        """The engine's move, checked."""
        _check_ongoing(position)
        return Decision(move=self._manager.ask_move(position, self._own(limits)))

    def analyse(self, position: Position, limits: Limits, lines: int = 1) -> Iterator[Analysis]:
        """What an engine that knows YXNBEST says about its best moves; `AgentError` from one that does not."""
        _check_ongoing(position)
        return self._manager.analyse(position, self._own(limits), lines)

    def answer_swap2(self, ruleset: Ruleset, points: Sequence[Point], limits: Limits) -> Swap2Answer:
        """The engine's answer to a swap2 opening of 0, 3 or 5 stones, from an engine that knows SWAP2BOARD."""
        return self._manager.ask_swap2(ruleset, points, self._own(limits))

    def _own(self, limits: Limits) -> Limits:
        nodes = min(filter(None, (limits.nodes, self._nodes)), default=None)
        return dataclasses.replace(limits, nodes=nodes)

    def about(self) -> About | None:
        """What the running engine says of itself, None when it does not."""
        return self._manager.ask_about()

    def stop(self) -> None:
        """Ask the engine to answer now; one that knows no way to be asked goes on until its time is over."""
        self._manager.stop()

    def close(self) -> None:
        """END the engine and its log."""
        self._manager.close()
        if self._log is not None:
            self._log.close()


def split_command(cmd: str) -> tuple[str, ...]:
    """The words of a command line; raises `ValueError` when a quotation does not end."""
    words = shlex.split(cmd, posix=os.name == "posix")
    return tuple(words if os.name == "posix" else (word.strip('"') for word in words))


def _resolved(argv: tuple[str, ...], cwd: str | None) -> tuple[str, ...]:
    """The program by its full path when it lies here, so that the folder it runs in does not matter.

    One that is named only and not on the search path may be of the environment this runs in: `pbrain-tengen` is, also
    where that was not activated.
    """
    program = argv[0]
    if os.path.dirname(program):
        return (os.path.abspath(program), *argv[1:]) if cwd is not None and shutil.which(program) else argv
    beside = None if shutil.which(program) else shutil.which(program, path=os.path.dirname(sys.executable))
    return (beside, *argv[1:]) if beside else argv


def _check_ongoing(position: Position) -> None:
    if position.is_over:
        raise GameOverError(f"nothing to choose: the game is over\n{position}")


KINDS = (AgentKind("brain", "Any engine that speaks the Piskvork (Gomocup) protocol", BrainParameters, BrainAgent),)
