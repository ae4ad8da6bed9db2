"""The defects of AlphaGomoku's training data, applied deliberately to correct data.

The author attributes the failed training to a lack of computing time; we found these defects in the code instead. Only
the experiments of this paper use them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Outcome, Ruleset
from tengen.errors import InputError
from tengen.learning.algorithms.alphazero import Config, Learner, Place, SelfPlayConfig, Trainer
from tengen.learning.experience.game_source import Arrays, GameSource, Generation, SelfPlaySpec
from tengen.learning.experience.replay import Samples
from tengen.learning.experience.self_play import Games
from tengen.nets.devices import Device

LAYOUT = "own-other-last-colour"
_OWN, _OTHER, _LAST = 0, 1, 2


class Defect(StrEnum):
    """A defect of the stored positions."""

    LAST_POSITION = "last-position"
    """Every stored position is the last one of its game."""
    BLACK_RESULT = "black-result"
    """The result is always from black's point of view, regardless of the side to move."""
    NEXT_MOVE = "next-move"
    """The last-move plane shows the move that the policy should predict."""
    OLD_STONES = "old-stones"
    """The stones of earlier games in the iteration remain in the planes."""


def corrupt(games: Games, ruleset: Ruleset, defects: Collection[Defect]) -> Games:
    """Return the games with the defects applied to their samples. Every move of every game must be a sample, in order.

    Raises `InputError` if a move is not a sample, for example because games begin with random stones.
    """
    lengths = [len(moves) for moves in games.moves]
    if sum(lengths) != len(games.samples):
        raise InputError(
            f"the defects need a sample for every move, but there are {len(games.samples)} samples for {sum(lengths)}"
            " moves: use full searches and no openings"
        )
    parts: list[Samples] = []
    old = np.zeros((2, ruleset.area), np.int8)
    """Black's and white's stones of earlier games."""
    first = 0
    for moves, outcome, length in zip(games.moves, games.outcomes, lengths, strict=True):
        samples = games.samples[first : first + length]
        parts.append(_corrupt_game(samples, moves, outcome, ruleset, defects, old))
        for colour in (0, 1):
            old[colour, list(moves[colour::2])] = 1
        first += length
    return replace(games, samples=Samples.concatenate(parts))


def _corrupt_game(
    samples: Samples,
    moves: Sequence[int],
    outcome: Outcome,
    ruleset: Ruleset,
    defects: Collection[Defect],
    old: npt.NDArray[np.int8],
) -> Samples:
    planes = samples.planes.reshape(len(moves), -1, ruleset.area).copy()
    colours = np.arange(len(moves)) % 2
    if Defect.LAST_POSITION in defects:
        for colour in (0, 1):
            final = np.zeros(ruleset.area, np.int8)
            final[list(moves[colour::2])] = 1
            planes[colours == colour, _OWN] = final
            planes[colours != colour, _OTHER] = final
        planes[:, _LAST] = 0
        planes[:, _LAST, moves[-1]] = 1
    if Defect.NEXT_MOVE in defects:
        planes[:, _LAST] = 0
        planes[np.arange(len(moves)), _LAST, list(moves)] = 1
    if Defect.OLD_STONES in defects:
        planes[:, _OWN] |= old[colours]
        planes[:, _OTHER] |= old[1 - colours]
    result = samples.result
    if Defect.BLACK_RESULT in defects:
        black = {Outcome.BLACK: 1.0, Outcome.WHITE: -1.0}.get(outcome, 0.0)
        result = np.full_like(result, black)
    return replace(samples, planes=planes.reshape(samples.planes.shape), result=result)


@dataclass(frozen=True, slots=True)
class DefectivePlace:
    """A place whose self-play returns samples with defects."""

    place: Place
    ruleset: Ruleset
    defects: frozenset[Defect]

    @property
    def device(self) -> Device | None:
        """Device of the place."""
        return self.place.device

    def self_play(
        self, spec: SelfPlaySpec, config: SelfPlayConfig, arrays: Mapping[str, npt.NDArray[Any]]
    ) -> GameSource:
        """Return the place's source of games, with defects."""
        if spec.layout != LAYOUT:
            raise InputError(f"the defects are defined for plane layout {LAYOUT}, not for {spec.layout}")
        return _DefectiveSource(self.place.self_play(spec, config, arrays), self.ruleset, self.defects)

    def trainer(self, learner: Learner, config: Config) -> AbstractContextManager[Trainer]:
        """Return the place's trainer."""
        return self.place.trainer(learner, config)


class _DefectiveSource:
    """A source of games that corrupts their samples."""

    def __init__(self, source: GameSource, ruleset: Ruleset, defects: frozenset[Defect]) -> None:
        self._source = source
        self._ruleset = ruleset
        self._defects = defects

    @property
    def is_continuous(self) -> bool:
        return self._source.is_continuous

    def publish(self, generation: Generation) -> None:
        self._source.publish(generation)

    def collect(self) -> Games:
        return corrupt(self._source.collect(), self._ruleset, self._defects)

    def arrays(self) -> Arrays:
        return self._source.arrays()

    def metrics(self) -> Mapping[str, Any]:
        return self._source.metrics()

    def describe(self) -> str:
        return self._source.describe()

    def __enter__(self) -> Self:
        self._source.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._source.__exit__(*exception)
