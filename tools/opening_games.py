"""Play the games of the opening explorer and write them to `data/games`.

Every ruleset gets a round robin of the engine at three strengths from the 26 classical openings: black in the centre,
white next to it in a straight or diagonal line, black's second stone within two points of the centre. Searches are
limited by nodes, so the games are the same on every machine.

    python -m tools.opening_games [FOLDER]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tengen.arena.store import GameStore
from tengen.core.geometry import Point

RULES = ("freestyle", "standard", "renju")
STRENGTHS = ((5_000, 2), (20_000, 4), (60_000, 8))
"""Nodes per move and megabytes of hash memory of the three players."""
TARGET = Path(__file__).parents[1] / "data" / "games"
_CENTRE = (7, 7)
_REACH = 2

_TOURNAMENT = """
name = "games-{rule}"
rules = "15x15:5:{rule}"
format = "round-robin"
rounds = 26
seed = 1
database = "{rule}.db"
report = "{rule}"
players = [{players}]
[openings]
file = "{rule}.txt"
shuffle = false
[adjudication]
proofs = "both"
"""


def classical_openings() -> list[str]:
    """Return the 26 openings as position strings without rules."""
    return [
        f"{Point.at(*_CENTRE)}{Point.at(*second)}{Point.at(*third)}"
        for second in ((7, 8), (8, 8))
        for third in _third_stones(second)
    ]


def _third_stones(second: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the points for black's second stone, one of each mirrored pair."""
    found: list[tuple[int, int]] = []
    mirrored: set[tuple[int, int]] = {_CENTRE, second}
    for y in range(_CENTRE[1] - _REACH, _CENTRE[1] + _REACH + 1):
        for x in range(_CENTRE[0] - _REACH, _CENTRE[0] + _REACH + 1):
            if (x, y) not in mirrored:
                found.append((x, y))
                mirrored |= {(x, y), (14 - x, y) if second[0] == _CENTRE[0] else (y, x)}
    return found


def play(rule: str, folder: Path) -> Path:
    """Play the games of a rule, resuming an interrupted run. Returns the database."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{rule}.txt").write_text("".join(f"15/{rule}/{line}\n" for line in classical_openings()), "utf-8")
    players = ", ".join(f'"alphabeta:nodes={nodes},hash-mb={mb}"' for nodes, mb in STRENGTHS)
    description = folder / f"{rule}.toml"
    description.write_text(_TOURNAMENT.format(rule=rule, players=players), "utf-8")
    subprocess.run([sys.executable, "-m", "tengen.cli", "tournament", str(description)], check=True)
    return folder / f"{rule}.db"


def write(database: Path, target: Path) -> int:
    """Write the games of a tournament, one per line: the result and the moves. Returns their number."""
    with GameStore(database, is_writer=False) as store:
        lines = sorted(f"{stored.result.outcome} {''.join(stored.result.moves)}" for stored in store.games())
    target.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return len(lines)


if __name__ == "__main__":
    working = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs/opening-games")
    for name in RULES:
        print(f"{name}: {write(play(name, working), TARGET / f'{name}15.txt')} games")
