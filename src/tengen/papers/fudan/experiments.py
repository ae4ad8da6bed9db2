"""The effect of each technique in "Final report for Gomoku project" on the speed and Elo of its alpha-beta player.

    python -m tengen.papers.fudan

times searches to depth 7 with the complete player and with each variant, then plays each variant against the complete
player with the same time per move and no depth limit. It writes the numbers as JSON and as a table. Games are saved as
they end, so the same command resumes a stopped measurement.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tengen.agents.registry import make_agent
from tengen.arena.entrant import Entrant
from tengen.arena.match import TimeControl
from tengen.arena.match_report import match_report
from tengen.arena.openings import load_openings
from tengen.arena.store import GameStore
from tengen.arena.tournament import OpeningSettings, Progress, Tournament, play
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.core.provenance import source_commit
from tengen.core.shipped import shipped_folder
from tengen.errors import TengenError

WHOLE = "whole"
"""The complete player, to which the variants are compared."""
VARIANTS: dict[str, str] = {
    WHOLE: "",
    "blocked-update": "blocked-update=no",
    "peer-update": "peer-update=no",
    "hash": "hash=no",
    "checkmate": "checkmate=off",
    "table": "evaluation=table",
    "authors": "form=authors",
}
"""Name → settings that differ from the report's player."""
_TITLES = {
    WHOLE: "as the report describes it",
    "blocked-update": "without blocked-direction update",
    "peer-update": "without peer update",
    "hash": "without the hash index",
    "checkmate": "without checkmate search",
    "table": "with the evaluation table of its future work",
    "authors": "as its authors ran it",
}
BOARDS: dict[str, tuple[str, str]] = {
    "15x15": ("15x15:5:freestyle", "freestyle15.txt"),
    "20x20": ("20x20:5:freestyle", "freestyle20.txt"),
}
"""Name → ruleset and opening file."""
RESULTS_FILE = "inventions.json"
TABLE_FILE = "inventions.md"
_DEPTH = 7
_PLIES = 12
"""Number of positions timed per opening."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """Settings for the measurement."""

    games: int = 320
    """Number of games per match."""
    time_ms: int = 100
    """Milliseconds per move in matches."""
    openings: int = 60
    """Number of openings for timing searches."""
    boards: Sequence[str] = tuple(BOARDS)
    variants: Sequence[str] = tuple(VARIANTS)
    seed: int = 1


def agent_text(variant: str, *, depth: int) -> str:
    """Return the agent specification of a variant; with depth 0, only the per-move limits bound the depth."""
    return ":".join(("fudan", ",".join(filter(None, (VARIANTS[variant], f"depth={depth}")))))


def measure(plan: Plan, out: Path, games: Path, concurrency: int, console: Console) -> dict[str, dict[str, Row]]:
    """Measure speeds, then play the matches; return board → variant → numbers.

    Results are written to `out` after each step, and games to the folder `games`.
    """
    results: dict[str, dict[str, Row]] = {}
    for board in plan.boards:
        results[board] = measure_speed(plan, board)
        _write(plan, results, out)
    for board in plan.boards:
        for variant in plan.variants:
            if variant == WHOLE:
                continue
            results[board][variant]["match"] = _play_match(plan, board, variant, games, concurrency, console)
            _write(plan, results, out)
    return results


def measure_speed(plan: Plan, board: str) -> dict[str, Row]:
    """Search to depth 7 with every variant, in positions from games that the complete player plays from the openings.

    The variants take turns on each position, so that other load on the machine slows all of them equally.
    """
    ruleset = Ruleset.parse(BOARDS[board][0])
    openings = load_openings(_openings_path(board), ruleset)[: plan.openings]
    rows: dict[str, Row] = {name: {"positions": 0, "nodes": 0, "seconds": 0.0} for name in (WHOLE, *plan.variants)}
    agents = {name: make_agent(agent_text(name, depth=_DEPTH)) for name in rows}
    for opening in openings:
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
    for row in rows.values():
        row["nodes_per_second"] = round(row["nodes"] / row["seconds"])
        row["seconds"] = round(row["seconds"], 4)
    return rows


def _play_match(plan: Plan, board: str, variant: str, folder: Path, concurrency: int, console: Console) -> Row:
    tournament = Tournament(
        name=f"fudan {variant} {board}",
        rules=(Ruleset.parse(BOARDS[board][0]),),
        players=(Entrant(agent=agent_text(variant, depth=0)), Entrant(agent=agent_text(WHOLE, depth=0))),
        rounds=(plan.games + 1) // 2,
        games=plan.games,
        seed=plan.seed,
        limits=TimeControl(time_ms=plan.time_ms),
        openings=OpeningSettings(file=_openings_path(board), transform=True),
    )
    folder.mkdir(parents=True, exist_ok=True)
    with GameStore(folder / f"{board}-{variant}.db") as store:
        progress = play(tournament, store, concurrency=concurrency, on_result=lambda now: _tell(now, console))
    report = match_report(progress)
    kept = ("wins", "draws", "losses", "score", "elo", "elo_interval", "pairs", "forfeits")
    return {key: report[key] for key in kept}


def _tell(progress: Progress, console: Console) -> None:
    if progress.tally.games % 10 == 0 or progress.tally.games == progress.total:
        counts = progress.tally.of(0, 1)
        console.print(f"{progress.tournament.name}: {progress.tally.games} of {progress.total} games, {counts}")


def _openings_path(board: str) -> Path:
    return shipped_folder("data") / "openings" / BOARDS[board][1]


def _write(plan: Plan, results: Mapping[str, Mapping[str, Row]], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    numbers = {
        "games": plan.games,
        "time_ms": plan.time_ms,
        "seed": plan.seed,
        "commit": source_commit(),
        "boards": results,
    }
    (out / RESULTS_FILE).write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    (out / TABLE_FILE).write_text(format_table(plan, results), encoding="utf-8")


def format_table(plan: Plan, results: Mapping[str, Mapping[str, Row]]) -> str:
    """Format the results of all boards as Markdown."""
    lines = [
        f"Nodes, nodes per second, milliseconds: means of searches to depth {_DEPTH} in the opening.",
        f"Elo: {plan.games} games against the complete player, {plan.time_ms} ms per move, any depth; 95 % intervals.",
    ]
    for board, rows in results.items():
        lines += [
            "",
            f"{board.replace('x', '×')}:",
            "",
            "| player | nodes | nodes/s | ms | Elo |",
            "|---|--:|--:|--:|--:|",
        ]
        lines += [_table_row(name, row) for name, row in rows.items()]
    return "\n".join(lines) + "\n"


def _table_row(name: str, row: Row) -> str:
    cells = (
        _TITLES[name],
        f"{row['nodes'] / row['positions']:,.0f}",
        f"{row['nodes_per_second']:,}",
        f"{1000 * row['seconds'] / row['positions']:.1f}",
        "0" if name == WHOLE else _elo_cell(row.get("match")),
    )
    return "| " + " | ".join(cells) + " |"


def _elo_cell(match: Row | None) -> str:
    if match is None:
        return ""
    low, high = (f"{bound:+.0f}" if bound is not None else "∞" for bound in match["elo_interval"])
    return f"{match['elo']:+.0f} [{low}, {high}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command-line entry point."""
    default = Plan()
    parser = argparse.ArgumentParser(
        prog="python -m tengen.papers.fudan", description="Measure the effect of each technique of the fudan player."
    )
    parser.add_argument("--boards", nargs="+", choices=BOARDS, default=default.boards)
    parser.add_argument(
        "--only", nargs="+", choices=VARIANTS, default=default.variants, help="variants to measure (default: all)"
    )
    parser.add_argument("--games", type=int, default=default.games, help="games per match (default: %(default)s)")
    parser.add_argument(
        "--time-ms", type=int, default=default.time_ms, help="milliseconds per move (default: %(default)s)"
    )
    parser.add_argument(
        "--openings",
        type=int,
        default=default.openings,
        help="number of openings on which searches are timed (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=default.seed, help="random seed for the matches (default: %(default)s)"
    )
    parser.add_argument("--concurrency", type=int, default=1, help="games played at the same time (default: 1)")
    parser.add_argument(
        "--out", type=Path, default=Path("papers/fudan/results"), help="output folder (default: %(default)s)"
    )
    parser.add_argument(
        "--store", type=Path, default=Path("runs/papers/fudan"), help="folder for the games (default: %(default)s)"
    )
    chosen = parser.parse_args(arguments)
    plan = Plan(chosen.games, chosen.time_ms, chosen.openings, chosen.boards, chosen.only, chosen.seed)
    try:
        results = measure(plan, chosen.out, chosen.store, chosen.concurrency, Console(highlight=False))
    except TengenError as error:
        print(f"fudan: {error}", file=sys.stderr)
        return 2
    print(format_table(plan, results), end="")
    return 0
