"""Results of a tournament as tables and as JSON; `tengen.arena.render` turns the tables into text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tengen.arena.ratings import Ratings, zero9_score
from tengen.arena.standings import Standings
from tengen.arena.tally import Wdl

MAX_COMPARED = 100
"""Maximum number of players in tables and pictures of pairwise results, strongest first. Ratings list all players."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of strings. The first `left` columns contain text, the others numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    left: int = 1
    is_detail: bool = False
    """Whether the table is omitted from the terminal report."""


def tables(standings: Standings) -> list[ReportTable]:
    """Return all tables of a report, most important first."""
    found: list[ReportTable] = []
    for ruleset, ratings in standings.ratings.items():
        found.append(rating_table(standings, ruleset, ratings))
        found.append(crosstable(standings, ruleset))
        found.append(colour_table(standings, ruleset))
        found.append(superiority_table(standings, ruleset, ratings))
        found.append(zero9_table(standings, ruleset))
    found.append(time_table(standings))
    found.append(ending_table(standings))
    if standings.tally.forfeits:
        found.append(forfeit_table(standings))
        found.append(fault_table(standings))
    return found


def summary(standings: Standings) -> str:
    """Summarise the tournament in one sentence."""
    plies = standings.plies / standings.tally.games if standings.tally.games else 0.0
    state = "" if standings.tally.games >= standings.games_planned else f" of {standings.games_planned}"
    return f"{standings.tally.games}{state} games of {len(standings.names)} players, {plies:.1f} stones per game."


# -- tables ----------------------------------------------------------------------------------------------------------


def rating_table(standings: Standings, ruleset: str, ratings: Ratings) -> ReportTable:
    """Return each player's Elo with its interval, strongest first."""
    rows = []
    for rank, player in enumerate(standings.by_strength(ruleset), start=1):
        wdl = standings.tally.of(player, ruleset=ruleset)
        error = "anchor" if player in standings.anchors else f"±{ratings.error(player):.0f}"
        rows.append(
            (
                str(rank),
                standings.names[player],
                f"{ratings.elo[player]:+.0f}" if not standings.anchors else f"{ratings.elo[player]:.0f}",
                error,
                str(wdl.games),
                _percent(wdl),
                *map(str, (wdl.wins, wdl.draws, wdl.losses)),
            )
        )
    first_move = f"{ratings.first_move_elo:+.0f} ±{ratings.first_move_error:.0f}"
    notes = [
        f"95 % intervals. Moving first is worth {first_move} Elo.",
        f"Equal players draw {100 * ratings.draw_rate:.0f} % of their games.",
    ]
    groups = len({ratings.groups[player] for player in range(len(standings.names)) if ratings.games[player]})
    if groups > 1:
        notes.append(f"The players form {groups} groups without games between them, whose ratings cannot be compared.")
    columns = ("#", "player", "Elo", "error", "games", "score", "wins", "draws", "losses")
    return ReportTable(f"Ratings, {ruleset}", columns, tuple(rows), " ".join(notes), left=2)


def crosstable(standings: Standings, ruleset: str) -> ReportTable:
    """Return the points of each player (row) against every other player (column), strongest first.

    If the players have not met equally often, each cell also contains the number of games.
    """
    order = compared_players(standings, ruleset)
    meetings = {
        standings.tally.of(player, other, ruleset).games for player in order for other in order if other != player
    }
    games = meetings.pop() if len(meetings) == 1 else None
    columns = ("", *(str(rank) for rank in range(1, len(order) + 1)))
    rows = []
    for rank, player in enumerate(order, start=1):
        found = [standings.tally.of(player, other, ruleset) for other in order]
        points = [_points(wdl) if games is None else f"{wdl.points:g}" for wdl in found]
        points[rank - 1] = "·"
        rows.append((f"{rank} {standings.names[player]}", *points))
    if games is None:
        note = "Points/games of the row's player."
    else:
        note = f"Points of the row's player out of {games} games."
    note += _left_out(standings, ruleset)
    return ReportTable(f"Crosstable, {ruleset}", columns, tuple(rows), note)


