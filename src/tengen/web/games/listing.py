"""List and search the games of a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.opening_procedure import Seat
from tengen.web.messages.games import GameList, GameSummary, MyResult, Opponent, Player
from tengen.web.store import Listed

_PLAYER: TypeAdapter[Player] = TypeAdapter(Player)


@dataclass(frozen=True, kw_only=True)
class GameFilter:
    """Conditions that a game must match to be listed; None matches all games."""

    opponent: str | None = None
    """The key of an `Opponent`."""
    result: MyResult | None = None
    rule: Rule | None = None
    since: float | None = None
    """Earliest start, in seconds since 1970."""
    until: float | None = None
    """Latest start (exclusive), in seconds since 1970."""


@dataclass(frozen=True)
class _Entry:
    """A stored game with the parsed fields of its summary."""

    row: Listed
    fields: dict[str, Any]

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.fields["outcome"])

    @property
    def own_seat(self) -> str | None:
        """The seat of the only human player; None if two people or two agents play."""
        people = [seat for seat, player in self.fields["players"].items() if player["kind"] == "person"]
        return people[0] if len(people) == 1 else None

    @property
    def opponents(self) -> dict[str, dict[str, Any]]:
        """The players by key, except the only human player."""
        own = self.own_seat
        return {_key_of(player): player for seat, player in self.fields["players"].items() if seat != own}

    @property
    def result(self) -> MyResult | None:
        """The result for the only human player; None for a decided game between two people or two agents."""
        own, outcome = self.own_seat, self.outcome
        if outcome is Outcome.ONGOING:
            return MyResult.ONGOING
        if outcome is Outcome.DRAW:
            return MyResult.DRAW
        if own is None or outcome.winner is None:
            return None
        is_black = self.fields["black_seat"] == own
        return MyResult.WON if (outcome.winner is Colour.BLACK) is is_black else MyResult.LOST

    def matches(self, wanted: GameFilter) -> bool:
        started = self.row.created_at
        return (
            (wanted.since is None or started >= wanted.since)
            and (wanted.until is None or started < wanted.until)
            and (wanted.opponent is None or wanted.opponent in self.opponents)
            and (wanted.result is None or wanted.result is self.result)
            and (wanted.rule is None or wanted.rule is Ruleset.parse(self.fields["rules"]).rule)
        )


def search_games(rows: Sequence[Listed], wanted: GameFilter, limit: int, offset: int) -> GameList:
    """Return one page of the stored games that match, in the given order, and the opponents of all games."""
    entries = [_Entry(row, json.loads(row.summary)) for row in rows]
    matching = [entry for entry in entries if entry.matches(wanted)]
    return GameList(
        games=[summary_of(entry.row) for entry in matching[offset : offset + limit]],
        total=len(matching),
        stored=len(entries),
        opponents=list(_opponents_of(entries)),
    )


def summary_of(row: Listed) -> GameSummary:
    """Return the list entry for a stored game."""
    fields = json.loads(row.summary)
    players, black = fields["players"], fields.pop("black_seat")
    fields.pop("mistakes", None)
    return GameSummary(
        id=row.id,
        black=None if black is None else players[black],
        white=None if black is None else players[Seat(black).other],
        started_at=row.created_at,
        changed_at=row.changed_at,
        **fields,
    )


def _opponents_of(entries: Sequence[_Entry]) -> Iterator[Opponent]:
    """Yield the opponents, the most frequent ones first."""
    players: dict[str, dict[str, Any]] = {}
    counts: dict[str, int] = {}
    for entry in entries:
        for key, player in entry.opponents.items():
            players.setdefault(key, player)
            counts[key] = counts.get(key, 0) + 1
    for key in sorted(players, key=lambda one: (-counts[one], one)):
        yield Opponent(key=key, player=_PLAYER.validate_python(players[key]), games=counts[key])


def _key_of(player: dict[str, Any]) -> str:
    """Return a string that identifies an opponent. It ignores the time per move of an agent."""
    name = {"level": "level", "agent": "agent", "person": "name"}[player["kind"]]
    return f"{player['kind']}:{player[name]}"
