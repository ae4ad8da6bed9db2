"""Progress of a running tournament: a live table in a terminal, otherwise one line per minute."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from tengen.arena.elo import estimate_elo
from tengen.arena.tournament import Progress

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_TABLE_S = 0.25
_LINE_S = 60.0
_MOST_ROWS = 30


class LiveView:
    """Context manager that shows the progress on stderr; `update` is rate-limited."""

    def __init__(self, *, is_quiet: bool = False, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = console or Console(file=sys.stderr, markup=False)
        self._is_quiet = is_quiet
        shows_table = not is_quiet and self._console.is_terminal
        self._live = Live(console=self._console, auto_refresh=False, transient=True) if shows_table else None
        self._started = time.monotonic()
        self._next = self._started

    def update(self, progress: Progress) -> None:
        """Show the progress, unless the last update was too recent."""
        now = time.monotonic()
        if self._is_quiet or now < self._next:
            return
        if self._live is not None:
            self._next = now + _TABLE_S
            self._live.update(self._table(progress), refresh=True)
        elif now - self._started >= _LINE_S:
            self._next = now + _LINE_S
            self._console.print(self.line(progress), highlight=False)
        else:
            self._next = self._started + _LINE_S

    def line(self, progress: Progress) -> str:
        """Return the state in one line: games, pace, time left and, for a match, the score."""
        parts = [f"{progress.tally.games} of {progress.total} games"]
        pace = progress.played_now / max(1e-9, time.monotonic() - self._started)
        if pace > 0:
            left = (progress.total - progress.tally.games) / pace
            parts.append(f"{60 * pace:.1f} per minute")
            parts.append(f"{_duration(left)} left")
        if len(progress.tournament.players) == 2:
            parts.append(f"{progress.tally.of(0, 1)}")
            parts.append(f"Elo {estimate_elo(progress.tally.match_counts(0, 1))}")
        sprt, llr = progress.tournament.sprt, progress.llr
        if sprt is not None and llr is not None:
            parts.append(f"LLR {llr:.2f} ({sprt.lower:.2f}, {sprt.upper:.2f})")
        forfeits = sum(progress.tally.forfeits.values())
        if forfeits:
            parts.append(f"{forfeits} forfeits")
        return ", ".join(parts)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def _table(self, progress: Progress) -> RenderableType:
        from rich.table import Table

        table = Table(title=progress.tournament.name, caption=self.line(progress))
        table.add_column("player")
        for column in ("games", "points", "score", "wins", "draws", "losses"):
            table.add_column(column, justify="right")
        names = progress.tournament.names()
        rows = [(progress.tally.of(player), name) for player, name in enumerate(names)]
        rows.sort(key=lambda row: (-row[0].score, row[1]))
        for wdl, name in rows[:_MOST_ROWS]:
            score = f"{100 * wdl.score:.1f} %" if wdl.games else "–"
            table.add_row(name, str(wdl.games), f"{wdl.points:g}", score, *map(str, (wdl.wins, wdl.draws, wdl.losses)))
        return table


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
