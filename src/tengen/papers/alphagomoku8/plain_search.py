"""The tree search of AlphaGomoku in its simplest form, with or without the sign error in its code.

The code multiplies backed-up values by the colour to move. They are therefore inverted in every position in which the
first player is to move: a five by the second player counts as a loss for it. The native search cannot reproduce this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Colour, Evaluator
from tengen.core.geometry import Point
from tengen.core.planes import encode_batch
from tengen.core.position import Position

Floats = npt.NDArray[np.float64]


@dataclass(slots=True)
class _Node:
    """A position in the tree, with the statistics of its moves from the point of view of the side to move."""

    position: Position
    points: list[Point] = field(default_factory=list)
    priors: Floats = field(default_factory=lambda: np.empty(0))
    visits: Floats = field(default_factory=lambda: np.empty(0))
    sums: Floats = field(default_factory=lambda: np.empty(0))
    children: dict[int, _Node] = field(default_factory=dict)

    def expand(self, log_policy: npt.NDArray[np.float32]) -> None:
        """Add all legal moves with the network's priors."""
        self.points = self.position.legal_points()
        width = self.position.ruleset.width
        logits = log_policy[[point.index(width) for point in self.points]].astype(np.float64)
        weights = np.exp(logits - logits.max())
        self.priors = weights / weights.sum()
        self.visits, self.sums = np.zeros(len(self.points)), np.zeros(len(self.points))

    def select(self, c_puct: float) -> int:
        """Return the index of the move with the highest Q + c·P·√ΣN / (1 + N)."""
        values = self.sums / np.maximum(self.visits, 1)
        scores = values + c_puct * self.priors * np.sqrt(self.visits.sum()) / (1 + self.visits)
        best = scores.max()
        # Before the first visit, all scores are 0; break the tie by the highest prior.
        return int(np.where(scores == best, self.priors, -1).argmax())


def choose_moves(
    positions: Sequence[Position], evaluator: Evaluator, *, simulations: int, c_puct: float, sign_error: bool = False
) -> list[Point]:
    """Search several positions at once, each in its own tree, and return the most visited move for each.

    `sign_error` inverts the values that are backed up to positions in which black is to move.
    """
    found = count_visits(positions, evaluator, simulations=simulations, c_puct=c_puct, sign_error=sign_error)
    return [max(visits, key=lambda point: visits[point]) for visits in found]


def count_visits(
    positions: Sequence[Position], evaluator: Evaluator, *, simulations: int, c_puct: float, sign_error: bool = False
) -> list[dict[Point, int]]:
    """Search like `choose_moves`, but return the visit counts of all legal moves in each position."""
    roots = [_Node(position) for position in positions]
    _evaluate(roots, evaluator)
    for _ in range(simulations):
        paths = [_walk(root, c_puct) for root in roots]
        leaves = [path[-1][0].children[path[-1][1]] for path in paths]
        ongoing = [number for number, leaf in enumerate(leaves) if not leaf.position.is_over]
        values = [_result(leaf.position) for leaf in leaves]
        for number, value in zip(ongoing, _evaluate([leaves[number] for number in ongoing], evaluator), strict=True):
            values[number] = value
        for path, value in zip(paths, values, strict=True):
            _back_up(path, value, sign_error=sign_error)
    return [dict(zip(root.points, root.visits.astype(int).tolist(), strict=True)) for root in roots]


def _evaluate(nodes: Sequence[_Node], evaluator: Evaluator) -> list[float]:
    """Expand nodes; return their values for the side to move."""
    if not nodes:
        return []
    planes = encode_batch([node.position for node in nodes], evaluator.plane_layout)
    log_policy, values = evaluator.evaluate(planes)
    for node, row in zip(nodes, log_policy, strict=True):
        node.expand(row)
    return [float(value) for value in values]


def _walk(root: _Node, c_puct: float) -> list[tuple[_Node, int]]:
    """Walk to a position that is terminal or not yet expanded; return the nodes and the indices of the moves taken."""
    path: list[tuple[_Node, int]] = []
    node = root
    while True:
        move = node.select(c_puct)
        path.append((node, move))
        if move not in node.children:
            node.children[move] = _Node(node.position.play(node.points[move]))
            return path
        node = node.children[move]
        if node.position.is_over:
            return path


def _result(position: Position) -> float:
    """Return the value for the side to move: -1 if the opponent has won, otherwise 0."""
    return -1.0 if position.outcome.winner is not None else 0.0


def _back_up(path: Sequence[tuple[_Node, int]], value_to_move: float, *, sign_error: bool) -> None:
    """Add the value of the last position to all moves on a path."""
    for node, move in reversed(path):
        value_to_move = -value_to_move  # now for the side to move in `node`
        reached_colour = node.position.to_move.opponent
        is_inverted = sign_error and reached_colour is Colour.BLACK
        node.visits[move] += 1
        node.sums[move] += -value_to_move if is_inverted else value_to_move
