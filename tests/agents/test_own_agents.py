"""Players of other people: classes and functions in files, from packages, and as objects."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tengen.agents.registry import AgentRegistry, agent_kind, agent_names, make_agent
from tengen.core.contracts import Agent, Decision, Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentError, AgentNameError
from tests.conftest import ROOT

MYBOT = ROOT / "examples" / "mybot.py"
START = Position.start(Ruleset(9, 9))
NO_LIMITS = Limits()


class Corner(Agent):
    """Plays the first free point. A second sentence."""

    def __init__(self, skip: int = 0, *, style: str = "calm", scores: dict[str, int] | None = None) -> None:
        if skip < 0:
            raise ValueError(f"cannot skip {skip} points")
        self.skip = skip
        self.is_closed = False

    def choose(self, position: Position, limits: Limits) -> Decision:
        return Decision(move=position.legal_points()[self.skip])

    def close(self) -> None:
        self.is_closed = True


def centre(position: Position) -> str:
    """Play the centre."""
    return position.ruleset.centre


def test_the_example_is_short_and_wins_against_random() -> None:
    lines = [line for line in MYBOT.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) < 20
    me, other = make_agent(f"{MYBOT}:MyBot:seed=3"), make_agent("random")
    assert me.name == f"{MYBOT}:MyBot:seed=3"
    position = START
    while not position.is_over:
        position = position.play((me if position.stones % 2 == 0 else other).choose(position, NO_LIMITS).move)
    assert position.outcome.value == "black"


def test_the_parameters_of_a_class_are_those_of_the_agent() -> None:
    registry, (text,) = AgentRegistry().adding([Corner])
    assert text == "Corner"
    kind = registry.kind("Corner")
    assert kind.summary == "Plays the first free point."
    rows = [(row.key, row.type, row.default) for row in kind.describe_parameters()]
    assert rows == [("skip", "int", "0"), ("style", "str", "calm")]
    agent = registry.make("Corner:skip=2")
    assert agent.choose(START, NO_LIMITS).move == "c1"
    with pytest.raises(AgentNameError, match="agent 'Corner' has no parameter 'depth'"):
        registry.make("Corner:depth=2")
    with pytest.raises(AgentError, match=r"'Corner' cannot be created: line .*: ValueError: cannot skip -1 points"):
        registry.make("Corner:skip=-1")


def test_objects_are_players() -> None:
    assert make_agent(Corner).choose(START, NO_LIMITS).move == "a1"
    assert make_agent(centre).choose(START, NO_LIMITS).move == "e5"
    assert make_agent(lambda position: 3).choose(START, NO_LIMITS).move == "d1"
    assert make_agent("random").name == "random"


def test_an_agent_stays_open_for_its_owner() -> None:
    mine = Corner(skip=4)
    with make_agent(mine) as lent:
        assert lent.choose(START, NO_LIMITS).move == "e1"
        assert lent.start(START, NO_LIMITS).result().move == "e1"
    assert not mine.is_closed


def test_two_objects_with_one_name_are_two_players() -> None:
    def centre(position: Position) -> int:
        return 0

    registry, texts = AgentRegistry().adding([globals()["centre"], centre, "random"])
    assert texts == ["centre", "centre-2", "random"]
    assert [registry.make(text).choose(START, NO_LIMITS).move for text in texts[:2]] == ["e5", "a1"]


def test_an_object_does_not_replace_a_built_in_agent() -> None:
    def random(position: Position) -> int:
        return 0

    registry, (text,) = AgentRegistry().adding([random])
    assert text == "random-2"
    assert registry.kind("random").name == "random"


def test_a_registry_with_classes_can_be_sent_to_a_worker_process() -> None:
    registry, (text,) = AgentRegistry().adding([Corner])
    assert pickle.loads(pickle.dumps(registry)).make(text).choose(START, NO_LIMITS).move == "a1"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("class Bot: pass", ":Bot", r"Bot is not a subclass of tengen.Agent with `choose` or `start`, or a function"),
        ("import tengen\nclass Bot(tengen.Agent): pass", ":Bot", r"is not a subclass of tengen.Agent with `choose`"),
        ("import tengen", "", "must define exactly one agent"),
        ("import tengen\nclass Bot(tengen.Agent):\n def __init__(self, board: list): 0\n def choose(self, p, l): 0", "",
         "requires board, whose type cannot be written"),
        ("bot = 3", ":bot", "it is of type int"),
    ],
)  # fmt: skip
def test_files_without_a_player_are_refused(tmp_path: Path, content: str, name: str, message: str) -> None:
    path = tmp_path / "bots.py"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(AgentNameError, match=message):
        make_agent(f"{path}{name}")


def test_a_function_with_settings_is_a_player(tmp_path: Path) -> None:
    path = tmp_path / "bots.py"
    path.write_text("def nth(position, n: int = 0):\n    return position.legal_points()[n]\n", encoding="utf-8")
    assert make_agent(f"{path}:nth:n=5").choose(START, NO_LIMITS).move == "f1"
    assert agent_kind(f"{path}:nth").describe_parameters()[0].key == "n"


def test_an_installed_package_defines_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nice_bots.py").write_text(MYBOT.read_text(encoding="utf-8"), encoding="utf-8")
    metadata = tmp_path / "nice_bots-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: nice-bots\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[tengen.agents]\nnice = nice_bots:MyBot\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert agent_names()[-1] == "nice"
    assert make_agent("nice:seed=1").choose(START, NO_LIMITS).move == "e5"


def test_built_in_names_import_no_other_kinds() -> None:
    code = """
import sys
import tengen
tengen.make_agent("naive")
print([name for name in sys.modules if name.startswith("tengen.agents.") or name == "importlib.metadata"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "tengen.agents.alphabeta" not in done.stdout
