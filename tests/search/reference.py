"""A slow, obvious PUCT after the papers, with which the native tree is compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from tengen.core.contracts import Evaluator
from tengen.core.geometry import Point
from tengen.core.planes import encode
from tengen.core.position import Position

Move = int
"""The index of a point."""


@dataclass
class Node:
    """A node of the tree. Moves are in the order of their first visit."""

    position: Position
    value_to_move: float
    """Value from the network, or the result of a finished game."""
    priors: dict[Move, float]
    children: dict[Move, Node] = field(default_factory=dict)
    visits: dict[Move, int] = field(default_factory=dict)
    sums: dict[Move, float] = field(default_factory=dict)
    """Sum of the values of each move's simulations, for the side to move."""

    @property
    def total(self) -> int:
        return sum(self.visits.values())

    def mean(self, move: Move) -> float:
        return self.sums[move] / self.visits[move] if move in self.visits else 0.0


@dataclass(frozen=True)
class Reference:
    """A search with a network. `forced` is the factor k of forced playouts at the root (Wu 2019); 0 turns them off."""

    network: Evaluator
    c: float
    forced: float = 0.0

    def search(self, position: Position, simulations: int) -> Node:
        """Return the root after `simulations` simulations."""
        root = self._make(position)
        for _ in range(simulations):
            self._simulate(root, is_root=True)
        return root

    def score(self, node: Node, move: Move, visits: int) -> float:
        """Q + c · P · √ΣN / (1 + N)"""
        return node.mean(move) + self.c * node.priors[move] * math.sqrt(node.total) / (1 + visits)

    def owed(self, node: Node, move: Move) -> float:
        """Minimum number of visits of a visited root move: √(k · P · ΣN)."""
        return math.sqrt(self.forced * node.priors[move] * node.total)

    def target(self, root: Node) -> dict[Move, float]:
        """Return the policy target: each move's share of the visits, after pruning forced playouts.

        Forced visits are removed one by one, as long as the move's score stays below that of the most visited move. A
        move that is left with a single visit loses it as well (Wu 2019, section 3.2).
        """
        best = max(root.visits, key=lambda move: root.visits[move])
        least = self.score(root, best, root.visits[best])
        kept = dict(root.visits)
        for move in kept if self.forced else ():
            if move == best or root.mean(move) >= least:
                continue
            for _ in range(math.floor(self.owed(root, move))):
                if kept[move] == 0 or self.score(root, move, kept[move] - 1) > least:
                    break
                kept[move] -= 1
            if kept[move] <= 1:
                kept[move] = 0
        return {move: visits / sum(kept.values()) for move, visits in kept.items() if visits}

    def _make(self, position: Position) -> Node:
        if position.is_over:
            return Node(position, -1.0 if position.outcome.winner else 0.0, {})
        log_policy, value = self.network.evaluate(encode(position, self.network.plane_layout)[None])
        moves = [point.index(position.ruleset.width) for point in position.legal_points()]
        weights = np.exp(log_policy[0][moves].astype(np.float64))
        return Node(position, float(value[0]), dict(zip(moves, (weights / weights.sum()).tolist(), strict=True)))

    def _simulate(self, node: Node, *, is_root: bool = False) -> float:
        """Run one simulation and return its value for the side to move."""
        if node.position.is_over:
            return node.value_to_move
        move = self._select(node, is_root)
        if move in node.children:
            value = -self._simulate(node.children[move])
        else:
            node.children[move] = self._make(node.position.play(move))
            value = -node.children[move].value_to_move
        node.visits[move] = node.visits.get(move, 0) + 1
        node.sums[move] = node.sums.get(move, 0.0) + value
        return value

    def _select(self, node: Node, is_root: bool) -> Move:
        for move, visits in node.visits.items() if is_root else ():
            if visits < self.owed(node, move):
                return move
        # Before the first visit all scores are 0, so the prior decides.
        return max(node.priors, key=lambda move: (self.score(node, move, node.visits.get(move, 0)), node.priors[move]))


def is_dead(position: Position) -> bool:
    """Whether every possible winning line has stones of both colours."""
    rules = position.ruleset
    reach = rules.win_length - 1
    for x, y, (dx, dy) in product(range(rules.width), range(rules.height), ((1, 0), (0, 1), (1, 1), (1, -1))):
        if x + dx * reach >= rules.width or not 0 <= y + dy * reach < rules.height:
            continue
        stones = {position.at(Point.at(x + dx * i, y + dy * i)) for i in range(rules.win_length)}
        if len(stones - {None}) < 2:
            return False
    return True
