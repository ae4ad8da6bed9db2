"""The native perft counts match the oracle's."""

from __future__ import annotations

import pytest

from tengen.core.perft import perft
from tests.core.bridge import position_of, ruleset_of
from tests.oracle.suites import PerftCase, perft_cases


@pytest.mark.parametrize("case", perft_cases(), ids=lambda case: case.id)
def test_perft(case: PerftCase):
    counts = case.counts_for("native")
    position = position_of(case.rules, case.stones, case.to_move)
    plies = perft(position, max(count.depth for count in counts))
    assert [(count.depth, *plies[count.depth - 1]) for count in counts] == [count[:3] for count in counts]


def test_a_ruleset_starts_on_the_empty_board():
    case = perft_cases()[0]
    assert not case.stones
    assert perft(ruleset_of(case.rules), 6) == perft(position_of(case.rules, {}, "black"), 6)


def test_every_rule_is_counted():
    assert {case.rules.rule for case in perft_cases()} == {"freestyle", "standard", "renju", "caro", "caro-exact"}
