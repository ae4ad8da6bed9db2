"""Who plays whom, from which opening, with which colour: a list that follows from its description alone.

A game is known by its number. The numbers run over rounds, in a round over rulesets, in a ruleset over pairings, and a
pairing plays two games in a row from the same opening with the colours exchanged: 2k and 2k + 1 are a pair.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from tengen.arena.openings import Stones, transform_opening
from tengen.core.contracts import Ruleset
from tengen.core.symmetry import symmetries
from tengen.errors import InputError


class Format(StrEnum):
    """Which players meet."""

    ROUND_ROBIN = "round-robin"
    """Everybody meets everybody."""
    GAUNTLET = "gauntlet"
    """The first players, the challengers, meet all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """One game to be played; players are given by their place in the list of players."""

    number: int
    ruleset: Ruleset
    first: int
    """The player of black; the proposer under an opening procedure."""
    second: int
    round: int
    opening: Stones
    opening_number: int
    """Place of the opening in its list."""
    seed: int

    @property
    def pair(self) -> int:
        """The number that this game shares with the one from the same opening with colours exchanged."""
        return self.number // 2

    @property
    def players(self) -> tuple[int, int]:
        """The two players by seat."""
        return self.first, self.second


def pairings(players: int, format: Format, challengers: int = 1) -> list[tuple[int, int]]:
    """All pairs of players that meet, the earlier one first."""
    if players < 2:
        raise InputError(f"a tournament needs two players, not {players}")
    if format is Format.ROUND_ROBIN:
        return list(combinations(range(players), 2))
    if not 1 <= challengers < players:
        raise InputError(f"{challengers} of {players} players cannot be the challengers")
    return [(one, other) for one in range(challengers) for other in range(challengers, players)]


class Schedule(Sequence[Game]):
    """All games of a tournament in order, made when they are asked for."""

    def __init__(
        self,
        *,
        pairings: Sequence[tuple[int, int]],
        openings: Mapping[Ruleset, Sequence[Stones]],
        rounds: int,
        seed: int = 0,
        shuffles: bool = False,
        transforms: bool = False,
        games: int | None = None,
    ) -> None:
        """`rounds` openings for each pairing and ruleset, two games each; `games` cuts the list short.

        With more rounds than openings the list of openings is gone through again, `transforms` turning and mirroring
        it each time. `shuffles` mixes the order of the openings by the seed.
        """
        if rounds < 1:
            raise InputError(f"a tournament of {rounds} rounds has no games")
        self._pairings = list(pairings)
        self._rulesets = list(openings)
        self._openings = {ruleset: list(found) for ruleset, found in openings.items()}
        self._order = {ruleset: list(range(len(found))) for ruleset, found in openings.items()}
        if shuffles:
            for ruleset, order in self._order.items():
                random.Random(f"order {seed} {ruleset}").shuffle(order)
        self._transforms = transforms
        self._seed = seed
        self._pairs_of_round = len(self._rulesets) * len(self._pairings)
        total = 2 * rounds * self._pairs_of_round
        self._length = total if games is None else min(games, total)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> Game:  # type: ignore[override]
        if not 0 <= number < self._length:
            raise IndexError(f"game {number} of {self._length}")
        pair, exchanged = divmod(number, 2)
        round_number, place = divmod(pair, self._pairs_of_round)
        ruleset_number, pairing = divmod(place, len(self._pairings))
        ruleset = self._rulesets[ruleset_number]
        players = self._pairings[pairing]
        opening_number, opening = self._opening(ruleset, round_number)
        return Game(
            number=number,
            ruleset=ruleset,
            first=players[exchanged],
            second=players[1 - exchanged],
            round=round_number,
            opening=opening,
            opening_number=opening_number,
            seed=_game_seed(self._seed, number),
        )

    def __iter__(self) -> Iterator[Game]:
        return (self[number] for number in range(self._length))

    def digest_openings(self) -> str:
        """A short text that differs when any opening does."""
        text = "\n".join(f"{rules} {''.join(stones)}" for rules, found in self._openings.items() for stones in found)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def _opening(self, ruleset: Ruleset, round_number: int) -> tuple[int, Stones]:
        order = self._order[ruleset]
        lap, place = divmod(round_number, len(order))
        number = order[place]
        opening = self._openings[ruleset][number]
        if self._transforms:
            images = symmetries(ruleset)
            # Another symmetry for each opening, and for each lap.
            opening = transform_opening(ruleset, opening, images[(lap + place) % len(images)])
        return number, opening


def _game_seed(seed: int, number: int) -> int:
    digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1
