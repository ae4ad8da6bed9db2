"""A tournament from its description to its last game: players, schedule, store, workers, and going on after a stop.

A `Tournament` says everything that decides which games are played; how many workers play them, and where they are
kept, is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tengen.agents.registry import check_plays, make_agent
from tengen.arena.entrant import Entrant
from tengen.arena.match import Adjudication, GameResult, TimeControl
from tengen.arena.openings import Stones, load_openings, random_openings
from tengen.arena.schedule import Format, Game, Schedule, pairings
from tengen.arena.sprt import Hypothesis, Sprt
from tengen.arena.store import GameStore, Score
from tengen.arena.tally import Tally
from tengen.arena.workers import PlaySettings, game_workers
from tengen.core.contracts import Agent, Opening, Ruleset
from tengen.core.tables import to_table
from tengen.core.worker_pool import MakePool
from tengen.errors import AgentError, EngineError, EngineFault, InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningSettings:
    """Which openings the games start from."""

    file: Path | None = None
    """Openings for every ruleset; without one they are random stones near the centre."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Ruleset → file, where rulesets need different ones."""
    stones: int | None = None
    """Stones of a random opening; None leaves it to the size of the board, 0 is the empty board."""
    shuffle: bool = False
    """Mix the order of the openings by the seed instead of keeping that of the file."""
    transform: bool = False
    """Turn and mirror openings, another way each time one is used again."""

    def __post_init__(self) -> None:
        if self.stones is not None and self.stones < 0:
            raise InputError(f"stones={self.stones} is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """Everything that decides which games are played and how."""

    rules: tuple[Ruleset, ...]
    players: tuple[Entrant, ...]
    name: str = "tournament"
    format: Format = Format.ROUND_ROBIN
    challengers: int = 1
    """In a gauntlet, how many of the first players meet all others."""
    rounds: int = 1
    """Openings for each pairing under each ruleset; each is played twice, with both colours."""
    games: int | None = None
    """End after so many games, if that is earlier."""
    seed: int = 0
    limits: TimeControl = field(default_factory=TimeControl)
    openings: OpeningSettings = field(default_factory=OpeningSettings)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: Sprt | None = None
    """Stop as soon as this test of the first player against the second is decided; only two players may take part."""

    def __post_init__(self) -> None:
        if not self.rules:
            raise InputError("a tournament needs a ruleset")
        if len(set(self.rules)) < len(self.rules):
            raise InputError(f"a ruleset is listed twice: {', '.join(map(str, self.rules))}")
        for key, number in (("rounds", self.rounds), ("games", self.games)):
            if number is not None and number < 1:
                raise InputError(f"{key}={number} is below 1")
        if self.sprt is not None and len(self.players) != 2:
            raise InputError(f"a sequential test is between two players, not {len(self.players)}")
        self.pairings()
        self.names()

    def pairings(self) -> list[tuple[int, int]]:
        """All pairs of players that meet."""
        return pairings(len(self.players), self.format, self.challengers)

    def names(self) -> list[str]:
        """The players' names in tables, no two the same."""
        names: list[str] = []
        for entrant in self.players:
            name = entrant.name or entrant.agent
            if name in names and entrant.name:
                raise InputError(f"two players are called {name!r}")
            copies = 2
            base = name
            while name in names:
                name = f"{base} ({copies})"
                copies += 1
            names.append(name)
        return names

    def entrants(self) -> tuple[Entrant, ...]:
        """Return the players with the names and limits they play under."""
        return tuple(
            replace(entrant, name=name, limits=entrant.limits or self.limits)
            for name, entrant in zip(self.names(), self.players, strict=True)
        )

    def schedule(self) -> Schedule:
        """All games in order; reads the openings."""
        return Schedule(
            pairings=self.pairings(),
            openings={ruleset: self._openings_of(ruleset) for ruleset in self.rules},
            rounds=self.rounds,
            seed=self.seed,
            shuffles=self.openings.shuffle,
            transforms=self.openings.transform,
            games=self.games,
        )

    def play_settings(self) -> PlaySettings:
        """Return what all games have in common."""
        return PlaySettings(players=self.entrants(), adjudication=self.adjudication)

    def check_players(self) -> None:
        """Make every agent once; `AgentError` names one that cannot be made or started, or does not play a ruleset.

        What else a foreign engine does wrong at its start is left to its games.
        """
        for entrant in self.players:
            try:
                with make_agent(entrant.agent) as agent:
                    for ruleset in self.rules:
                        check_plays(agent, ruleset)
                        _check_starts(agent, ruleset)
            except (InputError, EngineError) as error:
                raise AgentError(f"{error}; paths of players are relative to {Path.cwd()}") from None

    def _openings_of(self, ruleset: Ruleset) -> list[Stones]:
        path = self.openings.files.get(ruleset.name, self.openings.file)
        if path is None or ruleset.opening is not Opening.FREE:
            return random_openings(ruleset, self.rounds, self.seed, self.openings.stones)
        return load_openings(path, ruleset)


def _check_starts(agent: Agent, ruleset: Ruleset) -> None:
    """An error from an agent without its files, or from an engine that is not there or refuses the board."""
    try:
        agent.new_game(ruleset)
    except EngineError as error:
        if error.reason is EngineFault.START:
            raise


# -- playing ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Progress:
    """How far a tournament is; the counts are those of all games, earlier runs included."""

    tournament: Tournament
    total: int
    tally: Tally
    accepted: Hypothesis | None = None
    """Hypothesis that the sequential test has accepted, None while it is undecided."""
    played_now: int = 0
    """Games of this run."""

    @property
    def llr(self) -> float | None:
        """The log likelihood ratio of the sequential test, None without one."""
        sprt = self.tournament.sprt
        return None if sprt is None else sprt.llr(self.tally.pairs_of(0, 1))


OnProgress = Callable[[Progress], None]


def play(
    tournament: Tournament,
    store: GameStore,
    *,
    concurrency: int = 1,
    pins_cores: bool = False,
    make_pool: MakePool | None = None,
    on_result: OnProgress | None = None,
    on_idle: OnProgress | None = None,
) -> Progress:
    """Play all games that the store does not hold yet, keeping each as it ends.

    `make_pool` plays them elsewhere than in `concurrency` processes of this machine.

    Games of a sequential test that were begun when it was decided are played to their end, and pairs are completed,
    but the verdict stands.
    """
    schedule = tournament.schedule()
    done = store.numbers()
    if len(done) < len(schedule):
        tournament.check_players()
    _prepare(store, tournament, schedule)
    tally = Tally()
    tally.add_all(store.scores())
    accepted = store.setting("verdict")
    progress = Progress(tournament, len(schedule), tally, None if accepted is None else Hypothesis(accepted))

    def remaining() -> Iterator[Game]:
        for number in range(len(schedule)):
            if number in done:
                continue
            if progress.accepted is not None and number ^ 1 not in done:
                continue
            done.add(number)  # given away: its partner completes a pair
            yield schedule[number]

    def keep(game: Game, result: GameResult) -> None:
        store.add(game, result)
        score = Score(
            game.number, game.ruleset.name, game.first, game.second, result.black_seat, result.outcome, result.ending
        )
        completes_pair = tally.add(score)
        progress.played_now += 1
        if tournament.sprt is not None and completes_pair and progress.accepted is None:
            progress.accepted = tournament.sprt.decide(tally.pairs_of(0, 1))
            if progress.accepted is not None:
                store.set_setting("verdict", progress.accepted.value)
        if on_result is not None:
            on_result(progress)

    if len(done) < len(schedule):
        settings = tournament.play_settings()
        with game_workers(settings, workers=concurrency, pins_cores=pins_cores, make_pool=make_pool) as pool:
            for game, result in pool.run(remaining(), None if on_idle is None else lambda: on_idle(progress)):
                keep(game, result)
    return progress


def _prepare(store: GameStore, tournament: Tournament, schedule: Schedule) -> None:
    """Write the description into a store without games; refuse one that holds games of another tournament."""
    description = describe(tournament)
    openings = schedule.digest_openings()
    kept = store.setting("tournament")
    if kept is None or not len(store):
        store.set_players(tournament.entrants())
        store.set_setting("games", len(schedule))
        store.set_setting("openings", openings)
        store.set_setting("tournament", description)
        return
    kept = _without_folders(kept)  # older stores have them
    changed = sorted(key for key in {*kept, *description} if kept.get(key) != description.get(key))
    if changed:
        raise InputError(
            f"{store.path} holds games of another tournament: {', '.join(changed)} differ"
            f" ({changed[0]} was {kept.get(changed[0])!r})"
        )
    if len(store) < len(schedule) and store.setting("openings") not in (None, openings):
        raise InputError(
            f"{store.path} holds games from other openings: their file has changed, or the engine that chooses them"
        )


def describe(tournament: Tournament) -> dict[str, Any]:
    """The tournament as JSON can say it; what is None is left out, and so are the folders of files."""
    return _without_folders(to_table(tournament))


def _without_folders(description: Mapping[str, Any]) -> dict[str, Any]:
    openings = dict(description.get("openings", {}))
    if "file" in openings:
        openings["file"] = Path(openings["file"]).name
    openings["files"] = {rules: Path(path).name for rules, path in openings.get("files", {}).items()}
    return {**description, "openings": openings}
