"""The agent `adp`: legal and reproducible moves, and one-move tactics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentError, AgentNameError, GameOverError, InputError
from tengen.learning.algorithms.adp import CriticNet
from tengen.search.critic import Activation, CriticConfig, CriticInput

NINE = Ruleset.parse("9x9:5")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """An untrained critic."""
    config = CriticConfig(input=CriticInput.STONES, hidden=8, activation=Activation.SIGMOID)
    path = tmp_path / "critic.safetensors"
    path.write_bytes(CriticNet(config, 1).critic(NINE).to_bytes())
    return path


def test_a_game_is_legal_and_the_same_every_time(model: Path) -> None:
    games = []
    for seed in (1, 2):
        with make_agent(f'adp:model="{model}"') as agent:
            agent.new_game(NINE, seed)
            position = Position.start(NINE)
            while not position.is_over:
                decision = agent.choose(position, Limits())
                assert decision.value_to_move is not None
                assert -1 <= decision.value_to_move <= 1
                position = position.play(decision.move)
            games.append(position.moves)
            with pytest.raises(GameOverError):
                agent.choose(position, Limits())
    assert games[0] == games[1]
    assert games[0][0] == "e5"


def test_a_refusal_says_what_the_critic_plays(model: Path) -> None:
    with make_agent(f'adp:model="{model}"') as agent:
        agent.check_supports(Ruleset.parse("15x15"))
        with pytest.raises(AgentError, match=r"does not play 9x9:4:freestyle: the critic supports 9x9:5:freestyle"):
            agent.check_supports(Ruleset.parse("9x9:4"))


def test_a_five_is_taken(model: Path) -> None:
    position = Position.from_moves(NINE, "e5a1e6a2e7a3e8b5")
    with make_agent(f'adp:model="{model}"') as agent:
        decision = agent.choose(position, Limits())
        assert decision.move in ("e4", "e9")
        assert decision.value_to_move == 1
        (snapshot,) = agent.analyse(position, Limits(), lines=3)
    assert [line.value_to_move for line in snapshot.lines] == sorted(
        (line.value_to_move for line in snapshot.lines), reverse=True
    )
    assert snapshot.lines[0].move == decision.move
    assert len(snapshot.lines) == 3


@pytest.mark.parametrize(
    ("moves", "answers"),
    [
        ("e5a1e6b1e7a9e8", {"e4", "e9"}),  # a four
        ("e5a1e6b1e7", {"e3", "e4", "e8", "e9"}),  # an open three
        ("c3e5d3e6f3a1g3", {"e3"}),  # a split four
    ],
)
def test_the_shipped_critic_has_learned_to_defend(moves: str, answers: set[str]) -> None:
    with make_agent("adp") as agent:
        assert str(agent.choose(Position.from_moves(NINE, moves), Limits()).move) in answers


def test_the_newest_critic_of_a_run_is_played(model: Path) -> None:
    position = Position.from_moves(NINE, "e5")
    with make_agent(f'adp:run="{model.parent}"') as agent:
        before = agent.choose(position, Limits())
        config = CriticConfig(input=CriticInput.STONES, hidden=16)
        model.write_bytes(CriticNet(config, 2).critic(NINE).to_bytes())
        assert agent.choose(position, Limits()) == before
        agent.new_game(NINE)
        assert agent.choose(position, Limits()).value_to_move != before.value_to_move


def test_missing_critics_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentNameError, match="both select a critic"):
        make_agent("adp:model=adp,run=there")
    with pytest.raises(InputError, match="nor a shipped critic"):
        make_agent("adp:model=nobody")
    with pytest.raises(InputError, match="is missing"):
        make_agent(f'adp:run="{tmp_path}"')
