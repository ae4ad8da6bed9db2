"""Experiments of "AlphaGomoku" (alphagomoku8): the causes of its failed training, and the effect of its sign error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

from tengen.agents.registry import make_agent
from tengen.core.contracts import Colour, Evaluator, Limits, Outcome, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.learning.algorithms import alphazero
from tengen.learning.checks import check_at_least
from tengen.learning.run.folder import Run
from tengen.learning.run.progress import Progress
from tengen.nets.models import load_evaluator
from tengen.papers.alphagomoku8.defects import Defect, DefectivePlace
from tengen.papers.alphagomoku8.plain_search import choose_moves
from tengen.papers.experiment import Experiment, Figure, Findings, Lab
from tengen.papers.training import Training
from tengen.papers.variants import Variants


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectiveTraining(Training):
    """Runs whose training data have defects."""

    defects: tuple[Defect, ...] = ()

    @contextmanager
    def open_place(self, lab: Lab, run: Run, progress: Progress) -> Iterator[alphazero.Place]:
        """Yield the place where the run is trained; its self-play data have the defects, if any."""
        with Training.open_place(self, lab, run, progress) as place:
            ruleset = run.config(alphazero.Config).ruleset
            yield DefectivePlace(place, ruleset, frozenset(self.defects)) if self.defects else place


@dataclass(frozen=True, slots=True, kw_only=True)
class Defects(Variants):
    """The same training with each defect of the training data alone, with all defects, and with none."""

    defects: Mapping[str, tuple[Defect, ...]] = field(default_factory=dict)
    """Defects by variant; variants that are not listed have none."""

    def __post_init__(self) -> None:
        Variants.__post_init__(self)
        if unknown := self.defects.keys() - self.variants.keys():
            raise InputError(f"{self.name}: defects lists the unknown variant {min(unknown)!r}")

    def training(self, lab: Lab, variant: str) -> Training:
        """Return the training experiment for a variant."""
        plain = Variants.training(self, lab, variant)
        settings = {one.name: getattr(plain, one.name) for one in fields(plain)}
        return DefectiveTraining(**settings, defects=self.defects.get(variant, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class SignError(Experiment):
    """Games of one network with the paper's search, with and without the sign error in its code."""

    rules: Ruleset
    network: str = ""
    """Training experiment whose network plays."""
    model: str = ""
    """Shipped model that plays instead."""
    opponents: Mapping[str, str]
    """Agent specifications by their name in the table."""
    games: int = 20
    """Games per opponent and colour."""
    simulations: int = 500
    c_puct: float = 5.0

    def __post_init__(self) -> None:
        check_at_least(self, 1, "games", "simulations")
        if bool(self.network) == bool(self.model):
            raise InputError(f"{self.name}: set either network or model")

    def run(self, lab: Lab) -> Findings:
        """Play the missing games."""
        evaluator = load_evaluator(lab.network(self.network) if self.network else self.model)
        parts = lab.parts(self)
        findings = Findings(data={"won_drawn_lost": {}})
        for variant, sign_error in (("right", False), ("sign error", True)):
            for name, text in self.opponents.items():
                for order, colour in (("first", Colour.BLACK), ("second", Colour.WHITE)):
                    key = f"{variant}/{name}/{order}"

                    def play(text: str = text, colour: Colour = colour, sign_error: bool = sign_error) -> list[int]:
                        return list(self._play(evaluator, text, colour, sign_error=sign_error))

                    lab.console.print(f"{self.name}: {key}, {self.games} games")
                    won, drawn, lost = parts.get(key, play)
                    for result, count in (("won", won), ("drawn", drawn), ("lost", lost)):
                        findings.figures[self.key(key, result)] = Figure.share(count, self.games)
                    findings.data["won_drawn_lost"][key] = [won, drawn, lost]
        return findings

    def _play(self, evaluator: Evaluator, opponent: str, colour: Colour, *, sign_error: bool) -> tuple[int, int, int]:
        return play_games(
            evaluator,
            opponent,
            colour,
            self.rules,
            games=self.games,
            simulations=self.simulations,
            c_puct=self.c_puct,
            sign_error=sign_error,
        )


def play_games(
    evaluator: Evaluator,
    opponent: str,
    colour: Colour,
    rules: Ruleset,
    *,
    games: int,
    simulations: int,
    c_puct: float,
    sign_error: bool,
) -> tuple[int, int, int]:
    """Play games from the empty board with the network as `colour`; return wins, draws and losses."""
    players = [make_agent(opponent) for _ in range(games)]
    for seed, player in enumerate(players, 1):
        player.new_game(rules, seed)
    positions = [Position.start(rules)] * games
    while ongoing := [game for game, position in enumerate(positions) if not position.is_over]:
        # All unfinished games have the same number of stones, so the same side is to move in each of them.
        if positions[ongoing[0]].to_move is colour:
            moves = choose_moves(
                [positions[game] for game in ongoing],
                evaluator,
                simulations=simulations,
                c_puct=c_puct,
                sign_error=sign_error,
            )
        else:
            moves = [players[game].choose(positions[game], Limits()).move for game in ongoing]
        for game, move in zip(ongoing, moves, strict=True):
            positions[game] = positions[game].play(move)
    for player in players:
        player.close()
    winners = [position.outcome.winner for position in positions]
    drawn = sum(position.outcome is Outcome.DRAW for position in positions)
    return winners.count(colour), drawn, winners.count(colour.opponent)


KINDS: Mapping[str, type[Experiment]] = {"defects": Defects, "sign-error": SignError}
"""Kinds of experiments that only this paper has."""
