"""Runs tournaments and resumes interrupted ones: players, schedule, store and workers.

A `Tournament` contains all settings that determine the games. The number of workers and the location of the store are
not part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tengen.agents.registry import AgentRegistry, check_plays
from tengen.arena.adjudication import Adjudication
from tengen.arena.entrant import Entrant
from tengen.arena.match import GameResult, TimeControl
from tengen.arena.openings import RandomOpenings, Stones, load_openings
from tengen.arena.schedule import Schedule, ScheduledGame, TournamentFormat, pairings
from tengen.arena.sprt import Hypothesis, Sprt
from tengen.arena.store import GameStore, Score
from tengen.arena.swiss import SwissPairings
from tengen.arena.tally import Tally
from tengen.arena.workers import PlaySettings, game_workers
from tengen.core.contracts import Agent, Opening, Ruleset
from tengen.core.tables import to_table
from tengen.core.worker_pool import MakePool
from tengen.errors import AgentError, EngineError, EngineFault, InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningSettings:
    """Source of the openings, and how they are varied."""

    file: Path | None = None
    """Opening file for all rulesets (default: random stones near the centre)."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Opening file by ruleset, for rulesets that need different ones."""
    stones: int | None = None
    """Stones per random opening; None chooses by board size, 0 starts from the empty board."""
    shuffle: bool = False
    """Shuffle the openings with the seed (default: file order)."""
    transform: bool = False
    """Apply a different symmetry of the board each time an opening is reused."""

    def __post_init__(self) -> None:
        if self.stones is not None and self.stones < 0:
            raise InputError(f"stones must be at least 0, not {self.stones}")


