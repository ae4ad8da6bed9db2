"""Agent specifications: which are accepted, and which are refused with a list of what is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import pytest

from tengen.agents.registry import AgentKind, AgentRegistry, agent_kind, agent_names, make_agent, parameter, parse_agent
from tengen.agents.simple import NaiveParameters, SimpleAgent
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentNameError


class Style(StrEnum):
    CALM = "calm"
    WILD = "wild"


@dataclass(frozen=True)
class EverythingParameters:
    model: str = parameter(help="Must be given.")
    style: Style = parameter(Style.CALM, help="Of a listed kind.")
    planes: Literal[1, 4] = parameter(4, help="Of listed numbers.")
    noise: bool = parameter(False, help="Yes or no.")
    max_nodes: int | None = parameter(None, help="May be absent.")
    temperature: float = parameter(0.1, help="A number.")


def make_everything(chosen: EverythingParameters) -> Agent:
    if chosen.model == "missing":
        raise AgentNameError("there is no model 'missing'")
    return make_agent("random")


EVERYTHING = AgentKind("everything", "For tests.", EverythingParameters, make_everything)
AGENTS, _ = AgentRegistry().adding([EVERYTHING])


def test_every_name_can_be_made_and_describes_itself() -> None:
    for name in agent_names():
        kind = agent_kind(name)
        assert kind.name == name
        assert kind.summary
        assert "\n" not in kind.summary
        for described in kind.describe_parameters():
            assert described.help, (name, described)


def test_parameters_and_defaults() -> None:
    assert parse_agent("naive")[1] == NaiveParameters(level=3, seed=0)
    assert parse_agent(" naive : level = 0 , seed = -7 ")[1] == NaiveParameters(level=0, seed=-7)
    assert isinstance(make_agent("chains"), SimpleAgent)
    assert make_agent(" naive:level=1 ").name == "naive:level=1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nave:level=1", r"unknown agent 'nave' \(known: .*random, naive, chains, rule-based.*mean 'naive'\?\)"),
        ("", r"unknown agent '' \(known: "),
        (
            "naive:levl=1",
            r"no parameter 'levl' \(known: level, choice, seed; did you mean 'level'\?\) in 'naive:levl=1'",
        ),
        ("chains:level=1", r"'chains' has no parameter 'level' \(known: seed\)"),
        ("naive:level=5", r"unknown naive level 5 \(known: 0, 1, 2, 3, 4\) in 'naive:level=5'"),
        ("naive:level=high", r"level='high' is not of type int in 'naive:level=high'"),
        ("naive:level=", r"level='' is not of type int"),
        ("naive:level", r"'level' in 'naive:level' does not have the form key=value"),
        ("naive:level,seed=3", r"'level' in 'naive:level,seed=3' does not have the form key=value"),
        ("naive:=3", r"'' in 'naive:=3' does not have the form key=value"),
        ("naive:level=1,level=2", r"'level' is given twice in 'naive:level=1,level=2'"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(AgentNameError, match=message):
        make_agent(text)


@pytest.mark.parametrize("name", ["uct", "hmcts"])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (f"playouts={'9' * 30}", r"playouts=9{30} is outside the range 1–1000000000 in '"),
        ("playouts=1000000001", "playouts=1000000001 is outside the range 1–1000000000"),
        ("seconds=1e300", r"seconds=1e\+300 is above the maximum of 1000000"),
        ("threads=9999", "threads=9999 is outside the range 0–256"),
    ],
)
def test_numbers_too_large_to_play_with(name: str, settings: str, message: str) -> None:
    with pytest.raises(AgentNameError, match=message):
        make_agent(f"{name}:{settings}")


def test_the_largest_numbers_play() -> None:
    agent = make_agent("uct:playouts=1000000000,seconds=1000000,threads=256")
    decision = agent.choose(Position.start(Ruleset.parse("9x9:5:freestyle")), Limits(time_ms=1))
    assert decision.nodes >= 1


def test_types_of_parameters() -> None:
    text = 'everything:model="a, b=c" ,style=wild,planes=1,noise=yes,max-nodes=9,temperature=1e-3'
    _, chosen = AGENTS.parse(text)
    assert chosen == EverythingParameters("a, b=c", Style.WILD, 1, True, 9, 0.001)
    _, chosen = AGENTS.parse("everything:model=x,max_nodes=none,noise=off")
    assert chosen == EverythingParameters("x")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "does not set model, which agent 'everything' requires"),
        ("model=x,style=mild", "style='mild' is not one of calm, wild"),
        ("model=x,planes=2", "planes='2' is not one of 1, 4"),
        ("model=x,noise=perhaps", "noise='perhaps' is not one of true, false"),
        ("model=x,max-nodes=many", "max-nodes='many' is not of type int"),
        ("model=x,temperature=warm", "temperature='warm' is not of type float"),
        ('model="x', "quoted value of 'model' is unterminated or not followed by a comma"),
        ('model="x"y', "quoted value of 'model' is unterminated or not followed by a comma"),
        ("model=missing", "there is no model 'missing' in 'everything:model=missing'"),
    ],
)
def test_refused_values(settings: str, message: str) -> None:
    with pytest.raises(AgentNameError, match=message):
        AGENTS.make(f"everything:{settings}")


def test_descriptions() -> None:
    rows = [(row.key, row.type, row.default) for row in EVERYTHING.describe_parameters()]
    assert rows == [
        ("model", "str", None),
        ("style", "calm | wild", "calm"),
        ("planes", "1 | 4", "4"),
        ("noise", "true | false", "false"),
        ("max-nodes", "int | none", "none"),
        ("temperature", "float", "0.1"),
    ]