def colour_table(standings: Standings, ruleset: str) -> ReportTable:
    """Return wins, draws and losses with black and with white."""
    rows = []
    for player in standings.by_strength(ruleset):
        black, white = (
            standings.tally.as_black(player, ruleset=ruleset),
            standings.tally.as_white(player, ruleset=ruleset),
        )
        rows.append((standings.names[player], str(black), _percent(black), str(white), _percent(white)))
    columns = ("player", "as black", "score", "as white", "score")
    return ReportTable(f"Colours, {ruleset}", columns, tuple(rows))


def superiority_table(standings: Standings, ruleset: str, ratings: Ratings) -> ReportTable:
    """Return the likelihood that each player (row) is stronger than every other player (column), in percent."""
    order = compared_players(standings, ruleset)
    columns = ("", *(str(rank) for rank in range(1, len(order) + 1)))
    rows = []
    for rank, player in enumerate(order, start=1):
        cells = (
            "·"
            if other == player
            else ("?" if ratings.groups[other] != ratings.groups[player] else _likelihood(ratings, player, other))
            for other in order
        )
        rows.append((f"{rank} {standings.names[player]}", *cells))
    title = f"Likelihood of superiority, {ruleset}"
    note = f"In percent; row over column.{_left_out(standings, ruleset)}"
    return ReportTable(title, columns, tuple(rows), note, is_detail=True)


def zero9_table(standings: Standings, ruleset: str) -> ReportTable:
    """Return score(i, j) for each player (row) against every other player (column)."""
    order = compared_players(standings, ruleset)
    columns = ("", *(str(rank) for rank in range(1, len(order) + 1)))
    rows = []
    for rank, player in enumerate(order, start=1):
        cells = []
        for other in order:
            score = None if other == player else zero9_score(standings.tally, player, other, ruleset)
            cells.append("·" if score is None else f"{score:+.2f}")
        rows.append((f"{rank} {standings.names[player]}", *cells))
    note = "B(i, j) − B(j, i) + W(i, j) − W(j, i), where B and W are win rates with black and with white; from −2 to 2."
    note += _left_out(standings, ruleset)
    return ReportTable(f"score(i, j), {ruleset}", columns, tuple(rows), note, is_detail=True)


def compared_players(standings: Standings, ruleset: str) -> list[int]:
    """Return the players that are compared with each other, strongest first; at most `MAX_COMPARED`."""
    return standings.by_strength(ruleset)[:MAX_COMPARED]


def _left_out(standings: Standings, ruleset: str) -> str:
    players = len(standings.by_strength(ruleset))
    return f" Only the strongest {MAX_COMPARED} of {players:,} players are shown." if players > MAX_COMPARED else ""


def time_table(standings: Standings) -> ReportTable:
    """Return each player's time and search effort per move."""
    rows = []
    for name, times in zip(standings.names, standings.times, strict=True):
        numbers = (f"{times.mean_ms:.3g}", f"{times.longest_ms:.3g}", f"{times.mean_nodes:.3g}")
        rows.append((name, str(times.moves), *numbers, f"{times.mean_depth:.1f}"))
    return ReportTable("Time per move", ("player", "moves", "mean ms", "longest ms", "nodes", "depth"), tuple(rows))


def ending_table(standings: Standings) -> ReportTable:
    """Return the number of games with each ending."""
    rows = tuple((ending.value, str(count)) for ending, count in standings.tally.endings.most_common())
    return ReportTable("Endings", ("ending", "games"), rows)


def forfeit_table(standings: Standings) -> ReportTable:
    """Return the number of games that each player lost because of each fault."""
    rows = tuple(
        (standings.names[player], ending.value, str(count))
        for (player, ending), count in sorted(standings.tally.forfeits.items())
    )
    return ReportTable("Forfeits", ("player", "fault", "games"), rows, left=2)


def fault_table(standings: Standings) -> ReportTable:
    """Return each forfeited game with its reason."""
    names = standings.names
    rows = tuple(
        (str(fault.game), names[fault.player], names[fault.opponent], fault.ending.value, fault.detail[:200])
        for fault in standings.faults
    )
    return ReportTable(
        "Forfeited games", ("game", "player", "against", "fault", "what happened"), rows, left=5, is_detail=True
    )


