"""The functions of `tengen` for scripts and notebooks.

Each function is a thin wrapper around a layer with more options: `tengen.arena` for matches and tournaments,
`tengen.learning` for training, `tengen.records` for game files. `tengen` imports this module when one of its functions
is first used, so that `import tengen` stays fast.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.agents.registry import AgentRegistry, Player, check_plays, make_agent
from tengen.core.contracts import Analysis, Colour, Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, RecordError
from tengen.patterns.explain import Explanation, explain
from tengen.records import iterate
from tengen.search.threats import ThreatKind, ThreatResult, Verdict, solve_threats

if TYPE_CHECKING:
    from tengen.arena.tournament import Progress
    from tengen.learning.run.reading import RunReader
    from tengen.records.game import GameRecord

_ANALYSIS_MS = 2000
_WIN_MS = 2000


# -- games and positions ----------------------------------------------------------------------------------------------


def load_game(path: str | os.PathLike[str], *, number: int = 1, ruleset: Ruleset | str | None = None) -> GameRecord:
    """Read a game from a file in any format; iterating over the game yields its positions.

    `number` selects one of several games, and `ruleset` applies if the file does not state its rules. Raises
    `RecordError` if the file is damaged or has no game with this number.
    """
    record = next(itertools.islice(iterate(path, ruleset=ruleset), number - 1, None), None) if number > 0 else None
    if record is None:
        raise RecordError(f"{os.fspath(path)} has no game {number}")
    return record


class RunningAnalysis:
    """A running analysis. Iterating over it yields successively better snapshots; `final` returns the last one."""

    def __init__(self, snapshots: Iterator[Analysis]) -> None:
        self._snapshots = snapshots

    def __iter__(self) -> Iterator[Analysis]:
        return self._snapshots

    def final(self) -> Analysis:
        """Run the analysis to its end and return the last snapshot."""
        last = None
        for last in self._snapshots:  # noqa: B007
            pass
        if last is None:
            raise InputError("the analysis has ended; start another one")
        return last


def analyse(
    position: Position,
    agent: Player = "alphabeta",
    *,
    lines: int = 1,
    time_ms: int | None = None,
    nodes: int | None = None,
    depth: int | None = None,
    simulations: int | None = None,
) -> RunningAnalysis:
    """Analyse a position with any agent (default: for 2 seconds, if no limit is given).

    >>> import tengen
    >>> best = tengen.analyse(tengen.Position.from_moves("9x9", "e5a1e6a2e7a3"), depth=3).final().lines[0]
    >>> best.move, str(best.proof)
    (Point('e4'), '+M3')
    """
    if time_ms is nodes is depth is simulations is None:
        time_ms = _ANALYSIS_MS
    limits = Limits(time_ms=time_ms, nodes=nodes, depth=depth, simulations=simulations)

    def snapshots() -> Iterator[Analysis]:
        with make_agent(agent) as player:
            check_plays(player, position.ruleset)
            yield from player.analyse(position, limits, lines)

    return RunningAnalysis(snapshots())


def threats(position: Position) -> Explanation:
    """Return the threats on the board and the shapes that one more stone would make; printing it explains them.

    Raises `RulesetError` unless the win length is 4 or 5.
    """
    return explain(position)


def find_win(
    position: Position, *, for_side: Colour | str | None = None, time_ms: int = _WIN_MS
) -> ThreatResult | None:
    """Search for a win by continuous threats, first by fours alone, then also by open threes; None if no win is found.

    `for_side` is the attacker, as if it were to move (default: the side to move). A returned win is proved against
    every defence; None does not prove that there is no win.

    >>> import tengen
    >>> print(tengen.find_win(tengen.Position.from_moves("15x15", "h8a1i8a2j8a3")))
    black wins by VCF: g8 f8 k8
    """
    side = None if for_side is None else Colour(for_side)
    for kind in ThreatKind:
        result = solve_threats(position, kind, Limits(time_ms=time_ms // 2), for_side=side)
        if result.verdict is Verdict.WIN:
            return result
    return None


# -- matches and ratings ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result of a match from the first player's point of view."""

    a: str
    b: str
    wins: int
    draws: int
    losses: int
    elo: float
    """Elo difference. If one player won every game, it is computed as if that player had lost half a point."""
    elo_interval: tuple[float, float]
    """The 95 % interval of the Elo difference."""
    likelihood_of_superiority: float
    games: list[GameRecord] = field(repr=False)
    text: str = field(repr=False)

    @property
    def score(self) -> float:
        """Points per game of the first player, from 0 to 1."""
        return (self.wins + self.draws / 2) / (self.wins + self.draws + self.losses)

    def __str__(self) -> str:
        return self.text


def play_match(
    a: Player,
    b: Player,
    *,
    rules: Ruleset | str = "15x15",
    games: int = 20,
    time_ms: int | None = None,
    nodes: int | None = None,
    depth: int | None = None,
    simulations: int | None = None,
    seed: int = 0,
    concurrency: int = 0,
) -> MatchResult:
    """Play a match between two players, each given by its specification or as a Python object.

    Every random opening is played twice, with colours exchanged. The games run in this process, or in `concurrency`
    worker processes if it is not 0. A script that uses workers must call this under `if __name__ == "__main__":`.

    >>> import tengen
    >>> result = tengen.play_match("naive:level=3", "random", rules="9x9", games=10)
    >>> result.wins, result.elo > 0
    (10, True)
    """
    from tengen.arena.elo import estimate_elo
    from tengen.arena.export import game_record
    from tengen.arena.match_report import match_lines
    from tengen.arena.store import GameStore

    limits = Limits(time_ms=time_ms, nodes=nodes, depth=depth, simulations=simulations)
    with closing(GameStore(None)) as store:
        progress = _play(store, [a, b], (Ruleset.of(rules),), games, games, limits, seed, concurrency)
        counts = progress.tally.of(0, 1)
        estimate = estimate_elo(progress.tally.match_counts(0, 1))
        names = progress.tournament.names()
        entrants = progress.tournament.entrants()
        return MatchResult(
            a=names[0],
            b=names[1],
            wins=counts.wins,
            draws=counts.draws,
            losses=counts.losses,
            elo=estimate.elo,
            elo_interval=(estimate.low, estimate.high),
            likelihood_of_superiority=estimate.superiority,
            games=[game_record(stored, entrants) for stored in store.games()],
            text="\n".join(match_lines(progress)),
        )


