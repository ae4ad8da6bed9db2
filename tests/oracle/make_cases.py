"""Write `tests/data/renju_cases.json`: random positions with the oracle's verdict on every empty point.

`python -m tests.oracle.make_cases` always writes the same file (it takes some minutes). Each group contains positions
with a certain property: fouls, points that only look forbidden, or points that need two levels of recursion.
"""

from __future__ import annotations

import json
from random import Random
from typing import NamedTuple

from tests.oracle.boards import tactical_stones
from tests.oracle.rules import BLACK, WHITE, Point, Rules, Stones, empty_points, foul, fouls, name_of
from tests.oracle.suites import DATA


class Group(NamedTuple):
    """A group: the number and kind of its positions."""

    name: str
    ruleset: str
    wanted: int


GROUPS = (
    Group("fouls", "15x15:5:renju", 20),
    Group("false", "15x15:5:renju", 20),
    Group("nested", "15x15:5:renju", 12),
    Group("false", "9x9:5:renju", 6),
    Group("fouls", "6x6:5:renju", 4),
    Group("fouls", "5x9:5:renju", 3),
    Group("fouls", "22x22:5:renju", 4),
    Group("false", "19x7:5:renju", 3),
)


def verdicts(rules: Rules, stones: Stones) -> dict[str, set[Point]]:
    """Return the points that qualify a position for each kind of group."""
    empties = empty_points(rules, stones)
    suspects = [point for point in empties if foul(rules, stones, point, 0) is not None]
    return {
        "fouls": {point for point in suspects if foul(rules, stones, point) is not None},
        "false": {point for point in suspects if foul(rules, stones, point) is None},
        "nested": {point for point in suspects if foul(rules, stones, point, 1) != foul(rules, stones, point)},
    }


def find_positions(group: Group, rng: Random) -> list[dict[str, object]]:
    """Find random positions that belong to the group."""
    rules = Rules.parse(group.ruleset)
    found: list[dict[str, object]] = []
    while len(found) < group.wanted:
        stones = tactical_stones(rng, rules)
        points = verdicts(rules, stones)
        if points[group.name]:
            found.append(
                {
                    "id": f"{group.name} {group.ruleset.split(':')[0]} {len(found) + 1}",
                    "ruleset": group.ruleset,
                    "black": _names([point for point in stones if stones[point] == BLACK]),
                    "white": _names([point for point in stones if stones[point] == WHITE]),
                    "forbidden": {name_of(point): kind for point, kind in fouls(rules, stones).items()},
                    "looks_forbidden": _names(points["false"]),
                }
            )
    return found


def _names(points: list[Point] | set[Point]) -> str:
    return " ".join(name_of(point) for point in sorted(points))


def main() -> None:
    """Find the positions of all groups and write the file."""
    cases = [case for number, group in enumerate(GROUPS) for case in find_positions(group, Random(number))]
    text = ",\n".join(json.dumps(case) for case in cases)
    (DATA / "renju_cases.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
