"""The games of a tournament: players, openings and colours.

The tournament's description determines all games, but a Swiss round also depends on the results of the earlier rounds.

Each game has a number. Games are numbered by round, then by ruleset, then by pairing. Each pairing plays two games in
a row from the same opening with colours exchanged: games 2k and 2k + 1 are a pair.

A tournament can grow: the games of added players and rounds are numbered after all games planned before.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from tengen.arena.openings import Stones, transform_opening
from tengen.arena.swiss import SwissPairings
from tengen.core.contracts import Ruleset
from tengen.core.symmetry import symmetries
from tengen.errors import InputError


class TournamentFormat(StrEnum):
    """Pairing system of a tournament."""

    ROUND_ROBIN = "round-robin"
    """Every player plays against every other player."""
    GAUNTLET = "gauntlet"
    """The challengers (the first players in the list) play against all others."""
    SWISS = "swiss"
    """In each round, every player meets an opponent with a similar score that it has not met before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledGame:
    """One game to play. Players are indices into the list of players."""

    number: int
    ruleset: Ruleset
    first: int
    """Black player; with an opening procedure, the proposer."""
    second: int
    round: int
    opening: Stones
    opening_number: int
    """Index of the opening in its list."""
    seed: int

    @property
    def pair(self) -> int:
        """Number of the pair that this game belongs to."""
        return self.number // 2

    @property
    def players(self) -> tuple[int, int]:
        """Both players, by seat."""
        return self.first, self.second


def pairings(players: int, format: TournamentFormat, challengers: int = 1) -> list[tuple[int, int]]:
    """Return the pairings (i, j) with i < j of every round of a round-robin or a gauntlet."""
    if players < 2:
        raise InputError(f"a tournament needs at least two players, not {players}")
    if format is TournamentFormat.ROUND_ROBIN:
        return list(combinations(range(players), 2))
    if not 1 <= challengers < players:
        raise InputError(
            f"challengers={challengers} must be at least 1 and less than the number of players ({players})"
        )
    return [(one, other) for one in range(challengers) for other in range(challengers, players)]


class _Block(NamedTuple):
    """A block of consecutively numbered games: some rounds of some pairings."""

    start: int
    """Number of the first game."""
    rounds: range
    pairings: Sequence[tuple[int, int]]
    """The pairings of each round; empty in a Swiss tournament, where they differ from round to round."""
    pairs_per_ruleset: int


