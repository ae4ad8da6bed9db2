"""Your own player. Try it: tengen match ./examples/mybot.py:MyBot naive:level=1."""

import random

from tengen import Agent, Decision, Position


class MyBot(Agent):
    """Makes a five, blocks a five, and otherwise plays next to a stone."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)

    def choose(self, position, limits):
        black, white = position.points_of("black"), position.points_of("white")
        turned = Position.from_stones(position.ruleset, black=black, white=white, to_move=position.to_move.opponent)
        points = position.legal_points()
        fives = [p for p in points if position.is_win(p)] or [p for p in turned.legal_points() if turned.is_win(p)]
        near = [p for p in points if any(max(abs(p.x - s.x), abs(p.y - s.y)) == 1 for s in black + white)]
        return Decision(move=self.random.choice(fives or near or [position.ruleset.centre]))
