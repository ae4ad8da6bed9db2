"""Experiments of "Using DRL to train a Gomoku agent" (pg9): test games, and tests of the strategies S1 to S6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Evaluator, Ruleset
from tengen.core.game_batch import NO_POLICY, POLICIES, GameBatch
from tengen.core.geometry import Point
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.learning.checks import check_at_least
from tengen.learning.experience.episodes import FullBoard
from tengen.nets.models import load_evaluator
from tengen.papers.experiment import Experiment, Figure, Findings, Lab
from tengen.papers.pg9.skills import SKILLS, find_positions
from tengen.papers.plots import draw_heat_map

RULESET = Ruleset.parse("9x9:5:freestyle")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestAsBlack(Experiment):
    """Games of a network as black, or as white, from the empty board, without a search."""

    network: str = ""
    """Training experiment whose networks are tested."""
    model: str = ""
    """Shipped model that is tested instead."""
    opponent: str
    seeds: int = 1
    """Number of runs of the training experiment to test."""
    games: int = 1000
    as_white: bool = False
    """Play as white instead of black."""
    full_board: FullBoard = FullBoard.BLACK
    samples: bool = False
    """Sample moves from the policy instead of playing the most likely one."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "seeds", "games")
        if bool(self.network) == bool(self.model):
            raise InputError(f"{self.name}: set either network or model")
        if self.opponent not in POLICIES:
            raise InputError(f"{self.name}: unknown opponent {self.opponent!r}")

    def run(self, lab: Lab) -> Findings:
        """Play all games of every network."""
        networks = [self.model] if self.model else [lab.network(self.network, 1 + n) for n in range(self.seeds)]
        results = [self._play(load_evaluator(network)) for network in networks]
        if len(results) == 1:
            won = Figure.share(results[0][0], self.games)
        else:
            won = Figure.of_seeds([wins / self.games for wins, _, _ in results])
        return Findings({self.key("won"): won}, {"won_drawn_lost": results})

    def _play(self, evaluator: Evaluator) -> tuple[int, int, int]:
        results = play_from_start(
            evaluator, self.opponent, games=self.games, seed=1, samples=self.samples, as_white=self.as_white
        )
        won, full, lost = results
        if self.full_board is FullBoard.DRAW:
            return results
        is_won = (self.full_board is FullBoard.WHITE) is self.as_white
        return (won + full, 0, lost) if is_won else (won, 0, lost + full)


def play_from_start(
    evaluator: Evaluator, opponent: str, *, games: int, seed: int, samples: bool = False, as_white: bool = False
) -> tuple[int, int, int]:
    """Play games from the empty board with a network as black or white; return its wins, full boards and losses.

    The network plays its most likely legal move, with ties broken at random, or samples from its policy.
    """
    batch = GameBatch(RULESET, games, evaluator.plane_layout)
    batch.begin(seed)
    rng = np.random.default_rng(seed)
    while len(unfinished := np.flatnonzero(~batch.is_over)):
        actions = np.full(games, -1, np.int64)
        own = unfinished[batch.plies[unfinished] % 2 == as_white]
        if len(own):
            planes, legal = batch.look(own, np.zeros(len(own), np.int8))
            log_policy = np.where(legal, evaluator.evaluate(planes)[0], -np.inf)
            actions[own] = _sample(log_policy, rng) if samples else _most_likely(log_policy, rng)
        policies = np.full(games, NO_POLICY, np.int8)
        policies[unfinished[batch.plies[unfinished] % 2 != as_white]] = POLICIES[opponent].value
        batch.choose(policies, actions)
        batch.play(actions)
    results = -batch.black_results if as_white else batch.black_results
    return int((results > 0).sum()), int((results == 0).sum()), int((results < 0).sum())


def _most_likely(log_policy: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    best = log_policy == log_policy.max(axis=1, keepdims=True)
    found: npt.NDArray[np.int64] = np.where(best, rng.random(best.shape), -1).argmax(axis=1)
    return found


def _sample(log_policy: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = (log_policy + rng.gumbel(size=log_policy.shape)).argmax(axis=1)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills(Experiment):
    """Tests how often networks follow the strategies S1 to S6, in positions to which each strategy applies."""

    networks: Mapping[str, str]
    """Training experiments, or `model:NAME` for shipped models, by their name in the table."""
    positions: int = 200
    """Number of positions per strategy."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "positions")

    def run(self, lab: Lab) -> Findings:
        """Test all networks on the same positions."""
        tests = find_positions(RULESET, self.positions, seed=1)
        findings = Findings(data={"skills": {}})
        for name, text in self.networks.items():
            network = text.removeprefix("model:") if text.startswith("model:") else lab.network(text)
            evaluator = load_evaluator(network)
            for skill in SKILLS:
                hits = sum(_move(evaluator, position) in points for position, points in tests[skill])
                figure = Figure.share(hits, len(tests[skill]))
                findings.figures[self.key(name, skill)] = figure
                findings.data["skills"].setdefault(name, {})[skill] = figure.value
        return findings

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw a heat map of networks and strategies."""
        rows = list(data["skills"])
        values = [[data["skills"][name][skill] for skill in SKILLS] for name in rows]
        draw_heat_map(rows, SKILLS, values, lab.out / "plots" / self.name, "Moves that follow the strategy, %")


def _move(evaluator: Evaluator, position: Position) -> Point:
    log_policy, _ = evaluator.evaluate(encode(position, evaluator.plane_layout)[None])
    masked = np.where(position.legal_mask(), log_policy[0], -np.inf)
    return Point.from_index(int(masked.argmax()), position.ruleset.width)


KINDS: Mapping[str, type[Experiment]] = {"test-as-black": TestAsBlack, "skills": Skills}
