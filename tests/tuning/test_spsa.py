"""Tuning the numbers of the search by games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen import _native
from tengen.core.contracts import Ruleset
from tengen.errors import InputError
from tengen.tuning.spsa import Parameter, Spsa, SpsaConfig, search_parameters, tune_search

SMALL = Ruleset.parse("7x7:4:freestyle")


def test_every_parameter_has_its_default_inside_its_range() -> None:
    parameters = search_parameters()
    assert len({parameter.name for parameter in parameters}) == len(parameters) > 30
    for parameter in parameters:
        assert parameter.low <= parameter.default <= parameter.high, parameter


def test_a_parameter_changes_the_search() -> None:
    board = _native.Board(15, 15, 5, _native.Rule.FREESTYLE)
    for point in (112, 96, 140, 110):
        board.make(point)
    limits = _native.SearchLimits()
    limits.depth = 9

    def nodes(**parameters: int) -> int:
        engine = _native.Engine(1 << 20)
        engine.set_options(_native.ALL_INGREDIENTS, 0, parameters)
        return engine.search(board, limits).nodes

    default = next(parameter.default for parameter in search_parameters() if parameter.name == "reduction_scale")
    assert nodes() == nodes(reduction_scale=default) != nodes(reduction_scale=default + 50)
    with pytest.raises(ValueError, match="unknown search parameter 'reduction_scales'"):
        nodes(reduction_scales=60)


def test_parameters_walk_to_where_games_are_won() -> None:
    parameters = (Parameter("a", 20, 0, 100), Parameter("b", 80, 0, 100))
    state = Spsa(SpsaConfig(ruleset=SMALL, pairs=600, gain=0.05), parameters)
    best = {"a": 70, "b": 40}

    def distance(values: dict[str, int]) -> int:
        return sum((values[name] - best[name]) ** 2 for name in best)

    for pair in range(600):
        proposal = state.propose(pair)
        state.learn(proposal, 1 if distance(proposal.up) < distance(proposal.down) else -1)
    assert abs(state.values["a"] - 70) < 6
    assert abs(state.values["b"] - 40) < 6


def test_proposals_stay_in_the_range_and_are_opposite() -> None:
    state = Spsa(SpsaConfig(ruleset=SMALL, pairs=100, step=0.4), search_parameters())
    for pair in range(20):
        _, up, down, directions = state.propose(pair)
        for parameter in state.parameters:
            name = parameter.name
            assert parameter.low <= min(up[name], down[name]) <= max(up[name], down[name]) <= parameter.high
            assert (up[name] - down[name]) * directions[name] > 0


def test_a_run_that_was_cut_short_goes_on_the_same_way(tmp_path: Path) -> None:
    config = SpsaConfig(ruleset=SMALL, pairs=4, nodes=150, seed=5)
    whole = tune_search(tmp_path / "whole.json", config)

    class CutError(Exception):
        pass

    def cut(state: Spsa) -> None:
        if state.pairs_done == 2:
            raise CutError

    with pytest.raises(CutError):
        tune_search(tmp_path / "cut.json", config, on_round=cut)
    assert json.loads((tmp_path / "cut.json").read_text())["pairs"] == 2
    assert tune_search(tmp_path / "cut.json", config).values == whole.values


def test_the_state_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    Spsa(SpsaConfig(ruleset=SMALL, pairs=4), search_parameters()).save(path)
    with pytest.raises(InputError, match="different settings"):
        tune_search(path, SpsaConfig(ruleset=SMALL, pairs=5))
    state = json.loads(path.read_text())
    state["conditions"]["weights"] = "of another engine"
    path.write_text(json.dumps(state))
    with pytest.raises(InputError, match="of another engine"):
        tune_search(path, SpsaConfig(ruleset=SMALL, pairs=4))
    values = dict.fromkeys(state["values"], 0.0)
    for text in (
        "{",
        "[]",
        "[" * 100_000,
        json.dumps({**state, "values": [1]}),
        json.dumps({**state, "values": {**values, next(iter(values)): float("nan")}}),
        json.dumps({**state, "pairs": -1}),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=r"is (not the state of a tuning run|damaged)"):
            tune_search(path, SpsaConfig(ruleset=SMALL, pairs=4))