@dataclass(frozen=True, slots=True)
class PlayerRating:
    """A player's rating."""

    name: str
    elo: float
    error: float
    """Half the width of the 95 % interval."""
    games: int
    score: float
    """Points per game."""


class RatingList(list[PlayerRating]):
    """Rated players, strongest first; printing it shows a table."""

    def __str__(self) -> str:
        width = max((len(one.name) for one in self), default=0)
        return "\n".join(
            f"{one.name:<{width}}  {one.elo:+6.0f} ±{one.error:<4.0f} {one.games:>5} games  {100 * one.score:5.1f} %"
            for one in self
        )


def rate(
    players: Sequence[Player],
    *,
    rules: Ruleset | str = "15x15",
    games: int = 20,
    anchor: Player | None = None,
    time_ms: int | None = None,
    nodes: int | None = None,
    depth: int | None = None,
    simulations: int | None = None,
    seed: int = 0,
    concurrency: int = 0,
) -> RatingList:
    """Play a round robin with `games` games per pair and rate all players together, strongest first.

    The rating of `anchor`, one of the players, is 0 (default: the mean of all players is 0).
    """
    from tengen.arena.ratings import rate_tally
    from tengen.arena.store import GameStore

    if anchor is not None and anchor not in players:
        raise InputError(f"the anchor {anchor!r} is not one of the players")
    limits = Limits(time_ms=time_ms, nodes=nodes, depth=depth, simulations=simulations)
    ruleset = Ruleset.of(rules)
    with closing(GameStore(None)) as store:
        progress = _play(store, players, (ruleset,), games, None, limits, seed, concurrency)
    anchors = None if anchor is None else {list(players).index(anchor): 0.0}
    ratings = rate_tally(progress.tally, len(players), anchors=anchors)
    rated = []
    for number, name in enumerate(progress.tournament.names()):
        wdl = progress.tally.of(number)
        rated.append(PlayerRating(name, float(ratings.elo[number]), float(ratings.error(number)), wdl.games, wdl.score))
    return RatingList(sorted(rated, key=lambda one: -one.elo))


def _play(
    store: Any,
    players: Sequence[Player],
    rules: tuple[Ruleset, ...],
    games: int,
    most_games: int | None,
    limits: Limits,
    seed: int,
    concurrency: int,
) -> Progress:
    """Play a round robin of the players; all games of a pairing start from the same openings."""
    from tengen.arena.entrant import Entrant
    from tengen.arena.match import TimeControl
    from tengen.arena.tournament import Tournament, play
    from tengen.core.worker_pool import DirectPool

    registry, texts = AgentRegistry().adding(players)
    tournament = Tournament(
        rules=rules,
        players=tuple(map(Entrant.parse, texts)),
        rounds=(games + 1) // 2,
        games=most_games,
        seed=seed,
        limits=TimeControl(
            time_ms=limits.time_ms, nodes=limits.nodes, depth=limits.depth, simulations=limits.simulations
        ),
    )
    if concurrency:
        return play(tournament, store, concurrency=concurrency, agents=registry)
    return play(tournament, store, make_pool=DirectPool, agents=registry)


# -- training ---------------------------------------------------------------------------------------------------------


def train(
    algorithm: str = "alphazero",
    preset: str | None = None,
    *,
    run: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    minutes: float | None = None,
    seed: int = 0,
    resume: bool = False,
    wandb: str | None = None,
    quiet: bool = False,
) -> RunReader:
    """Train a player as `tengen train` does, and return its run; `run.agent` names the player.

    `settings` override the preset, such as `{"net.channels": 16, "ruleset": "6x6:4"}`. With `resume`, the run in the
    folder `run` continues, and `minutes` and the other limits can be raised. `wandb` names a Weights & Biases project
    that also receives the metrics.
    """
    from rich.console import Console

    from tengen.learning.run.progress import Progress
    from tengen.learning.run.reading import RunReader
    from tengen.learning.training import (
        continue_run,
        default_folder,
        discard_if_untouched,
        execute,
        logging_to_wandb,
        start_run,
    )

    changes = [f"{key}={_setting_text(value)}" for key, value in (settings or {}).items()]
    changes += [] if minutes is None else [f"minutes={float(minutes)}"]
    folder = default_folder(algorithm, preset) if run is None else Path(run)
    if resume:
        current = continue_run(folder, algorithm, preset, changes)
    else:
        current = start_run(folder, algorithm, preset, changes, seed)
    try:
        console = Console(highlight=False, quiet=quiet, markup=False)
        with Progress(console, folder.name) as progress, logging_to_wandb(current, wandb, progress.say):
            execute(current, progress)
    except Exception as error:
        if not resume:
            discard_if_untouched(current, error)
        raise
    return RunReader.open(folder)


def _setting_text(value: object) -> str:
    """Format the value of a setting for `--set`; a ruleset is written as text."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, default=str)
