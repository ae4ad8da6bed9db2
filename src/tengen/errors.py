"""All exceptions that Tengen raises deliberately.

Bad input always raises a `TengenError`. Its message contains the input and, where relevant, the position. Any other
exception that escapes is a bug.
"""

from __future__ import annotations

from enum import StrEnum


class TengenError(Exception):
    """Base class for all errors raised by Tengen."""


class InputError(TengenError, ValueError):
    """The caller passed an invalid argument."""


class NotationError(InputError):
    """A string cannot be parsed as a point, ruleset, drawing, agent name, …"""


class RulesetError(InputError):
    """A ruleset is invalid, or the component does not support it."""


class PositionError(InputError):
    """The stones do not form a valid position (off the board, two on one point, two winners, …)."""


class IllegalMoveError(InputError):
    """The move is not legal: the point is off the board or occupied."""


class ForbiddenPointError(IllegalMoveError):
    """The move is a renju foul, which black may not play."""


class GameOverError(IllegalMoveError):
    """The game is over; no more moves can be played."""


class RecordError(InputError):
    """A game file is damaged or exceeds a size limit; the message contains the line or the offset."""


class NotFoundError(InputError):
    """Nothing with this name exists."""


class NotDueError(InputError):
    """The action is not possible now: it is not this player's turn, nothing can be undone, or the board changed."""


class StorageError(TengenError):
    """The disk is full, read-only or failing. Nothing has changed, and the same request can succeed later."""


class BusyError(TengenError):
    """The server is overloaded; the same request can succeed later."""


class PluginError(InputError):
    """An agent, learner or network does not exist, cannot be imported, or is of the wrong kind."""


class AgentError(TengenError):
    """An agent could not be created or failed to play."""


class AgentNameError(AgentError, ValueError):
    """An agent specification contains an unknown agent or parameter, or an invalid value."""


class EngineFault(StrEnum):
    """The ways an external engine can fail."""

    START = "start"
    """The program could not be started, or it rejected the board size."""
    CRASH = "crash"
    """The process exited unexpectedly; the message contains its exit code or signal."""
    TIMEOUT = "timeout"
    """The engine did not answer within its time limit plus the tolerance."""
    ILLEGAL = "illegal move"
    """The move is off the board or on an occupied point."""
    FOUL = "foul"
    """Black played a point that renju forbids."""
    PROTOCOL = "protocol error"
    """The answer violates the protocol, such as ERROR in place of a move."""
    GARBAGE = "garbage"
    """The engine ran out of time after writing only lines that the protocol does not define."""
    FLOOD = "flood"
    """The engine wrote far more output than expected."""
    CLOSED = "closed pipe"
    """The process is still running but has closed its end of the pipe."""
    MEMORY = "memory"
    """The process and its children use more memory than allowed."""


class EngineError(AgentError):
    """An external engine crashed, stalled or violated the protocol; `reason` is the kind of failure."""

    def __init__(self, message: str, reason: EngineFault = EngineFault.PROTOCOL) -> None:
        super().__init__(message)
        self.reason = reason


class WorkerError(TengenError):
    """A worker process could not start, died repeatedly, or hit a bug (the message is then the traceback)."""


class RunError(TengenError):
    """A training run cannot start or continue; the files it has written so far are complete."""


class MissingExtraError(TengenError, ImportError):
    """A required optional package is not installed; the message contains the command that installs it."""
