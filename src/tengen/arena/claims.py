"""Checks proofs claimed by agents from outside Tengen.

An agent from another package, from a file or from the caller can claim that any result is proved. In a match, the claim
counts only if Tengen's engine proves the same result with a bounded search. External engines never claim a proof: a
forced win that they report is treated as an evaluation (`tengen.protocols.piskvork.report`).
"""

from __future__ import annotations

from tengen.agents.wrappers import LentAgent
from tengen.core.contracts import Agent, Limits, Outcome
from tengen.core.position import Position
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig

CHECK_NODES = 300_000
"""Node limit of the search that checks a claim."""
MAX_UNCONFIRMED = 20
"""Maximum number of claims per game that may fail the check; later claims are ignored."""
_TABLE_MB = 16


def is_own_code(agent: Agent) -> bool:
    """Whether the decisions of this agent are made by Tengen's own code."""
    inner = agent.agent if isinstance(agent, LentAgent) else agent
    return type(inner).__module__.partition(".")[0] == "tengen"


class ClaimCheck:
    """Checks the claims made in one game. The answers are deterministic."""

    def __init__(self) -> None:
        self._engine: AlphaBeta | None = None
        self._unconfirmed = 0

    def confirms(self, claim: Outcome, after: Position) -> bool:
        """Whether Tengen's engine proves the result claimed after the move that led to `after`; never for a draw."""
        if not AlphaBeta.supports(after.ruleset) or self._unconfirmed >= MAX_UNCONFIRMED:
            return False
        is_confirmed = self._prove(claim, after)
        self._unconfirmed += not is_confirmed
        return is_confirmed

    def _prove(self, claim: Outcome, after: Position) -> bool:
        """Search for a win by the claimed winner, from a position in which the winner is to move.

        If the winner has just moved, search the position before the move, with all other moves excluded. Searching for
        a forced win is faster than searching through every defence.
        """
        position, excluded = after, []
        if claim is Outcome.win_for(after.to_move.opponent):
            position = after.undo()
            excluded = [point for point in position.legal_points() if point != after.last_move]
        if self._engine is None:
            self._engine = AlphaBeta(AlphaBetaConfig(table_mb=_TABLE_MB))
        self._engine.new_game(after.ruleset)
        analysis = self._engine.search(position, Limits(nodes=CHECK_NODES), excluded=excluded)
        proof = analysis.lines[0].proof
        return proof is not None and proof.result == "win" and claim is Outcome.win_for(position.to_move)
