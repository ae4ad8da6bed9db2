"""Messages about the laboratory: training runs, tournaments, networks, papers."""

from __future__ import annotations

from tengen.core.contracts import Colour, Outcome
from tengen.learning.run.reading import RunState
from tengen.web.messages.base import Message, PointName


class RunSummary(Message):
    """A training run."""

    name: str
    """Path relative to the `--runs` folder, with slashes."""
    algorithm: str
    rules: str
    is_live: bool
    """Whether a process is training the run now, as shown by `tengen runs`."""
    state: RunState
    updated_at: str
    steps: int
    fraction: float
    """Fraction of the run that is done, 0 to 1."""
    seconds_left: float | None
    """Estimated time until a live run ends, in seconds."""
    milestones: list[int]
    """Iterations whose networks the run has kept."""
    has_time_limit: bool
    """Whether the run has a limit on time or CPU time in addition to its iterations."""
    last: dict[str, float]
    """Latest value of every series."""
    games: int
    agent: str | None
    """Agent specification for the run's newest network, such as `alphazero:run=NAME`; None before the first network."""
    problem: str | None = None
    """Description of the damage, if any; the other fields hold the data that could be read."""


class RunList(Message):
    """A page of the training runs, newest first."""

    total: int
    runs: list[RunSummary]


class Series(Message):
    """A curve: values over steps, downsampled to a few hundred points."""

    name: str
    steps: list[float]
    values: list[float]


class StrengthPoint(Message):
    """A rating measured during a run."""

    step: float
    elo: float
    low: float | None = None
    high: float | None = None


class RunDetail(Message):
    """A training run with its curves."""

    summary: RunSummary
    config: str
    """The configuration as TOML."""
    series: list[Series]
    strength: list[StrengthPoint]
    anchor: str
    """Player with rating 0 in `strength`: `random` if every measurement included it, otherwise the run's anchor."""
    game_files: list[str]
    """The newest game files, newest first; `/api/runs/{name}/games/{file}` reads one."""
    game_file_count: int
    """Total number of game files."""


class TournamentSummary(Message):
    """A tournament."""

    name: str
    title: str
    games: int
    games_planned: int
    players: list[str]
    is_live: bool
    seconds_left: float | None
    """Estimated time until a live tournament ends, in seconds."""
    updated_at: str
    problem: str | None = None
    """Description of the damage, if any; the other fields hold the data that could be read."""


class TournamentList(Message):
    """A page of the tournaments, newest first."""

    total: int
    tournaments: list[TournamentSummary]


class TableInfo(Message):
    """A table in a report."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str
    left: int
    """Number of leading text columns, which are left-aligned; the others are numbers."""
    is_detail: bool
    """Whether the table is secondary and collapsed by default."""


class TournamentDetail(Message):
    """A tournament with its tables."""

    summary: TournamentSummary
    tables: list[TableInfo]


class GameRow(Message):
    """A game in a tournament's list."""

    number: int
    black: str
    white: str
    outcome: Outcome
    ending: str
    moves: int
    ended_at: str


class GameRows(Message):
    """A page of a tournament's games."""

    total: int
    games: list[GameRow]


class ModelMatch(Message):
    """Result of a network against a fixed opponent."""

    against: str
    games: int
    wins: int
    draws: int
    losses: int
    conditions: str


class ModelInfo(Message):
    """A shipped network, described by its model card."""

    name: str
    agent: str | None
    """Agent specification that uses the network; None if the network is damaged."""
    algorithm: str
    rules: str
    weights: int
    bytes: int
    """Size of the ONNX file."""
    games: int
    """Number of training games."""
    cpu_minutes: float
    """CPU time spent on training."""
    command: str
    """Command used to train the network."""
    elo: float | None
    elo_error: float | None
    matches: list[ModelMatch]
    card: str
    """The model card as Markdown; `/api/models/{name}/figures/{file}` returns its pictures."""
    problem: str | None = None
    """Description of the damage, if any; the other fields are then empty."""


class Document(Message):
    """A Markdown file."""

    name: str
    text: str


class PaperInfo(Message):
    """A reproduced paper with its results."""

    name: str
    title: str
    source: str
    """Authors, place and year of the paper, as plain text; empty if the page does not name a source."""
    readme: str
    documents: list[Document]
    """The tables among the results."""
    figures: list[str]
    """The pictures among the results; `/api/papers/{name}/figures/{file}` returns one."""


class PolicyPoint(Message):
    """Evaluation of a position by the network of one iteration."""

    iteration: int | None
    """None for the newest network."""
    winrate: float
    """For the side to move."""
    policy: dict[PointName, float]
    """Probability by point."""


class PolicyHistory(Message):
    """Evaluations of a position by the networks of a run, oldest first."""

    rules: str
    current_player: Colour
    points: list[PolicyPoint]
