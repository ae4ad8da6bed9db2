"""Results of a match as JSON and as text."""

from __future__ import annotations

import math
from typing import Any

from tengen.arena.elo import EloEstimate, estimate_elo
from tengen.arena.tally import Tally, Wdl
from tengen.arena.tournament import Progress, describe


def match_report(progress: Progress) -> dict[str, Any]:
    """Return the result of a two-player match as JSON data; wins and losses are the first player's."""
    tournament, tally = progress.tournament, progress.tally
    a, b = (entrant.agent for entrant in tournament.players)
    estimate = estimate_elo(tally.match_counts(0, 1))
    report: dict[str, Any] = {
        "a": a,
        "b": b,
        **_wdl(tally.of(0, 1)),
        "as_black": _wdl(tally.as_black(0, 1)),
        "as_white": _wdl(tally.as_white(0, 1)),
        "score": round(estimate.score, 4),
        "elo": _number(estimate.elo),
        "elo_interval": [_number(estimate.low), _number(estimate.high)],
        "normalised_elo": _number(estimate.normalised),
        "likelihood_of_superiority": round(estimate.superiority, 4),
        "draw_ratio": round(tally.of(0, 1).draws / max(1, tally.games), 4),
        "pairs": tally.pairs_of(0, 1),
        **_pair_statistics(tally),
        "endings": {ending.value: count for ending, count in sorted(tally.endings.items())},
        "forfeits": {
            side: {ending.value: count for (player, ending), count in sorted(tally.forfeits.items()) if player == place}
            for place, side in enumerate(("a", "b"))
        },
        "tournament": describe(tournament),
    }
    if tournament.sprt is not None:
        report["sprt"] = {
            "elo0": tournament.sprt.elo0,
            "elo1": tournament.sprt.elo1,
            "alpha": tournament.sprt.alpha,
            "beta": tournament.sprt.beta,
            "model": tournament.sprt.model.value,
            "llr": _number(progress.llr or 0.0),
            "bounds": [_number(tournament.sprt.lower), _number(tournament.sprt.upper)],
            "verdict": None if progress.accepted is None else progress.accepted.value,
        }
    return report


def match_lines(progress: Progress) -> list[str]:
    """Return the result as a few lines of text."""
    tournament, tally = progress.tournament, progress.tally
    a, b = tournament.names()
    estimate = estimate_elo(tally.match_counts(0, 1))
    lines = [
        f"{a} against {b}, {', '.join(map(str, tournament.rules))}, {tally.games} games",
        f"  total     {tally.of(0, 1)}   score {100 * estimate.score:.1f} %",
        f"  as black  {tally.as_black(0, 1)}",
        f"  as white  {tally.as_white(0, 1)}",
        f"  draws     {100 * tally.of(0, 1).draws / max(1, tally.games):.1f} %",
        f"  pairs     {' '.join(map(str, tally.pairs_of(0, 1)))}   (0, ½, 1, 1½, 2 points)",
        *_pair_lines(tally),
        f"  Elo       {_elo_text(estimate)}   likelihood of superiority {100 * estimate.superiority:.1f} %",
    ]
    sprt, llr = tournament.sprt, progress.llr
    if sprt is not None and llr is not None:
        verdict = {"H0": "rejected (H0)", "H1": "accepted (H1)"}.get(progress.accepted or "", "undecided")
        lines.append(
            f"  SPRT      {sprt.elo0:g} … {sprt.elo1:g} {sprt.model} Elo: LLR {llr:.2f}"
            f" ({sprt.lower:.2f}, {sprt.upper:.2f}), {verdict}"
        )
    for (player, ending), count in sorted(tally.forfeits.items()):
        lines.append(f"  forfeits  {tournament.names()[player]}: {count} by {ending}")
    return lines


def _pair_statistics(tally: Tally) -> dict[str, Any]:
    """Return the ratio of won to lost pairs and the share of split pairs; None if the divisor is 0."""
    pairs = tally.pairs_of(0, 1)
    lost, won = sum(pairs[:2]), sum(pairs[3:])
    return {
        "pairs_ratio": round(won / lost, 4) if lost else None,
        "split_pairs": tally.split_pairs_of(0, 1),
        "split_share": round(tally.split_pairs_of(0, 1) / sum(pairs), 4) if sum(pairs) else None,
    }


def _pair_lines(tally: Tally) -> list[str]:
    pairs = tally.pairs_of(0, 1)
    if not sum(pairs):
        return []
    lost, won = sum(pairs[:2]), sum(pairs[3:])
    ratio = f"{won / lost:.2f}" if lost else "-"
    split = tally.split_pairs_of(0, 1)
    return [
        (
            f"            {won} won, {lost} lost, ratio {ratio};"
            f" {split} split ({100 * split / sum(pairs):.1f} %: each player won once)"
        )
    ]


def _wdl(wdl: Wdl) -> dict[str, int]:
    return {"games": wdl.games, "wins": wdl.wins, "draws": wdl.draws, "losses": wdl.losses}


def _number(value: float) -> float | None:
    """Round a number for JSON; return None if it is not finite."""
    return round(value, 2) if math.isfinite(value) else None


def _elo_text(estimate: EloEstimate) -> str:
    return f"{estimate.elo:+.1f} [{estimate.low:+.1f}, {estimate.high:+.1f}]"
