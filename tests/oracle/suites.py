"""Readers of the test data: perft suites, drawings with forbidden points, collections of positions.

The tests of the oracle and of the native core use the same data.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from tests.oracle.rules import BLACK, WHITE, Point, Rules, Stones, point_of

DATA = Path(__file__).resolve().parent.parent / "data"


class PerftCount(NamedTuple):
    """A line `perft DEPTH NODES WINS [oracle|native|closed-form]`; the last word says who counts it (default: all)."""

    depth: int
    nodes: int
    wins: int
    only: str | None


class PerftCase(NamedTuple):
    """A starting position and its counts."""

    id: str
    rules: Rules
    stones: Stones
    to_move: str
    counts: list[PerftCount]

    def counts_for(self, who: str) -> list[PerftCount]:
        """Return the counts that `who`, oracle or native, must reproduce."""
        return [count for count in self.counts if count.only in (None, who)]


def read_perft_suite(path: Path) -> list[PerftCase]:
    """Read the cases of a suite.

    A case starts with `id TEXT` and `ruleset TEXT`, followed by `black POINTS`, `white POINTS` and `to_move COLOUR` if
    it does not start on the empty board; the rest are `perft` lines. `#` starts a comment.
    """
    cases: list[PerftCase] = []
    for number, raw in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = raw.partition("#")[0].strip().partition(" ")
        if word == "id":
            cases.append(PerftCase(rest, Rules(0, 0, 0, ""), {}, BLACK, []))
        elif word == "ruleset":
            cases[-1] = cases[-1]._replace(rules=Rules.parse(rest))
        elif word in (BLACK, WHITE):
            cases[-1].stones.update({point_of(name): word for name in rest.split()})
        elif word == "to_move":
            cases[-1] = cases[-1]._replace(to_move=rest)
        elif word == "perft":
            depth, nodes, wins, *only = rest.split()
            cases[-1].counts.append(PerftCount(int(depth), int(nodes), int(wins), only[0] if only else None))
        elif word:
            raise ValueError(f"line {number} of {path.name}: {raw!r}")
    return cases


def perft_cases() -> list[PerftCase]:
    """Return every case of every suite."""
    return [case for path in sorted(DATA.glob("*.perft")) for case in read_perft_suite(path)]


class RenjuCase(NamedTuple):
    """A renju position with the complete set of black's forbidden points; every other empty point is legal."""

    id: str
    rules: Rules
    stones: Stones
    forbidden: dict[Point, str]
    looks_forbidden: list[Point]
    """Legal points that a checker with too little recursion would forbid."""


_DRAWN_ROW = re.compile(r" ?\d+  ([.XO!? ]+)")
_LEGEND = re.compile(r"! (\w+) ([\w-]+): .+|\? (\w+): .+")


def read_drawing(path: Path) -> RenjuCase:
    """Read a drawing with `!` on each forbidden point and `?` on points that only look forbidden.

    The top row comes first. The legend below the board gives the kind of foul of each `!`.
    """
    rows = [match[1].split() for match in map(_DRAWN_ROW.fullmatch, path.read_text().splitlines()) if match]
    marks = {(x, len(rows) - 1 - from_top): mark for from_top, row in enumerate(rows) for x, mark in enumerate(row)}
    stones = {point: BLACK if mark == "X" else WHITE for point, mark in marks.items() if mark in "XO"}
    legend = [match for match in map(_LEGEND.fullmatch, path.read_text().splitlines()) if match]
    forbidden = {point_of(match[1]): match[2] for match in legend if match[1]}
    looks_forbidden = [point_of(match[3]) for match in legend if match[3]]
    drawn = {mark: {point for point in marks if marks[point] == mark} for mark in "!?"}
    if drawn["!"] != set(forbidden) or drawn["?"] != set(looks_forbidden):
        raise ValueError(f"drawing and legend of {path.name} do not agree")
    return RenjuCase(path.stem, Rules(len(rows[0]), len(rows), 5, "renju"), stones, forbidden, looks_forbidden)


def read_renju_cases(path: Path) -> list[RenjuCase]:
    """Read the positions of a file written by `tests.oracle.make_cases`."""
    return [
        RenjuCase(
            case["id"],
            Rules.parse(case["ruleset"]),
            {point_of(name): colour for colour in (BLACK, WHITE) for name in case[colour].split()},
            {point_of(name): kind for name, kind in case["forbidden"].items()},
            [point_of(name) for name in case["looks_forbidden"].split()],
        )
        for case in json.loads(path.read_text())
    ]


def renju_cases() -> list[RenjuCase]:
    """Return every drawing and every stored position."""
    drawings = [read_drawing(path) for path in sorted((DATA / "renju").glob("*.txt"))]
    return drawings + read_renju_cases(DATA / "renju_cases.json")


def read_renju_vectors(path: Path) -> list[RenjuCase]:
    """Read positions in the form published for comparing checkers: one per line, square boards, points by name."""
    cases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        case = json.loads(line)
        stones = {point_of(name): colour for colour in (BLACK, WHITE) for name in case[colour]}
        cases.append(
            RenjuCase(
                f"vector {number}",
                Rules(case["size"], case["size"], 5, "renju"),
                stones,
                {point_of(name): kind for name, kind in case["forbidden"].items()},
                [point_of(name) for name in case["looks_forbidden_but_legal"]],
            )
        )
    return cases
