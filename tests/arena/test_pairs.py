from __future__ import annotations

from functools import partial

import pytest

from tengen.agents.registry import make_agent
from tengen.arena.openings import random_openings
from tengen.arena.pairs import play_pairs, play_pairs_elsewhere
from tengen.core.contracts import Ruleset
from tengen.core.worker_pool import WorkerPool
from tengen.errors import AgentError

RULES = Ruleset.parse("9x9:5:freestyle")


def test_pairs_in_a_pool_have_the_results_of_pairs_in_this_process() -> None:
    players = ("naive:level=3", "rule-based")
    openings = random_openings(RULES, 6, 1)
    with make_agent(players[0]) as own, make_agent(players[1]) as other:
        here = play_pairs(RULES, (own, other), openings, 5)
    elsewhere = play_pairs_elsewhere(RULES, players, openings, 5, partial(WorkerPool, workers=2))
    assert here == elsewhere
    assert sum(wdl.games for wdl in here) == 12


def test_a_player_that_cannot_be_made_is_named() -> None:
    with pytest.raises(AgentError, match="alphazero:run=nowhere cannot be created on "):
        play_pairs_elsewhere(RULES, ("random", "alphazero:run=nowhere"), [()], 1, partial(WorkerPool, workers=1))
