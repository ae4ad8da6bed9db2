"""Experiments with games between players: each pair plays with both colours, and players can also play themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from tengen.arena.entrant import Entrant
from tengen.arena.export import save_games
from tengen.arena.match import TimeControl
from tengen.arena.store import GameStore, StoredGame
from tengen.arena.tournament import OpeningSettings, Progress, Tournament, play
from tengen.cluster.pool import open_pools
from tengen.core.board_picture import PictureOptions, draw_svg
from tengen.core.contracts import Colour, Ruleset
from tengen.core.files import write_text, writing
from tengen.core.position import Position
from tengen.core.shipped import shipped_folder
from tengen.errors import AgentError, InputError
from tengen.learning.checks import check_at_least
from tengen.papers.experiment import Experiment, Figure, Findings, Lab, check_player
from tengen.papers.plots import draw_heat_map

_QUANTILE = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Games(Experiment):
    """Games between all pairs of players, or between challengers and the others."""

    rules: Ruleset
    players: Mapping[str, str]
    """Agent specifications by name; `{training}` stands for the network of that training experiment."""
    rounds: int = 10
    """Number of games per pair and colour."""
    first_games: int = 0
    """Number of games per pair and colour in the paper; the first games up to this number are also reported alone.

    0 disables the additional report.
    """
    challengers: int = 0
    """Number of challengers: the first players in the list, who play all others but not each other; 0: round robin."""
    plays_self: bool = False
    """Whether every player also plays itself."""
    takes_engines: bool = False
    """Whether external engines given on the command line take part."""
    limits: TimeControl = field(default_factory=TimeControl)
    """Limits per move for all players."""
    openings: str = ""
    """Shipped opening file (default: `stones` random stones)."""
    stones: int = 0
    """Number of random stones at the start; 0 starts from the empty board."""
    seed: int = 1
    pictures: int = 0
    """Number of games per pair for which a picture is written."""
    publishes_pictures: bool = False
    """Whether to save the pictures with the plots, so that they are published."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "rounds")
        check_at_least(self, 0, "challengers", "first_games", "stones", "pictures")
        if self.first_games > self.rounds or self.challengers > len(self.players):
            raise InputError(
                f"{self.name}: first_games may be at most rounds={self.rounds}, and challengers at most the number of"
                f" players, {len(self.players)}"
            )
        for text in self.players.values():
            check_player(text)
        if any("/" in name for name in self.players):
            raise InputError(f"{self.name}: player names must not contain a slash")

    def run(self, lab: Lab) -> Findings:
        """Play the missing games."""
        agents = {name: lab.player(text) for name, text in self.players.items()}
        if self.takes_engines:
            agents |= {name: f'brain:cmd="{command}"' for name, command in lab.engines.items()}
        findings = Findings()
        times: dict[str, list[float]] = {name: [] for name in agents}
        for first, second in self._pairs(list(agents)):
            with self._store(lab, first, second) as store:
                self._play(store, (first, second), agents, lab)
                games = list(store.games())
                self._check(games, (first, second), lab)
                self._save(store, games, (first, second), lab)
            findings.figures |= self._count(first, second, games)
            for game in games:
                for name, spent in _times(game, (first, second)):
                    times[name] += spent
        for name, spent in times.items():
            if spent:
                findings.figures[self.key(name, "seconds")] = Figure(
                    round(sum(spent) / len(spent) / 1000, 6), count=len(spent)
                )
                findings.figures[self.key(name, "longest seconds")] = Figure(round(max(spent) / 1000, 4))
        findings.data["players"] = list(agents)
        findings.data["black"] = self._cells(list(agents), findings.figures)
        return findings

    def _cells(self, players: list[str], figures: Mapping[str, Figure]) -> list[tuple[str, str, float, float]]:
        """Return black, white, and the shares of games that black won and lost, for all pairs that played."""
        cells = []
        for black in players:
            for white in players:
                won, lost = (figures.get(self.key(black, white, result)) for result in ("won", "lost"))
                if won is not None and lost is not None:
                    cells.append((black, white, won.value or 0.0, lost.value or 0.0))
        return cells

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw the shares of games that black won and lost, and the scores of all pairs (figures 3 and 4 of zero9)."""
        players: list[str] = data["players"]
        cells = {(black, white): (won, lost) for black, white, won, lost in data["black"]}
        if len(players) < 3 or (self.challengers and not self.plays_self):
            return
        size = range(len(players))
        rates = [[cells.get((players[column], players[row])) for column in size] for row in size]
        draw_heat_map(
            players,
            players,
            [[math.nan if cell is None else (1 + cell[0] - cell[1]) / 2 for cell in line] for line in rates],
            lab.out / "plots" / f"{self.name}-won-lost",
            "Shares of games that black won / lost",
            texts=[["" if cell is None else f"{cell[0]:.2g}/{cell[1]:.2g}" for cell in line] for line in rates],
            axes_names=("black", "white"),
        )
        scores = [
            [0.0 if one == other else _score_of(cells.get((one, other)), cells.get((other, one))) for one in players]
            for other in players
        ]
        draw_heat_map(
            players,
            players,
            [[(2 + score) / 4 for score in line] for line in scores],
            lab.out / "plots" / f"{self.name}-scores",
            "score(A, B), 2 for winning every game",
            texts=[["" if math.isnan(score) else f"{score:+.2g}" for score in line] for line in scores],
            axes_names=("A", "B"),
        )

    def _pairs(self, names: list[str]) -> Iterator[tuple[str, str]]:
        if self.challengers:
            for challenger in names[: self.challengers]:
                yield from ((challenger, other) for other in names[self.challengers :])
        else:
            yield from combinations(names, 2)
        if self.plays_self:
            yield from ((name, name) for name in names[: self.challengers or None])

    def _store(self, lab: Lab, first: str, second: str) -> GameStore:
        folder = lab.out / "games"
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return GameStore(folder / f"{self.name}-{_file(first)}-{_file(second)}.db")

    def _play(self, store: GameStore, pair: tuple[str, str], agents: Mapping[str, str], lab: Lab) -> None:
        names = pair if pair[0] != pair[1] else (pair[0], f"{pair[0]}, itself")
        file = shipped_folder("data") / "openings" / self.openings if self.openings else None
        # A game of a player against itself counts for both colours, so half of the rounds suffice.
        rounds = self.rounds if pair[0] != pair[1] else (self.rounds + 1) // 2
        tournament = Tournament(
            name=f"{self.name}: {names[0]} and {names[1]}",
            rules=(self.rules,),
            players=tuple(Entrant(agent=agents[of], name=name) for of, name in zip(pair, names, strict=True)),
            rounds=rounds,
            seed=self.seed,
            limits=self.limits,
            openings=OpeningSettings(file=file, transform=True) if file else OpeningSettings(stones=self.stones),
        )

        def tell(progress: Progress) -> None:
            tally = progress.tally
            if tally.games % 10 == 0 or tally.games == progress.total:
                lab.console.print(f"{tournament.name}: {tally.games} of {progress.total} games, {tally.of(0, 1)}")

        with open_pools(lab.on) as make_pool:
            play(tournament, store, concurrency=lab.concurrency, make_pool=make_pool, on_result=tell)

    def _check(self, games: list[StoredGame], pair: tuple[str, str], lab: Lab) -> None:
        """Raise `AgentError` if one of our own players failed; a fault of an external engine counts as a lost game."""
        for stored in games:
            loser = stored.result.loser_seat
            if stored.result.ending.is_forfeit and loser is not None:
                name = pair[(stored.game.first, stored.game.second)[loser]]
                if name not in lab.engines:
                    raise AgentError(f"{self.name}: {name} forfeited a game: {stored.result.detail}")

    def _count(self, first: str, second: str, games: list[StoredGame]) -> dict[str, Figure]:
        """Return the shares of games that black won and lost, by black player, and the score of the pair."""
        figures: dict[str, Figure] = {}
        results: dict[bool, list[int]] = {True: [], False: []}
        """The first player's results, by whether it played black."""
        plies: dict[str, list[float]] = {first: [], second: []}
        """Lengths of the games that black won, by black player."""
        for stored in games:
            is_first = stored.game.first == 0
            winner = stored.result.outcome.winner
            for_black = 0 if winner is None else (1 if winner is Colour.BLACK else -1)
            results[is_first].append(for_black if is_first else -for_black)
            if for_black > 0:
                plies[first if is_first else second].append(len(stored.result.moves))
        if first == second:
            blacks = {first: [*results[True], *(-result for result in results[False])]}
        else:
            blacks = {first: results[True], second: [-result for result in results[False]]}
        for black, outcomes in blacks.items():
            white = second if black == first else first
            for name, result in (("won", 1), ("lost", -1)):
                figures[self.key(black, white, name)] = Figure.share(outcomes.count(result), len(outcomes))
                if first_part := outcomes[: self.first_games]:
                    key = self.key(black, white, f"{name}, first {self.first_games}")
                    figures[key] = Figure.share(first_part.count(result), len(first_part))
            if wins := plies[black]:
                figures[self.key(black, white, "plies of wins")] = Figure.mean(wins)
        if first != second:
            both = [*results[True], *results[False]]
            for player, other, sign in ((first, second, 1), (second, first, -1)):
                won = sum(result == sign for result in both)
                figures[self.key(player, other, "all won")] = Figure.share(won, len(both))
            figures[self.key(first, second, "score")] = _score(results[True], results[False])
            figures[self.key(second, first, "score")] = _score(
                [-result for result in results[True]], [-result for result in results[False]]
            )
        return figures

    def _save(self, store: GameStore, games: list[StoredGame], pair: tuple[str, str], lab: Lab) -> None:
        """Write all games as SGF and a few as pictures."""
        folder = lab.out / "games" / f"{self.name}-{_file(pair[0])}-{_file(pair[1])}"
        save_games(store, folder, event=self.name, formats=("sgf",))
        for stored in games[: self.pictures]:
            position = Position.from_moves(self.rules, stored.result.moves)
            file = folder / f"game-{stored.game.number + 1}.svg"
            if self.publishes_pictures:
                seats = (stored.game.first, stored.game.second)
                black, white = (_file(pair[seats[seat ^ stored.result.black_seat]]) for seat in (0, 1))
                file = lab.out / "plots" / f"{self.name}-{black}-{white}-{stored.game.number + 1}.svg"
            with writing(file.parent):
                file.parent.mkdir(parents=True, exist_ok=True)
            write_text(file, draw_svg(position, PictureOptions(numbers=True)))


