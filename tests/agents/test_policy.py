"""The players `pg`, `ppo`, `dqn` and `evolution`: they play the policy of a shipped network of their own kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import RulesetError
from tengen.nets.architectures import NetConfig, NetKind, build_net
from tengen.nets.export import export_onnx

FIVE = Ruleset.parse("5x5:4")
POSITION = Position.from_moves(FIVE, "c3c4b2")


def write_model(folder: Path, seed: int) -> None:
    net = build_net(NetConfig(kind=NetKind.DENSE, planes="board", channels=16), FIVE, seed=seed)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(export_onnx(net, FIVE))


@pytest.mark.parametrize("kind", ["pg", "ppo", "dqn", "evolution"])
def test_each_finds_the_shipped_network_of_its_own_kind(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("5x5x4", "pg-5x5x4", "ppo-5x5x4", "dqn-5x5x4", "evolution-5x5x4")):
        write_model(tmp_path / name, seed=number)
    monkeypatch.setattr("tengen.nets.models.shipped_folder", lambda _: tmp_path)
    found = make_agent(kind).choose(POSITION, Limits())
    named = make_agent(f"policy:model={kind}-5x5x4").choose(POSITION, Limits())
    assert (found.move, found.policy) == (named.move, named.policy)
    assert found.policy != make_agent("policy").choose(POSITION, Limits()).policy
    with pytest.raises(
        RulesetError, match=rf"no {kind} network is shipped for 7x5:4:freestyle \(shipped: {kind}-5x5x4\)"
    ):
        make_agent(kind).choose(Position.start(Ruleset.parse("7x5:4")), Limits())


def test_a_network_for_boards_of_any_size_is_found_for_the_boards_that_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("cnn-5x5x4", "cnn-9x9x4", "9x9x4", "pg-7x7x4")):
        ruleset = Ruleset.parse(f"{name.removeprefix('cnn-').removeprefix('pg-')[:3]}:4")
        net = build_net(NetConfig(planes="board", channels=4, blocks=1), ruleset, seed=number)
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(export_onnx(net, ruleset))
    monkeypatch.setattr("tengen.nets.models.shipped_folder", lambda _: tmp_path)
    agent = make_agent("cnn")
    for rules, nearest in (("6x6:4", "cnn-5x5x4"), ("8x9:4", "cnn-9x9x4"), ("5x5:4", "cnn-5x5x4")):
        position = Position.from_moves(Ruleset.parse(rules), "c3c4")
        named = make_agent(f"policy:model={nearest}").choose(position, Limits())
        assert agent.choose(position, Limits()).policy == named.policy
    assert not agent.supports(Ruleset.parse("6x6:5"))
    assert not agent.supports(Ruleset.parse("6x6:4:standard"))
    assert not make_agent("mdrnn").supports(Ruleset.parse("6x6:4"))
    assert not make_agent("policy").supports(Ruleset.parse("6x6:5"))


def test_only_legal_moves_are_played_and_temperature_spreads_them(tmp_path: Path) -> None:
    write_model(tmp_path / "model", seed=1)
    agent = make_agent(f"pg:run={tmp_path / 'model'},temperature=2")
    chosen = set()
    for seed in range(40):
        agent.new_game(FIVE, seed)
        chosen.add(agent.choose(POSITION, Limits()).move)
    assert len(chosen) > 5
    assert all(POSITION.is_legal(move) for move in chosen)
