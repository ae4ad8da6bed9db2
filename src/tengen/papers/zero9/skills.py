"""Test positions for the skills that section 4 of zero9 describes, from games of simple players.

The paper describes in words which skills model II learns, and after which iteration. Here, each skill is defined in
code: from the threats on the board and from proofs, the definition decides whether a position tests the skill and which
moves are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tengen.agents.registry import make_agent
from tengen.core.contracts import Agent, Colour, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.patterns.explain import Explanation, Kind, explain
from tengen.search.threats import Verdict, solve_threats

_NODES = Limits(nodes=1000)
"""Node limit of each proof; a position with an undecided proof is not used."""
_FOURS = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.FOUR)
_DOUBLE = (Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.DOUBLE_THREE)
_STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
_PLAYERS = ("chains", "rule-based", "naive:level=3", "naive:level=4")
_RANDOM_SHARE = 0.15
_MAX_GAMES = 20_000


@dataclass(frozen=True, slots=True)
class SkillTest:
    """A position that tests a skill."""

    position: Position
    right: frozenset[Point]
    """Moves that show the skill."""
    options: frozenset[Point]
    """Moves that are compared: the player passes the test if the move that it prefers among them is right."""

    @property
    def chance(self) -> float:
        """Share of the compared moves that are right, which is a random player's chance to pass."""
        return len(self.right) / len(self.options)


class _View:
    """A position with its threats; proofs are computed on demand."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.own, self.other = position.to_move, position.to_move.opponent
        self.threats: Explanation = explain(position)
        self.legal = frozenset(position.legal_points())

    def makes(self, colour: Colour, *kinds: Kind) -> frozenset[Point]:
        """Return the points on which a stone of a colour makes one of the shapes."""
        chances = self.threats.chances[colour]
        return frozenset(point for kind in kinds for point in chances.get(kind, ()))

    @cached_property
    def is_quiet(self) -> bool:
        """Whether neither side has a four or an open three."""
        return not self.threats.standing

    @cached_property
    def faces_open_three(self) -> bool:
        """Whether an open three of the opponent is the strongest threat, and neither side can make a five."""
        against = self.threats.against_mover
        fives = self.makes(self.own, Kind.FIVE) or self.makes(self.other, Kind.FIVE)
        return bool(against) and not fives and all(threat.kind is Kind.OPEN_THREE for threat in against)

    def wins(self, kind: str, colour: Colour) -> bool | None:
        """Return whether a colour would win by threats if it were its turn; None if that is undecided."""
        return _wins(self.position, kind, colour)

    def loses_after(self, move: Point, kind: str) -> bool | None:
        """Return whether the opponent wins by threats after a move; None if that is undecided."""
        after = self.position.play(move)
        return False if after.is_over else _wins(after, kind, self.other)

    def wins_after(self, move: Point) -> bool:
        """Return whether the mover wins after a move, by threats against every reply."""
        after = self.position.play(move)
        if after.is_over:
            return bool(after.winning_line)
        replies = after.legal_points()
        # A reply that does not stop a four loses immediately, so try the points that stop it first.
        fives = explain(after).chances[self.own].get(Kind.FIVE, ())
        for reply in [*fives, *replies]:
            then = after.play(reply)
            if then.is_over or not _wins(then, "vct", self.own):
                return False
        return True


def _wins(position: Position, kind: str, colour: Colour) -> bool | None:
    verdict = solve_threats(position, kind, _NODES, for_side=colour).verdict
    return None if verdict is Verdict.UNKNOWN else verdict is Verdict.WIN


Finder = Callable[[_View], tuple[Set[Point], Set[Point]] | None]
"""Returns the right moves and the compared moves if the position tests the skill."""


def _completes_four(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Play a five if there is one."""
    return view.makes(view.own, Kind.FIVE), view.legal


