"""The native VCF solver finds the same wins as the oracle, and its lines win against every reply."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from tengen.core.contracts import Limits
from tengen.search.threats import Verdict, solve_threats
from tests.core.bridge import position_of
from tests.oracle.boards import tactical_stones
from tests.oracle.rules import BLACK, ONGOING, WHITE, Point, Rules, outcome_without_line
from tests.oracle.vcf import find_refutation, find_vcf, strategy_of_line

MAX_MOVES = 4
"""The oracle's maximum depth in attacking moves; the native solver has no limit."""


KINDS = [f"{rule}:{k}" for rule in ("freestyle", "standard", "caro", "caro-exact") for k in (4, 5)] + ["renju:5"]


@pytest.mark.parametrize("kind", KINDS)
def test_continuous_fours(kind: str):
    rule, win_length = kind.split(":")
    rng = Random(kind)
    verdicts = set()
    for _ in range(60):
        rules = Rules(rng.randint(6, 10), rng.randint(6, 10), int(win_length), rule)
        stones = tactical_stones(rng, rules)
        attacker = rng.choice((BLACK, WHITE))
        if outcome_without_line(rules, stones, attacker) != ONGOING:
            continue
        expected = find_vcf(rules, stones, attacker, MAX_MOVES)
        result = solve_threats(position_of(rules, stones, attacker), "vcf", Limits(nodes=200_000))
        moves = (len(result.line) + 1) // 2
        verdicts.add(result.verdict)
        if result.verdict is Verdict.NO_WIN:
            assert expected is None
        else:
            assert result.verdict is Verdict.WIN
            assert expected is not None or moves > MAX_MOVES

            def search_again(
                now: Mapping[Point, str], rules: Rules = rules, attacker: str = attacker, moves: int = moves
            ) -> Point | None:
                line = find_vcf(rules, now, attacker, moves)
                return line[0] if line else None

            line = [(point.x, point.y) for point in result.line]
            strategy = strategy_of_line(rules, stones, attacker, line, search_again)
            # The line may end with a four that cannot be stopped; one more move completes it.
            assert find_refutation(rules, stones, attacker, strategy, moves + 1) is None
    assert verdicts == {Verdict.WIN, Verdict.NO_WIN}