def _score_of(one: tuple[float, float] | None, other: tuple[float, float] | None) -> float:
    """Return the score of a pair from the shares of games that black won and lost, with each of the two as black."""
    return math.nan if one is None or other is None else one[0] - one[1] + other[1] - other[0]


def _score(as_black: list[int], as_white: list[int]) -> Figure:
    """Return the mean result as black plus that as white, from -2 to 2: score(i, j) in zero9."""
    black, white = Figure.mean(as_black), Figure.mean(as_white)
    assert black.value is not None
    assert white.value is not None
    value = round(black.value + white.value, 4)
    if black.high is None or white.high is None:
        return Figure(value, count=len(as_black) + len(as_white))
    half = math.sqrt((black.high - black.value) ** 2 + (white.high - white.value) ** 2)
    return Figure(value, round(value - half, 4), round(value + half, 4), len(as_black) + len(as_white))


def _times(stored: StoredGame, pair: tuple[str, str]) -> Iterator[tuple[str, list[float]]]:
    """Yield the players of a game, with the milliseconds of each of their moves."""
    turns = stored.result.turns
    opening = len(stored.result.moves) - len(turns)
    players = pair[stored.game.first], pair[stored.game.second]
    black = stored.result.black_seat
    for seat in (0, 1):
        parity = seat ^ black  # black moves at even plies
        yield players[seat], [turn.time_ms for ply, turn in enumerate(turns, opening) if ply % 2 == parity]


def _file(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name).strip("-")
