"""Messages for operating the laboratory: training runs and tournaments as processes of the server."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from tengen.web.messages.base import AgentText, Message, RulesText

MAX_MINUTES = 24 * 60
MAX_PLAYERS = 12

OperationName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
"""Name of a new run or tournament. It becomes a file name, so it has no dots, slashes or capital letters."""

Keyword = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
"""Name of an algorithm or a preset."""

SettingKey = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,30}(\.[a-z_]{1,30})?$")]

Minutes = Annotated[float, Field(gt=0, le=MAX_MINUTES)]

Seed = Annotated[int, Field(ge=0, lt=2**31)]


class OperationKind(StrEnum):
    """Kind of work that a process does."""

    TRAINING = "training"
    TOURNAMENT = "tournament"


class OperationState(StrEnum):
    """State of a process."""

    RUNNING = "running"
    STOPPING = "stopping"
    FINISHED = "finished"
    STOPPED = "stopped"
    """Stopped by a person; can be resumed."""
    TIMED_OUT = "timed-out"
    """Reached its time limit; can be resumed."""
    OUT_OF_MEMORY = "out-of-memory"
    """Exceeded its memory limit."""
    FAILED = "failed"
    """Ended with the error in `message`."""
    KILLED = "killed"
    """Crashed or was killed; can be resumed."""


class OperationInfo(Message):
    """A training run or tournament that was started in the browser."""

    kind: OperationKind
    name: str
    """Name of the run or tournament in the laboratory."""
    state: OperationState
    is_shown: bool
    """Whether the laboratory lists the run or tournament yet; a new process needs a moment to create it."""
    started_at: str
    deadline: str
    """Time at which the server ends the process."""
    memory_mb: int
    """Memory limit for the process and its descendants."""
    message: str
    """Error message, if there is one; otherwise the end of the log."""


class OperatingInfo(Message):
    """Whether the laboratory can be operated, its limits, and the operations."""

    is_enabled: bool
    why_not: str
    """Why the laboratory is read-only; empty if it is not."""
    max_processes: int
    max_games: int
    """Maximum number of games in a tournament."""
    operations: list[OperationInfo]


class SettingInfo(Message):
    """A setting of a training run that a browser may change."""

    key: SettingKey
    is_integer: bool
    least: float
    most: float


class PresetInfo(Message):
    """A preset of a training algorithm."""

    name: str
    description: str
    rules: str
    values: dict[str, float]
    """Values of the settings that the preset sets."""


class AlgorithmInfo(Message):
    """A training algorithm with its presets."""

    name: str
    description: str
    settings: list[SettingInfo]
    presets: list[PresetInfo]


class StartTraining(Message):
    """Start a training run."""

    name: OperationName
    algorithm: Keyword
    preset: Keyword
    settings: dict[SettingKey, float] = Field(default_factory=dict, max_length=20)
    seed: Seed = 0
    max_minutes: Minutes = 60
    """Time after which the server ends the process. The run's own limit is the setting `minutes`."""


class StartTournament(Message):
    """Start a tournament between agents that a browser may use."""

    name: OperationName
    rules: RulesText
    players: list[AgentText] = Field(min_length=2, max_length=MAX_PLAYERS)
    rounds: int = Field(default=2, ge=1, le=500)
    """Openings per pairing; each is played twice, with colours exchanged."""
    time_ms: int | None = Field(default=None, ge=10, le=10_000)
    """Time limit per move."""
    nodes: int | None = Field(default=None, ge=1, le=10_000_000)
    """Node limit per move."""
    simulations: int | None = Field(default=None, ge=1, le=100_000)
    """Simulation limit per move, for tree searches."""
    seed: Seed = 0
    max_minutes: Minutes = 60


class ResumeOperation(Message):
    """Resume a run or tournament; a run can be extended by time or by iterations, depending on its limit."""

    max_minutes: Minutes = 60
    more_minutes: Minutes | None = None
    """Additional training time, for runs with a time limit."""
    more_iterations: int | None = Field(default=None, ge=1, le=100_000)
    """Additional iterations, for runs without a time limit."""