class Size(NamedTuple):
    """Size of a tournament, which grows when players or rounds are added."""

    players: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """All settings that determine the games."""

    rules: tuple[Ruleset, ...]
    players: tuple[Entrant, ...]
    name: str = "tournament"
    format: TournamentFormat = TournamentFormat.ROUND_ROBIN
    challengers: int = 1
    """Number of challengers in a gauntlet: the first players in the list, who play against all others."""
    rounds: int = 1
    """Openings per pairing and ruleset; each is played twice, with colours exchanged. In a Swiss tournament, the number
    of rounds, in each of which a player meets one opponent."""
    games: int | None = None
    """Maximum number of games; None for no limit."""
    seed: int = 0
    limits: TimeControl = field(default_factory=TimeControl)
    openings: OpeningSettings = field(default_factory=OpeningSettings)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: Sprt | None = None
    """Stop when this test of the first player against the second is decided; needs exactly two players."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(map(Ruleset.of, self.rules)))
        if not self.rules:
            raise InputError("a tournament needs at least one ruleset")
        if len(set(self.rules)) < len(self.rules):
            raise InputError(f"each ruleset may be listed only once: {', '.join(map(str, self.rules))}")
        for key, number in (("rounds", self.rounds), ("games", self.games)):
            if number is not None and number < 1:
                raise InputError(f"{key} must be at least 1, not {number}")
        if self.sprt is not None and len(self.players) != 2:
            raise InputError(f"an SPRT needs exactly two players, not {len(self.players)}")
        self.pairings()
        self.names()

    def pairings(self) -> list[tuple[int, int]] | SwissPairings:
        """Return the pairings as player indices: one list for every round, or the pairings of a Swiss tournament."""
        if self.format is TournamentFormat.SWISS:
            return SwissPairings(len(self.players), self.seed, games_per_meeting=2 * len(self.rules))
        return pairings(len(self.players), self.format, self.challengers)

    def names(self) -> list[str]:
        """Return unique player names for tables."""
        names: list[str] = []
        for entrant in self.players:
            name = entrant.name or entrant.agent
            if name in names and entrant.name:
                raise InputError(f"two players are called {name!r}; every player needs a unique name")
            copies = 2
            base = name
            while name in names:
                name = f"{base} ({copies})"
                copies += 1
            names.append(name)
        return names

    def entrants(self) -> tuple[Entrant, ...]:
        """Return the players with their final names and limits."""
        return tuple(
            replace(entrant, name=name, limits=entrant.limits or self.limits)
            for name, entrant in zip(self.names(), self.players, strict=True)
        )

    def schedule(self, store: GameStore | None = None, grown_from: Sequence[Size] = ()) -> Schedule:
        """Plan all games; this reads the opening files. Random openings are generated on demand and stored.

        `grown_from` contains the earlier sizes of the tournament, smallest first. Games already planned keep their
        numbers.
        """
        return Schedule(
            pairings=self.pairings(),
            openings={ruleset: self._openings_of(ruleset, store) for ruleset in self.rules},
            rounds=self.rounds,
            seed=self.seed,
            shuffles=self.openings.shuffle,
            transforms=self.openings.transform,
            games=self.games,
            grown_from=[(pairings(size.players, self.format, self.challengers), size.rounds) for size in grown_from],
        )

    def play_settings(self, agents: AgentRegistry) -> PlaySettings:
        """Return the settings common to all games; `agents` creates the players."""
        return PlaySettings(players=self.entrants(), adjudication=self.adjudication, agents=agents)

    def check_players(self, agents: AgentRegistry) -> None:
        """Create every agent once. Raises `AgentError` if one cannot be created or started, or rejects a ruleset.

        Other start-up faults of external engines are reported in their games.
        """
        for entrant in self.players:
            try:
                with agents.make(entrant.agent) as agent:
                    for ruleset in self.rules:
                        check_plays(agent, ruleset)
                        _check_starts(agent, ruleset)
            except (InputError, EngineError) as error:
                raise AgentError(f"{error}; paths in agent specifications are relative to {Path.cwd()}") from None

    def rules_with_files(self) -> list[Ruleset]:
        """Return the rulesets whose openings come from a file."""
        return [ruleset for ruleset in self.rules if self._opening_file(ruleset) is not None]

    def _opening_file(self, ruleset: Ruleset) -> Path | None:
        if ruleset.opening is not Opening.FREE:
            return None
        return self.openings.files.get(ruleset.name, self.openings.file)

    def _openings_of(self, ruleset: Ruleset, store: GameStore | None) -> Sequence[Stones]:
        path = self._opening_file(ruleset)
        if path is not None:
            return load_openings(path, ruleset)
        shelf = None if store is None else store.openings(ruleset)
        return RandomOpenings(ruleset, self.rounds, self.seed, self.openings.stones, shelf)


def _check_starts(agent: Agent, ruleset: Ruleset) -> None:
    """Start a game. Raises an error if files are missing, or if the engine does not exist or rejects the board."""
    try:
        agent.new_game(ruleset)
    except EngineError as error:
        if error.reason is EngineFault.START:
            raise


# -- playing ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Progress:
    """Progress of a tournament. The counts include games from earlier runs."""

    tournament: Tournament
    total: int
    tally: Tally
    accepted: Hypothesis | None = None
    """Hypothesis accepted by the sequential test; None while it is undecided."""
    played_now: int = 0
    """Games played in this run."""

    @property
    def llr(self) -> float | None:
        """Log likelihood ratio of the sequential test; None without a test."""
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
    agents: AgentRegistry | None = None,
    on_result: OnProgress | None = None,
    on_idle: OnProgress | None = None,
) -> Progress:
    """Play all games that the store does not contain yet, and store each when it ends.

    `make_pool` creates the pool that plays them. By default, `concurrency` processes on this machine play them.
    `agents` creates the players; with `AgentRegistry.adding`, they can be Python objects.

    If players or rounds have been added to the tournament in the store, only their games are played.

    When a sequential test is decided, running games are finished and pairs completed, but they do not change the
    decision.
    """
    agents = agents or AgentRegistry()
    _check_extends(store, tournament)
    sizes = _sizes(store, tournament)
    schedule = tournament.schedule(store, sizes[:-1])
    done = store.numbers()
    if len(done) < len(schedule):
        tournament.check_players(agents)
    _prepare(store, tournament, schedule, sizes)
    tally = Tally()
    for score in store.scores():
        tally.add(score)
        schedule.add(score.number, (score.first, score.second), score.winner)
    accepted = store.setting("verdict")
    if accepted not in (None, *Hypothesis):
        raise InputError(f"{store.path} is damaged: {accepted!r} is not a valid SPRT verdict")
    progress = Progress(tournament, len(schedule), tally, None if accepted is None else Hypothesis(accepted))

    def remaining(stage: range) -> Iterator[ScheduledGame]:
        for number in stage:
            if number in done:
                continue
            if progress.accepted is not None and number ^ 1 not in done:
                continue
            done.add(number)  # from now on, the other game of the pair may also be played
            yield schedule[number]

    def keep(game: ScheduledGame, result: GameResult) -> None:
        store.add(game, result)
        score = Score(
            game.number, game.ruleset.name, game.first, game.second, result.black_seat, result.outcome, result.ending
        )
        completes_pair = tally.add(score)
        schedule.add(game.number, game.players, score.winner)
        progress.played_now += 1
        if tournament.sprt is not None and completes_pair and progress.accepted is None:
            progress.accepted = tournament.sprt.decide(tally.pairs_of(0, 1))
            if progress.accepted is not None:
                store.set_setting("verdict", progress.accepted.value)
        if on_result is not None:
            on_result(progress)

    if len(done) < len(schedule):
        settings = tournament.play_settings(agents)
        with game_workers(settings, workers=concurrency, pins_cores=pins_cores, make_pool=make_pool) as pool:
            watch = None if on_idle is None else lambda: on_idle(progress)
            for stage in schedule.stages():
                for game, result in pool.run(remaining(stage), watch):
                    keep(game, result)
    return progress


def _prepare(store: GameStore, tournament: Tournament, schedule: Schedule, sizes: Sequence[Size]) -> None:
    """Write the description to the store if it is empty or the tournament has grown; check the openings."""
    openings = schedule.digest_openings(tournament.rules_with_files())
    kept = _kept_description(store)
    if kept is None:
        store.clear_openings()  # left over from a tournament that has no games
    elif len(store) < len(schedule):
        known, here = store.setting("opening_files"), openings
        if known is None:  # stores from earlier versions have a digest of all openings, including random openings
            before = replace(tournament, rounds=_kept_sizes(store, kept)[-1].rounds)
            known, here = store.setting("openings"), before.schedule(store).digest_openings()
        if known not in (None, here):
            raise InputError(
                f"{store.path} contains games from different openings;"
                " the opening file or the engine that chooses openings has changed"
            )
    description = describe(tournament)
    if kept != description:
        settings = {
            "games": len(schedule),
            "opening_files": openings,
            "sizes": [list(size) for size in sizes],
            "tournament": description,
        }
        store.set_tournament(tournament.entrants(), settings)


def _kept_description(store: GameStore) -> dict[str, Any] | None:
    """Return the description of the tournament whose games are in the store; None if there are no games."""
    kept = store.description()
    return _without_folders(kept) if kept and len(store) else None  # earlier versions stored folders as well


def _check_extends(store: GameStore, tournament: Tournament) -> None:
    """Raise `InputError` if the store has games that are not part of the tournament."""
    kept, now = _kept_description(store), describe(tournament)
    if kept is None:
        return
    changed = [key for key in sorted({*kept, *now}) if kept.get(key) != now.get(key) and not _extends(key, kept, now)]
    if changed:
        raise InputError(
            f"{store.path} contains games from a different tournament; changed settings: {', '.join(changed)}"
            f"{_describe_change(changed[0], kept, now)}. Restore them, or store the games in another file and rate both"
            " files together with `tengen ratings`. A tournament with games can only grow: more rounds, or players at"
            " the end of the list (in a Swiss tournament, only rounds)"
        )


def _extends(key: str, kept: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether the new value of a setting only adds games."""
    before: Any = kept.get(key)
    after: Any = now.get(key)
    match key:
        case "rounds":
            return isinstance(before, int) and before <= after
        case "games":
            return isinstance(before, int) and (after is None or before <= after)
        case "players":
            is_swiss = now["format"] == TournamentFormat.SWISS
            return isinstance(before, list) and not is_swiss and after[: len(before)] == before
    return False


