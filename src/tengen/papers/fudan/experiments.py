"""Experiments of "Final report for Gomoku project" (fudan): techniques of its alpha-beta search, and a rating list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tengen.agents.registry import make_agent, parse_agent
from tengen.arena.entrant import Entrant
from tengen.arena.match import TimeControl
from tengen.arena.match_report import match_report
from tengen.arena.openings import load_openings
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.arena.tournament import OpeningSettings, Progress, Tournament, play
from tengen.core.contracts import Limits, Ruleset
from tengen.core.files import writing
from tengen.core.position import Position
from tengen.core.shipped import shipped_folder
from tengen.errors import InputError
from tengen.learning.checks import check_at_least
from tengen.papers.experiment import Experiment, Figure, Findings, Lab

WHOLE = "whole"
"""The complete player, with which the variants are compared."""
VARIANTS: dict[str, str] = {
    WHOLE: "",
    "blocked-update": "blocked-update=no",
    "peer-update": "peer-update=no",
    "hash": "hash=no",
    "checkmate": "checkmate=off",
    "table": "evaluation=table",
    "authors": "form=authors",
}
"""Variants by name: the settings that differ from the report's player."""
BOARDS: dict[str, tuple[str, str]] = {
    "15x15": ("15x15:5:freestyle", "freestyle15.txt"),
    "20x20": ("20x20:5:freestyle", "freestyle20.txt"),
}
"""Ruleset and opening file of each board, by name."""
_DEPTH = 7
_PLIES = 12
"""Number of positions timed per opening."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Techniques(Experiment):
    """Nodes per second of searches to depth 7, and Elo against the complete player, for every variant."""

    board: str = "15x15"
    variants: tuple[str, ...] = tuple(VARIANTS)[1:]
    games: int = 320
    """Number of games per match."""
    time_ms: int = 100
    """Milliseconds per move in matches, without a depth limit."""
    positions: int = 60
    """Number of openings from which searches are timed, each for twelve plies."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_at_least(self, 2, "games")
        check_at_least(self, 1, "time_ms", "positions")
        if self.board not in BOARDS or not set(self.variants) <= set(VARIANTS):
            raise InputError(
                f"{self.name}: unknown board or variant (known boards: {', '.join(BOARDS)}; known variants:"
                f" {', '.join(VARIANTS)})"
            )

    def run(self, lab: Lab) -> Findings:
        """Time the searches, then play the missing games."""
        speeds = self.measure_speeds()
        findings = Findings(data={"speeds": speeds})
        for variant, row in speeds.items():
            findings.figures[self.key(variant, "nodes per second")] = Figure(row["nodes"] / row["seconds"])
            findings.figures[self.key(variant, "seconds")] = Figure(row["seconds"] / row["positions"])
        for variant in self.variants:
            report = self._play(lab, variant)
            low, high = report["elo_interval"]
            findings.figures[self.key(variant, "elo")] = Figure(report["elo"], low, high, self.games)
            findings.data.setdefault("matches", {})[variant] = [report[key] for key in ("wins", "draws", "losses")]
        return findings

    def measure_speeds(self) -> dict[str, dict[str, Any]]:
        """Search to depth 7 with every variant, on positions from games that the complete player plays.

        The variants take turns on each position, so that other load on the machine slows all of them equally.
        """
        ruleset = Ruleset.parse(BOARDS[self.board][0])
        rows: dict[str, dict[str, Any]] = {
            name: {"positions": 0, "nodes": 0, "seconds": 0.0} for name in (WHOLE, *self.variants)
        }
        agents = {name: make_agent(agent_text(name, depth=_DEPTH)) for name in rows}
        for opening in load_openings(self._openings, ruleset)[: self.positions]:
            position = Position.from_moves(ruleset, opening)
            while not position.is_over and position.stones < len(opening) + _PLIES:
                moves = {}
                for name, agent in agents.items():
                    *_, last = agent.analyse(position, Limits())
                    moves[name] = last.lines[0].move
                    rows[name]["positions"] += 1
                    rows[name]["nodes"] += last.nodes
                    rows[name]["seconds"] += last.elapsed_ms / 1000
                position = position.play(moves[WHOLE])
        return rows

    def _play(self, lab: Lab, variant: str) -> dict[str, Any]:
        tournament = Tournament(
            name=f"{self.name}, {variant}",
            rules=(Ruleset.parse(BOARDS[self.board][0]),),
            players=tuple(Entrant(agent=agent_text(name, depth=0), name=name) for name in (variant, WHOLE)),
            rounds=(self.games + 1) // 2,
            games=self.games,
            seed=self.seed,
            limits=TimeControl(time_ms=self.time_ms),
            openings=OpeningSettings(file=self._openings, transform=True),
        )
        folder = lab.out / "games"
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)

        def tell(progress: Progress) -> None:
            if progress.tally.games % 10 == 0 or progress.tally.games == progress.total:
                counts = progress.tally.of(0, 1)
                lab.console.print(f"{tournament.name}: {progress.tally.games} of {progress.total} games, {counts}")

        with GameStore(folder / f"{self.name}-{variant}.db") as store:
            return match_report(play(tournament, store, concurrency=lab.concurrency, on_result=tell))

    @property
    def _openings(self) -> Any:
        return shipped_folder("data") / "openings" / BOARDS[self.board][1]


