"""Agents kept between games: how many, which one goes first, and what closes them."""

from __future__ import annotations

import psutil
import pytest

from tengen.agents.agent_cache import AgentCache
from tengen.core.contracts import Agent, Decision, Limits
from tengen.core.position import Position


class Recorder(Agent):
    """Writes down when it is closed."""

    def __init__(self, name: str, closed: list[str]) -> None:
        self.name = name
        self._closed = closed

    def choose(self, position: Position, limits: Limits) -> Decision:
        raise AssertionError("the cache asks no agent for a move")

    def close(self) -> None:
        self._closed.append(self.name)
        if self.name == "stubborn":
            raise OSError("its process is gone")


def open_cache(closed: list[str], max_agents: int = 2, max_process_bytes: int | None = None) -> AgentCache[str]:
    return AgentCache(lambda name: Recorder(name, closed), max_agents=max_agents, max_process_bytes=max_process_bytes)


@pytest.fixture
def closed() -> list[str]:
    return []


def test_an_agent_is_made_once(closed: list[str]) -> None:
    with open_cache(closed) as cache:
        assert cache.get("a") is cache.get("a")
        assert closed == []
    assert closed == ["a"]


def test_the_least_recently_used_agent_is_closed_first(closed: list[str]) -> None:
    with open_cache(closed) as cache:
        for name in ("a", "b", "a", "c", "a"):
            cache.get(name)
        assert closed == ["b"]
        assert [name for name, _ in cache.items()] == ["c", "a"]


def test_a_process_that_holds_too_much_keeps_only_the_new_agent(closed: list[str]) -> None:
    held = psutil.Process().memory_info().rss
    with open_cache(closed, max_agents=9, max_process_bytes=held // 2) as cache:
        for name in ("a", "b", "c"):
            cache.get(name)
        assert closed == ["a", "b"]
    with open_cache(closed, max_agents=9, max_process_bytes=held * 100) as cache:
        for name in ("d", "e"):
            cache.get(name)
        assert closed == ["a", "b", "c"]


def test_a_dropped_agent_is_made_again_even_if_closing_fails(closed: list[str]) -> None:
    with open_cache(closed) as cache:
        first = cache.get("stubborn")
        cache.drop("stubborn")
        assert cache.get("stubborn") is not first
