"""A disk that fails during a tournament."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import Mock, patch

from tengen.arena.entrant import Entrant
from tengen.arena.match import GameResult
from tengen.arena.schedule import ScheduledGame
from tengen.arena.store import GameStore
from tengen.arena.tournament import Progress, Tournament, play
from tengen.arena.workers import GamePlayer, PlaySettings
from tengen.core.contracts import Ruleset
from tengen.errors import TengenError
from tests.faults import Kind, fail_nth

TOURNAMENT = Tournament(
    rules=(Ruleset.parse("9x9:5:freestyle"),),
    players=(Entrant(agent="random"), Entrant(agent="naive:level=1"), Entrant(agent="chains")),
    rounds=2,
)


class LocalWorkers:
    """Plays the games in this process, where the disk fails; worker processes store nothing."""

    def __init__(self, settings: PlaySettings) -> None:
        self._settings = settings

    def run(
        self, games: Iterable[ScheduledGame], on_idle: Callable[[], None] | None
    ) -> Iterator[tuple[ScheduledGame, GameResult]]:
        with closing(GamePlayer(self._settings)) as player:
            for game in games:
                yield game, player.play(game, Mock())


@contextmanager
def local_workers(settings: PlaySettings, **options: object) -> Iterator[LocalWorkers]:
    yield LocalWorkers(settings)


def go(path: Path, acknowledged: list[int]) -> None:
    """Play the games that are missing; add the number of games that were counted as stored to `acknowledged`."""

    def on_result(progress: Progress) -> None:
        acknowledged.append(progress.tally.games)

    with patch("tengen.arena.tournament.game_workers", local_workers), GameStore(path) as store:
        play(TOURNAMENT, store, on_result=on_result)


def results(path: Path) -> list[tuple[int, str, str]]:
    """Return number, moves and outcome of every stored game."""
    with GameStore(path, is_writer=False) as store:
        assert store.is_sound()
        return [
            (stored.game.number, "".join(stored.result.moves), stored.result.outcome.value) for stored in store.games()
        ]


def count_operations(folder: Path) -> list[str]:
    """Return the operations of the whole tournament."""
    with fail_nth(0, "no space", under=folder) as fault:
        go(folder / "counted.db", [])
    return fault.operations


def fail(folder: Path, numbers: Iterable[int], kinds: Iterable[Kind]) -> Iterator[tuple[str, str]]:
    """Fail operations of a tournament and resume after each; yield the operation and the message.

    `AssertionError` if a fault is not reported in one line, if a game that was counted is not in the store, or if the
    resumed tournament has other games than an unbroken one.
    """
    go(folder / "whole.db", [])
    whole = results(folder / "whole.db")
    for number, kind in zip(numbers, kinds, strict=False):
        path = folder / f"{number}-{kind.replace(' ', '-')}.db"
        counted: list[int] = []
        message = ""
        with fail_nth(number, kind, under=folder) as fault:
            try:
                go(path, counted)
            except TengenError as error:
                message = str(error)
        assert fault.happened, f"operation {number} did not fail"
        assert message, f"{fault.failed} went unnoticed"
        assert "\n" not in message, message
        assert "cannot " in message, message
        if counted:
            assert len(results(path)) == counted[-1], f"games were lost after {fault.failed} failed"
        go(path, [])
        assert results(path) == whole, f"other games after {fault.failed} failed"
        yield fault.failed[0], message
