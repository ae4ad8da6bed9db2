"""The laboratory: training runs, tournaments, networks, papers."""

from __future__ import annotations

from tengen.core.contracts import Outcome
from tengen.web.messages.base import Message


class RunSummary(Message):
    """A training run."""

    name: str
    """Its path in the folder that is shown, with slashes."""
    algorithm: str
    rules: str
    is_live: bool
    """Whether a process is training it now, as in `tengen runs`."""
    updated_at: str
    steps: int
    last: dict[str, float]
    """The newest value of every series."""
    games: int
    agent: str | None
    """Who plays and analyses with its newest network, such as `alphazero:run=NAME`; None while there is none."""


class Series(Message):
    """A curve: values over steps, thinned out to a few hundred points."""

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
    """The configuration as text (TOML)."""
    series: list[Series]
    strength: list[StrengthPoint]
    game_files: list[str]
    """Newest first; each is read by `/api/runs/{name}/games/{file}`."""


class TournamentSummary(Message):
    """A tournament store."""

    name: str
    title: str
    games: int
    games_planned: int
    players: list[str]
    is_live: bool
    updated_at: str


class TableInfo(Message):
    """A table of a report."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str
    left: int
    """How many of the first columns are words; the others are numbers."""
    is_detail: bool
    """Left out where room is short."""


class TournamentDetail(Message):
    """A tournament with its tables."""

    summary: TournamentSummary
    tables: list[TableInfo]


class GameRow(Message):
    """A game of a tournament in the list."""

    number: int
    black: str
    white: str
    outcome: Outcome
    ending: str
    moves: int
    ended_at: str


class GameRows(Message):
    """Games of a tournament."""

    total: int
    games: list[GameRow]


class ModelMatch(Message):
    """What a network did against a player that never changes."""

    against: str
    games: int
    wins: int
    draws: int
    losses: int
    conditions: str


class ModelInfo(Message):
    """A network that ships, as its card tells."""

    name: str
    agent: str
    """Who plays and analyses with it."""
    algorithm: str
    rules: str
    weights: int
    bytes: int
    """Of the file to play with."""
    games: int
    """That it learnt from."""
    cpu_minutes: float
    """That it learnt for."""
    command: str
    """That made it."""
    elo: float | None
    elo_error: float | None
    matches: list[ModelMatch]
    card: str
    """The card for people, in Markdown."""


class PaperInfo(Message):
    """A paper's table beside ours."""

    name: str
    title: str
    readme: str
    results: list[str]
    """Files with results."""