def agent_text(variant: str, *, depth: int) -> str:
    """Return the agent specification of a variant; with depth 0, only the per-move limits apply."""
    return ":".join(("fudan", ",".join(filter(None, (VARIANTS[variant], f"depth={depth}")))))


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingList(Experiment):
    """A round robin of all players and given engines, rated together by the Bayesian model of the arena.

    All games are in one file, so `tengen ratings` can move the list to the scale of an engine with a known rating.
    """

    rules: Ruleset
    players: Mapping[str, str]
    """Agent specifications by name."""
    anchors: Mapping[str, float]
    """Fixed ratings in Elo, by player."""
    rounds: int = 10
    """Number of games per pair and colour."""
    takes_engines: bool = True
    """Whether external engines given on the command line take part."""
    limits: TimeControl = field(default_factory=TimeControl)
    """Limits per move for all players."""
    openings: str
    """Shipped opening file."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_at_least(self, 1, "rounds")
        for text in self.players.values():
            parse_agent(text)
        if not self.anchors or not set(self.anchors) <= set(self.players):
            raise InputError(f"{self.name}: anchors must name some of the players: {', '.join(self.players)}")

    def run(self, lab: Lab) -> Findings:
        """Play the missing games and rate all players."""
        agents = {name: lab.player(text) for name, text in self.players.items()}
        if self.takes_engines:
            agents |= {name: f'brain:cmd="{command}"' for name, command in lab.engines.items()}
        tournament = Tournament(
            name=self.name,
            rules=(self.rules,),
            players=tuple(Entrant(agent=text, name=name) for name, text in agents.items()),
            rounds=self.rounds,
            seed=self.seed,
            limits=self.limits,
            openings=OpeningSettings(file=shipped_folder("data") / "openings" / self.openings, transform=True),
        )
        folder = lab.out / "games"
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)

        def tell(progress: Progress) -> None:
            if progress.tally.games % 50 == 0 or progress.tally.games == progress.total:
                lab.console.print(f"{self.name}: {progress.tally.games} of {progress.total} games")

        with GameStore(folder / f"{self.name}.db") as store:
            play(tournament, store, concurrency=lab.concurrency, on_result=tell)
            standings = collect([store], self.anchors)
        ratings = standings.ratings[str(self.rules)]
        findings = Findings(data={"anchors": dict(self.anchors), "first_move_elo": round(ratings.first_move_elo, 1)})
        for number, name in enumerate(standings.names):
            low, high = ratings.interval(number)
            findings.figures[self.key(name)] = Figure(
                round(float(ratings.elo[number]), 1),
                round(low, 1),
                round(high, 1),
                ratings.games[number],
                "anchor" if name in self.anchors else "",
            )
        return findings


KINDS: Mapping[str, type[Experiment]] = {"techniques": Techniques, "ratings": RatingList}