# -- JSON ------------------------------------------------------------------------------------------------------------


def as_json(standings: Standings) -> dict[str, Any]:
    """Return the report as JSON data (described in docs/reference/arena.md)."""
    forfeits: dict[int, dict[str, int]] = {}
    for (loser, ending), count in sorted(standings.tally.forfeits.items()):
        forfeits.setdefault(loser, {})[ending.value] = count
    return {
        "name": standings.name,
        "games": standings.tally.games,
        "games_planned": standings.games_planned,
        "stones_a_game": round(standings.plies / standings.tally.games, 2) if standings.tally.games else 0.0,
        "players": [
            {
                "name": name,
                "agent": agent,
                **_counts(standings.tally.of(player)),
                "moves": times.moves,
                "mean_ms": round(times.mean_ms, 3),
                "longest_ms": round(times.longest_ms, 3),
                "mean_nodes": round(times.mean_nodes, 1),
                "mean_depth": round(times.mean_depth, 2),
                "forfeits": forfeits.get(player, {}),
            }
            for player, (name, agent, times) in enumerate(
                zip(standings.names, standings.agents, standings.times, strict=True)
            )
        ],
        "rulesets": {
            ruleset: _ruleset_json(standings, ruleset, ratings) for ruleset, ratings in standings.ratings.items()
        },
        "endings": {ending.value: count for ending, count in sorted(standings.tally.endings.items())},
        "faults": [
            {
                "game": fault.game,
                "player": standings.names[fault.player],
                "against": standings.names[fault.opponent],
                "fault": fault.ending.value,
                "detail": fault.detail,
            }
            for fault in standings.faults
        ],
        "tournaments": standings.descriptions,
    }


def _ruleset_json(standings: Standings, ruleset: str, ratings: Ratings) -> dict[str, Any]:
    order = standings.by_strength(ruleset)
    compared = compared_players(standings, ruleset)
    return {
        "first_move_elo": round(ratings.first_move_elo, 1),
        "first_move_error": round(ratings.first_move_error, 1),
        "draw_rate": round(ratings.draw_rate, 4),
        "ratings": [
            {
                "player": standings.names[player],
                "elo": round(float(ratings.elo[player]), 1),
                "elo_interval": [round(end, 1) for end in ratings.interval(player)],
                "is_anchor": player in standings.anchors,
                "group": ratings.groups[player],
                **_counts(standings.tally.of(player, ruleset=ruleset)),
                "as_black": _counts(standings.tally.as_black(player, ruleset=ruleset)),
                "as_white": _counts(standings.tally.as_white(player, ruleset=ruleset)),
            }
            for player in order
        ],
        "players_compared": len(compared),
        "meetings": [
            {
                "player": standings.names[player],
                "against": standings.names[other],
                **_counts(standings.tally.of(player, other, ruleset)),
                "as_black": _counts(standings.tally.as_black(player, other, ruleset)),
                "as_white": _counts(standings.tally.as_white(player, other, ruleset)),
                "score_ij": zero9_score(standings.tally, player, other, ruleset),
                "likelihood_of_superiority": round(ratings.superiority(player, other), 4),
            }
            for player in compared
            for other in compared
            if player != other and standings.tally.of(player, other, ruleset).games
        ],
    }


def _counts(wdl: Wdl) -> dict[str, int]:
    return {"games": wdl.games, "wins": wdl.wins, "draws": wdl.draws, "losses": wdl.losses}


# -- cells -----------------------------------------------------------------------------------------------------------


def _percent(wdl: Wdl) -> str:
    return f"{100 * wdl.score:.1f} %" if wdl.games else "–"


def _points(wdl: Wdl) -> str:
    return f"{wdl.points:g}/{wdl.games}" if wdl.games else ""


def _likelihood(ratings: Ratings, one: int, other: int) -> str:
    return f"{100 * ratings.superiority(one, other):.0f}"