class Schedule(Sequence[ScheduledGame]):
    """All games of a tournament in order, created on access."""

    def __init__(
        self,
        *,
        pairings: Sequence[tuple[int, int]] | SwissPairings,
        openings: Mapping[Ruleset, Sequence[Stones]],
        rounds: int,
        seed: int = 0,
        shuffles: bool = False,
        transforms: bool = False,
        games: int | None = None,
        grown_from: Sequence[tuple[Sequence[tuple[int, int]], int]] = (),
    ) -> None:
        """Plan `rounds` openings for each pairing and ruleset, with two games each and at most `games` in total.

        `grown_from` contains the pairings and rounds of the tournament before each extension, oldest first. Games that
        were already planned keep their numbers. A Swiss tournament does not need it, because it can only gain rounds.

        If there are more rounds than openings, the openings are reused; `transforms` applies a different symmetry of
        the board each time. With `shuffles`, the openings come in a random order determined by `seed`.
        """
        if rounds < 1:
            raise InputError(f"rounds must be at least 1, not {rounds}")
        self._swiss = pairings if isinstance(pairings, SwissPairings) else None
        self._rulesets = list(openings)
        self._openings = dict(openings)
        self._order: dict[Ruleset, Sequence[int]] = {rules: range(len(found)) for rules, found in openings.items()}
        if shuffles:
            for ruleset, found in openings.items():
                order = list(range(len(found)))
                random.Random(f"order {seed} {ruleset}").shuffle(order)
                self._order[ruleset] = order
        self._transforms = transforms
        self._seed = seed
        added: Iterable[tuple[range, Sequence[tuple[int, int]]]] = [(range(rounds), ())]
        if not isinstance(pairings, SwissPairings):
            added = _added_games([*grown_from, (pairings, rounds)])
        self._blocks: list[_Block] = []
        total = 0
        for block_rounds, block_pairings in added:
            pairs = len(block_pairings) if self._swiss is None else self._swiss.per_round
            self._blocks.append(_Block(total, block_rounds, block_pairings, pairs))
            total += 2 * len(block_rounds) * len(self._rulesets) * pairs
        self._length = total if games is None else min(games, total)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> ScheduledGame:  # type: ignore[override]
        if not 0 <= number < self._length:
            raise IndexError(f"there is no game {number}: the {self._length} games are numbered from 0")
        block = next(block for block in reversed(self._blocks) if block.start <= number)
        pair, exchanged = divmod(number - block.start, 2)
        round_index, place = divmod(pair, len(self._rulesets) * block.pairs_per_ruleset)
        ruleset_number, pairing = divmod(place, block.pairs_per_ruleset)
        ruleset = self._rulesets[ruleset_number]
        round_number = block.rounds[round_index]
        pairings = block.pairings if self._swiss is None else self._swiss.of_round(round_number)
        players = pairings[pairing]
        opening_number, opening = self._opening(ruleset, round_number)
        return ScheduledGame(
            number=number,
            ruleset=ruleset,
            first=players[exchanged],
            second=players[1 - exchanged],
            round=round_number,
            opening=opening,
            opening_number=opening_number,
            seed=_game_seed(self._seed, number),
        )

    def __iter__(self) -> Iterator[ScheduledGame]:
        return (self[number] for number in range(self._length))

    def stages(self) -> Iterator[range]:
        """Yield ranges of game numbers. A stage can be played once the games of the earlier stages have been added."""
        step = self._length if self._swiss is None else 2 * len(self._rulesets) * self._swiss.per_round
        for start in range(0, self._length, step):
            yield range(start, min(start + step, self._length))

    def add(self, number: int, players: tuple[int, int], winner: int | None) -> None:
        """Add a finished game. Add games of earlier runs in the order of their numbers.

        Raises `InputError` if a Swiss tournament has no such game between these players.
        """
        if self._swiss is None:
            return
        if number >= self._length or self[number].players != players:
            raise InputError(
                f"players {players[0]} and {players[1]} are not paired in game {number}: the file is damaged or from"
                " another version of Tengen"
            )
        self._swiss.add(players, 0.5 if winner is None else float(winner == players[0]))

    def digest_openings(self, rulesets: Collection[Ruleset] | None = None) -> str:
        """Return a short hash of all openings for these rulesets (default: all rulesets)."""
        text = "\n".join(
            f"{ruleset} {''.join(stones)}"
            for ruleset, found in self._openings.items()
            if rulesets is None or ruleset in rulesets
            for stones in found
        )
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def _opening(self, ruleset: Ruleset, round_number: int) -> tuple[int, Stones]:
        order = self._order[ruleset]
        lap, place = divmod(round_number, len(order))
        number = order[place]
        opening = self._openings[ruleset][number]
        if self._transforms:
            images = symmetries(ruleset)
            # Use a different symmetry for each opening and each lap.
            opening = transform_opening(ruleset, opening, images[(lap + place) % len(images)])
        return number, opening


def _added_games(
    sizes: Sequence[tuple[Sequence[tuple[int, int]], int]],
) -> Iterator[tuple[range, Sequence[tuple[int, int]]]]:
    """Yield the rounds and pairings that each size of a growing tournament adds to the previous size."""
    known: Collection[tuple[int, int]] = ()
    known_rounds = 0
    for pairings, rounds in sizes:
        added = [pairing for pairing in pairings if pairing not in known]
        if added and known_rounds:
            yield range(known_rounds), added
        if rounds > known_rounds:
            yield range(known_rounds, rounds), pairings
        known, known_rounds = set(pairings), rounds


def _game_seed(seed: int, number: int) -> int:
    digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1