def _describe_change(key: str, kept: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return the earlier value of a setting, or the first changed player, in brackets; empty if there is neither."""
    before: Any = kept.get(key)
    after: Any = now.get(key)
    if key == "players" and isinstance(before, list):
        for number, player in enumerate(before, start=1):
            if number > len(after):
                return f" (player {number} is missing)"
            if player != after[number - 1] and isinstance(player, dict):
                return f" (player {number} was {player.get('name') or player.get('agent')})"
        return ""
    return f" ({key} was {before})" if isinstance(before, str | int | float) else ""


def _sizes(store: GameStore, tournament: Tournament) -> list[Size]:
    """Return all sizes that the tournament in the store has had; the current size comes last."""
    present = Size(len(tournament.players), tournament.rounds)
    kept = _kept_description(store)
    if kept is None:
        return [present]
    sizes = _kept_sizes(store, kept)
    # Added rounds continue the current part of the schedule; only added players start a new part.
    return [*(sizes[:-1] if sizes[-1].players == present.players else sizes), present]


def _kept_sizes(store: GameStore, kept: Mapping[str, Any]) -> list[Size]:
    found = store.setting("sizes") or [[len(kept["players"]), kept["rounds"]]]  # earlier versions stored no sizes
    try:
        sizes = [Size(int(players), int(rounds)) for players, rounds in found]
    except (TypeError, ValueError):
        sizes = []
    if not sizes or any(size < Size(2, 1) for size in sizes):
        raise InputError(f"{store.path} is damaged: {found!r} is not a valid list of tournament sizes")
    return sizes


def describe(tournament: Tournament) -> dict[str, Any]:
    """Return the tournament as JSON data, without None values and with the folders removed from file paths."""
    return _without_folders(to_table(tournament))


def _without_folders(description: Mapping[str, Any]) -> dict[str, Any]:
    openings = dict(description.get("openings", {}))
    if "file" in openings:
        openings["file"] = Path(openings["file"]).name
    openings["files"] = {rules: Path(path).name for rules, path in openings.get("files", {}).items()}
    return {**description, "openings": openings}
