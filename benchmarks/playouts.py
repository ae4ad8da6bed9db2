"""Measure the Elo gain of playout-cap randomisation and forced playouts: train with equal CPU time, then play matches.

    python -m benchmarks.playouts --cpu-minutes 10 --seeds 3 --folder runs/playouts

Four in a row on 6x6, PUCT at the root instead of Gumbel. Every variant is trained with every seed. Each run then plays
against the plain run of its seed; the Elo difference is that of all seeds together. A stopped measurement is resumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import tengen
from tengen.arena.elo import estimate_elo

RULES = "6x6:4"
PLAIN = "plain"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    PLAIN: {},
    "forced": {"search.forced_playouts": 2.0},
    "capped": {"search.full_fraction": 0.25, "search.fast_simulations": 16},
    "both": {"search.forced_playouts": 2.0, "search.full_fraction": 0.25, "search.fast_simulations": 16},
}
COMMON = {"search.gumbel": False, "search.noise": "root", "strength.every": 0, "strength.points": 0}
"""The recipe without Gumbel explores by noise at the root."""


def main(
    cpu_minutes: Annotated[float, typer.Option(help="CPU time of each run in minutes")] = 10.0,
    seeds: Annotated[int, typer.Option(help="runs of each variant")] = 3,
    games: Annotated[int, typer.Option(help="games of each match")] = 200,
    simulations: Annotated[int, typer.Option(help="simulations per move in the matches")] = 48,
    folder: Annotated[Path, typer.Option(help="folder of the runs")] = Path("runs/playouts"),
) -> None:
    """Train every variant with every seed and compare it with the plain one."""
    agents = {}
    for seed in range(1, seeds + 1):
        for name, changes in VARIANTS.items():
            run = folder / f"{name}-{seed}"
            if run.is_dir():
                trained = tengen.train(run=run, resume=True)
            else:
                settings = {**COMMON, **changes, "cpu_minutes": cpu_minutes}
                trained = tengen.train("alphazero", "6x6x4", run=run, settings=settings, minutes=0, seed=seed)
            agents[name, seed] = f"{trained.agent},simulations={simulations},preset=alphagomoku8,c=1.25"
            print(f"{name}, seed {seed}: {trained.metrics()[-1]['games']:,} games", flush=True)
    for name in VARIANTS:
        if name == PLAIN:
            continue
        counts = [0, 0, 0]  # lost, drawn, won
        for seed in range(1, seeds + 1):
            result = tengen.play_match(agents[name, seed], agents[PLAIN, seed], rules=RULES, games=games, seed=seed)
            for index, number in enumerate((result.losses, result.draws, result.wins)):
                counts[index] += number
            print(f"{name}, seed {seed}: +{result.wins} ={result.draws} -{result.losses}", flush=True)
        found = estimate_elo(counts)
        print(
            f"{name} against {PLAIN}: Elo {found.elo:+.0f} [{found.low:+.0f}, {found.high:+.0f}] over"
            f" {sum(counts)} games"
        )


if __name__ == "__main__":
    typer.run(main)
