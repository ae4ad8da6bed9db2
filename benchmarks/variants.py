"""Measure the Elo gain of an AlphaZero setting: train with and without it for equal CPU time, then play matches.

    python -m benchmarks.variants playouts --cpu-minutes 10 --seeds 3 --folder runs/playouts
    python -m benchmarks.variants int8 --cpu-minutes 10 --seeds 3 --folder runs/int8

Every variant is trained with every seed. Each run then plays against the baseline's run with the same seed. The Elo
difference is computed from the games of all seeds. Repeat the command to resume a stopped measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

import tengen
from tengen.arena.elo import estimate_elo


@dataclass(frozen=True)
class Study:
    """A baseline, the variants that are compared with it, and how their networks play the matches."""

    preset: str
    rules: str
    baseline: str
    variants: Mapping[str, Mapping[str, Any]]
    common: Mapping[str, Any] = field(default_factory=dict)
    player: str = ""


_CAP = {"search.full_fraction": 0.25, "search.fast_simulations": 16}
STUDIES: Mapping[str, Study] = {
    # These settings require PUCT at the root, because Gumbel gives every candidate its own budget. A PUCT search
    # explores by noise at the root.
    "playouts": Study(
        preset="6x6x4",
        rules="6x6:4",
        baseline="plain",
        variants={
            "forced": {"search.forced_playouts": 2.0},
            "capped": _CAP,
            "both": {"search.forced_playouts": 2.0, **_CAP},
        },
        common={"search.gumbel": False, "search.noise": "root"},
        player=",preset=alphagomoku8,c=1.25",
    ),
    # Self-play with the quantised network plays more games in the same time. The matches use the trained fp32 networks.
    "int8": Study(
        preset="9x9",
        rules="9x9",
        baseline="fp32",
        variants={"int8": {"self_play.precision": "int8"}},
        common={"self_play.precision": "fp32"},
    ),
}


def main(
    study: Annotated[str, typer.Argument(help=f"setting to measure: {', '.join(STUDIES)}")],
    cpu_minutes: Annotated[float, typer.Option(help="CPU time of each run in minutes")] = 10.0,
    seeds: Annotated[int, typer.Option(help="number of runs of each variant")] = 3,
    games: Annotated[int, typer.Option(help="number of games in each match")] = 200,
    simulations: Annotated[int, typer.Option(help="simulations per move in the matches")] = 48,
    folder: Annotated[Path | None, typer.Option(help="folder for the runs (default: runs/STUDY)")] = None,
) -> None:
    """Train every variant with every seed and compare it with the baseline."""
    if study not in STUDIES:
        raise typer.BadParameter(f"unknown study {study!r}; available: {', '.join(STUDIES)}")
    chosen, root = STUDIES[study], folder or Path("runs", study)
    agents = {}
    for seed in range(1, seeds + 1):
        for name, changes in {chosen.baseline: {}, **chosen.variants}.items():
            run = root / f"{name}-{seed}"
            if run.is_dir():
                trained = tengen.train(run=run, resume=True)
            else:
                no_strength = {"strength.every": 0, "strength.points": 0}
                settings = {**no_strength, **chosen.common, **changes, "cpu_minutes": cpu_minutes}
                trained = tengen.train("alphazero", chosen.preset, run=run, settings=settings, minutes=0, seed=seed)
            agents[name, seed] = f"{trained.agent},simulations={simulations}{chosen.player}"
            print(f"{name}, seed {seed}: {trained.metrics()[-1]['games']:,} games", flush=True)
    for name in chosen.variants:
        counts = [0, 0, 0]  # lost, drawn, won
        for seed in range(1, seeds + 1):
            result = tengen.play_match(
                agents[name, seed], agents[chosen.baseline, seed], rules=chosen.rules, games=games, seed=seed
            )
            for index, number in enumerate((result.losses, result.draws, result.wins)):
                counts[index] += number
            print(f"{name}, seed {seed}: +{result.wins} ={result.draws} -{result.losses}", flush=True)
        found = estimate_elo(counts)
        print(
            f"{name} against {chosen.baseline}: Elo {found.elo:+.0f} [{found.low:+.0f}, {found.high:+.0f}] over"
            f" {sum(counts)} games"
        )


if __name__ == "__main__":
    typer.run(main)
