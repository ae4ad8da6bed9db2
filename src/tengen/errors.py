"""Every exception that Tengen raises on purpose, one sentence each.

Bad input is always a `TengenError`; its message carries the input and, where there is one, the position.
Anything else that escapes is a bug.
"""

from __future__ import annotations

from enum import StrEnum


class TengenError(Exception):
    """Base of all errors raised by Tengen."""


class InputError(TengenError, ValueError):
    """The caller handed over something that cannot be used."""


class NotationError(InputError):
    """A text is not the notation it should be (point, ruleset, drawing, agent name, …)."""


class RulesetError(InputError):
    """A ruleset is impossible, or the part asked does not support it."""


class PositionError(InputError):
    """Stones that cannot stand on one board (off board, twice on one point, two winners, …)."""


class IllegalMoveError(InputError):
    """A move that the rules do not allow here: off board or occupied."""


class ForbiddenPointError(IllegalMoveError):
    """A renju foul: black may not play there."""


class GameOverError(IllegalMoveError):
    """The game is finished; nothing more can be played."""


class RecordError(InputError):
    """A game file is damaged or beyond the limits; the message says in which line or at which offset."""


class NotFoundError(InputError):
    """Nothing has that name."""


class NotDueError(InputError):
    """An action that is right in itself but not now: not that player's turn, nothing to undo, the board has changed."""


class BusyError(TengenError):
    """There is too much to do already; the same can succeed later."""


class AgentError(TengenError):
    """A player could not be made or did not do its duty."""


class AgentNameError(AgentError, ValueError):
    """An agent text names an unknown player, an unknown parameter or an unusable value."""


class EngineFault(StrEnum):
    """In which way a foreign engine failed its game."""

    START = "start"
    """The program could not be started, or it refused the board."""
    CRASH = "crash"
    """The process ended by itself; the message has its exit code or signal."""
    TIMEOUT = "timeout"
    """No answer within the limit and the tolerance."""
    ILLEGAL = "illegal move"
    """A move off the board or on a stone."""
    FOUL = "foul"
    """Black played a point that renju forbids."""
    PROTOCOL = "protocol error"
    """An answer that the protocol does not allow, such as ERROR in place of a move."""
    FLOOD = "flood"
    """More output than any engine has reason to write."""
    CLOSED = "closed pipe"
    """The process lives on but has closed its side of the pipe."""
    MEMORY = "memory"
    """The process and its children hold more memory than allowed."""


class EngineError(AgentError):
    """A foreign engine crashed, stalled or broke the protocol; `reason` says which."""

    def __init__(self, message: str, reason: EngineFault = EngineFault.PROTOCOL) -> None:
        super().__init__(message)
        self.reason = reason


class RunError(TengenError):
    """A training run cannot begin or go on; what it has written so far is whole."""


class MissingExtraError(TengenError, ImportError):
    """A part needs an optional package that is not installed; the message says how to install it."""