def _blocks_four(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Block the only point on which the opponent makes a five."""
    fives = view.makes(view.other, Kind.FIVE)
    if len(fives) != 1 or view.makes(view.own, Kind.FIVE):
        return None
    return fives, view.legal


def _blocks_three(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Block an open three so that the opponent has no win by fours; the mover cannot make a four of its own."""
    if not view.faces_open_three or view.makes(view.own, *_FOURS):
        return None
    return _holding(view, view.threats.answers), view.legal


def _lengthens(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Lengthen a chain that still has room for five, in a position without threats."""
    if not view.is_quiet or view.makes(view.own, *_FOURS) or len(view.position.points_of(view.own)) < 2:
        return None
    return {point for point in view.legal if _lengthens_chain(view.position, point, view.own)}, view.legal


def _builds(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Build instead of blocking an open three, because fours win first."""
    if not view.faces_open_three or not view.wins("vcf", view.own):
        return None
    building = view.makes(view.own, *_FOURS)
    return {point for point in building if view.wins_after(point)}, building | set(view.threats.answers)


def _blocks_instead(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Block an open three instead of building, because there is no win by fours; a delaying four is wrong."""
    building = view.makes(view.own, *_FOURS, Kind.DOUBLE_THREE, Kind.OPEN_THREE) - set(view.threats.answers)
    if not view.faces_open_three or not building or view.wins("vcf", view.own) is not False:
        return None
    answers = set(view.threats.answers)
    return _holding(view, answers), building | answers


def _extends(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Extend a chain of two or three at the end that makes the stronger shape."""
    if view.threats.against_mover or view.makes(view.own, Kind.FIVE):
        return None
    kinds = [*Kind, None]
    shape = {point: kind for kind, points in view.threats.chances[view.own].items() for point in points}
    for ends in _open_chains(view.position, view.own):
        ranks = {end: kinds.index(shape.get(end)) for end in ends}
        if len(set(ranks.values())) == 2:
            return {min(ranks, key=ranks.__getitem__)}, ranks.keys()
    return None


def _blocks_side(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Block an open three on the side that leaves the opponent no win by threats, where another side would lose."""
    if not view.faces_open_three or view.makes(view.own, *_FOURS):
        return None
    return _holding(view, view.threats.answers, "vct"), set(view.threats.answers)


def _does_not_push(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Defend against future threats, where making a four or an open three of one's own would lose."""
    pushes = view.makes(view.own, *_FOURS, Kind.DOUBLE_THREE, Kind.OPEN_THREE)
    if not view.is_quiet or not pushes or not view.wins("vct", view.other) or view.wins("vct", view.own) is not False:
        return None
    losing = {push for push in pushes if _push_loses(view, push)}
    if not losing:
        return None
    calm = _holding(view, view.legal - pushes, "vct")
    return calm, calm | losing


def _push_loses(view: _View, push: Point) -> bool:
    """Whether the opponent wins after a four or an open three, regardless of the mover's next move."""
    after = view.position.play(push)
    forced = explain(after).chances[view.own].get(Kind.FIVE, ())
    if not forced:
        return bool(_wins(after, "vct", view.other))
    if len(forced) > 1:
        return False
    answered = after.play(forced[0])
    return not answered.is_over and all(
        not (then := answered.play(move)).is_over and _wins(then, "vct", view.other) for move in answered.legal_points()
    )


def _makes_double(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Make a double threat that wins."""
    strong = view.makes(view.own, *_DOUBLE)
    if not strong or view.threats.standing or not view.wins("vct", view.own):
        return None
    return _winning(view), view.legal


def _prepares_double(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Win by threats that lead to a double threat, which no single move makes yet."""
    if view.threats.standing or view.makes(view.own, Kind.OPEN_FOUR, *_DOUBLE) or not view.wins("vct", view.own):
        return None
    return _winning(view), view.legal


def _stops_double(view: _View) -> tuple[Set[Point], Set[Point]] | None:
    """Stop a win by threats that the opponent would have if it were its turn; threats that only delay do not count."""
    delays = view.makes(view.own, *_FOURS, Kind.DOUBLE_THREE, Kind.OPEN_THREE)
    if not view.is_quiet or view.makes(view.own, *_FOURS) or not view.makes(view.other, *_DOUBLE):
        return None
    if not view.wins("vct", view.other) or view.wins("vct", view.own) is not False:
        return None
    options = view.legal - delays
    return _holding(view, options, "vct"), options


def _holding(view: _View, moves: Set[Point] | tuple[Point, ...], kind: str = "vcf") -> set[Point]:
    """Return the moves after which the opponent has no win by threats; nothing if one of them is undecided."""
    loses = {move: view.loses_after(move, kind) for move in moves}
    return set() if None in loses.values() else {move for move, lost in loses.items() if not lost}


def _winning(view: _View) -> set[Point]:
    """Return the forcing moves that win."""
    forcing = view.makes(view.own, *_FOURS, Kind.DOUBLE_THREE, Kind.OPEN_THREE)
    return {move for move in forcing if view.wins_after(move)}


def _lengthens_chain(position: Position, point: Point, colour: Colour) -> bool:
    """Whether a stone on a point touches another stone of its colour, on a line that has room for five."""
    ruleset = position.ruleset

    def reach(dx: int, dy: int, *, through_empty: bool) -> int:
        steps, x, y = 0, point.x + dx, point.y + dy
        while 0 <= x < ruleset.width and 0 <= y < ruleset.height:
            stone = position.at(Point.at(x, y))
            if stone is not colour and not (through_empty and stone is None):
                break
            steps, x, y = steps + 1, x + dx, y + dy
        return steps

    return any(
        reach(dx, dy, through_empty=False) + reach(-dx, -dy, through_empty=False) > 0
        and 1 + reach(dx, dy, through_empty=True) + reach(-dx, -dy, through_empty=True) >= ruleset.win_length
        for dx, dy in _STEPS
    )


def _open_chains(position: Position, colour: Colour) -> Iterator[tuple[Point, Point]]:
    """Yield the empty ends of unbroken chains of two or three stones."""
    ruleset = position.ruleset
    stones = {(point.x, point.y) for point in position.points_of(colour)}
    for x, y in sorted(stones):
        for dx, dy in _STEPS:
            length = 1
            while (x + length * dx, y + length * dy) in stones:
                length += 1
            ends = ((x - dx, y - dy), (x + length * dx, y + length * dy))
            if length not in (2, 3) or not all(0 <= a < ruleset.width and 0 <= b < ruleset.height for a, b in ends):
                continue
            first, last = (Point.at(*end) for end in ends)
            if position.at(first) is None and position.at(last) is None:
                yield first, last


SKILLS: Mapping[str, tuple[Finder, ...]] = {
    "completes a four": (_completes_four,),
    "lengthens a chain": (_lengthens,),
    "blocks a four": (_blocks_four,),
    "blocks an open three": (_blocks_three,),
    "opens in the centre": (),
    "builds or blocks": (_builds, _blocks_instead),
    "extends on the right side": (_extends,),
    "blocks on the right side": (_blocks_side,),
    "does not push blindly": (_does_not_push,),
    "makes a double threat": (_makes_double,),
    "prepares a double threat": (_prepares_double,),
    "stops a double threat": (_stops_double,),
}
"""Definitions by skill, in the order of the paper. The positions of a skill are split equally among its definitions."""


def find_tests(ruleset: Ruleset, count: int, seed: int) -> dict[str, list[SkillTest]]:
    """Return `count` different positions for each skill, at most one per game and definition."""
    rng = np.random.default_rng(seed)
    tests: dict[str, list[SkillTest]] = {skill: [] for skill in SKILLS}
    tests["opens in the centre"] = _openings(ruleset, count, rng)
    wanted = {
        (skill, finder): count // len(finders) + (number < count % len(finders))
        for skill, finders in SKILLS.items()
        for number, finder in enumerate(finders)
    }
    seen: set[tuple[str, int]] = set()
    players = [make_agent(text) for text in _PLAYERS]
    for _ in range(_MAX_GAMES):
        positions = _play(ruleset, players, rng)
        views = [_View(position) for position in positions]
        for skill, finder in list(wanted):
            for number in rng.permutation(len(views)):
                view = views[number]
                key = (skill, view.position.hash)
                if key in seen or (found := finder(view)) is None:
                    continue
                right, options = frozenset(found[0]), frozenset(found[1])
                if right and right < options:
                    seen.add(key)
                    tests[skill].append(SkillTest(view.position, right, options))
                    wanted[skill, finder] -= 1
                    break
            if not wanted[skill, finder]:
                del wanted[skill, finder]
        if not wanted:
            return tests
    missing = ", ".join(skill for skill, _ in wanted)
    raise AssertionError(f"{_MAX_GAMES} games have too few positions for: {missing}")


def _openings(ruleset: Ruleset, count: int, rng: np.random.Generator) -> list[SkillTest]:
    """Return the empty board and boards with one stone outside the centre; the right move is the centre."""
    start, right = Position.start(ruleset), frozenset({ruleset.centre})
    boards = [start, *(start.play(point) for point in start.legal_points() if point != ruleset.centre)]
    chosen = [0, *(1 + rng.permutation(len(boards) - 1))][:count]
    return [SkillTest(boards[i], right, frozenset(boards[i].legal_points())) for i in chosen]


def _play(ruleset: Ruleset, players: Sequence[Agent], rng: np.random.Generator) -> list[Position]:
    """Return the positions of a game between two of the players, who sometimes move at random."""
    pair = rng.choice(len(players), 2)
    for player in players:
        player.new_game(ruleset, int(rng.integers(1 << 30)))
    position, positions = Position.start(ruleset), []
    while not position.is_over:
        if position.stones > 1:
            positions.append(position)
        if position.stones < 2 or rng.random() < _RANDOM_SHARE:
            move = position.legal_points()[int(rng.integers(len(position.legal_points())))]
        else:
            move = players[int(pair[position.stones % 2])].choose(position, Limits()).move
        position = position.play(move)
    return positions
