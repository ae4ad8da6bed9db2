"""Every reader takes linear time, even on input designed to make it slow.

Each test compares the CPU time of this thread at one size and at four times that size. A quadratic reader takes 16
times as long, a cubic one 64 times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from tengen.core.position import Position
from tengen.errors import TengenError
from tengen.records.formats import FORMATS, Options
from tengen.web.games.records import guess_format

SIZES = (200, 6_000)
"""The small size comes first, because a cubic reader would take hours at the large one."""
GROWTH = 4
SLOWEST = 2.5 * GROWTH
SHORTEST_S = 1e-4
"""Shorter times are too noisy to compare."""

HEADS = (
    "",
    " ",
    ".",
    "15/renju/",
    "h8",
    "(;",
    "(;C[",
    "Piskvorky 15x15, 11:11, 0\n1,1,",
    "1",
    "1,",
    "[",
    '{"moves":"',
    "\n",
)
FILLERS = (" ", "\t ", "(", ".", ". ", ",", " ,", "-", "h", "1", "[", "\\", "CA ", "\n", "/", "\r", "X)", "( ")
TAILS = ("", "x", "!", "]", ")", "\x00")


def read_all(name: str, text: str) -> object:
    return list(FORMATS[name].read(text.encode(), Options()))


READERS: dict[str, Callable[[str], object]] = {
    "drawing": Position.parse,
    "guess_format": lambda text: guess_format(text.encode()),
    **{name: partial(read_all, name) for name in FORMATS},
}


def cost(read: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    with suppress(TengenError):
        read(text)
    return time.thread_time() - started


def scan(text: str) -> int:
    """Look at each character once: a lower bound for the cost of any linear reader."""
    return sum(1 for character in text if character == "x")


def is_slow(read: Callable[[str], object], head: str, filler: str, tail: str, size: int) -> bool:
    small = head + filler * (size // len(filler)) + tail
    large = head + filler * (GROWTH * size // len(filler)) + tail
    # Noise only adds time, so a reader counts as slow only if every measurement is slow.
    return all(cost(read, large) > SLOWEST * max(cost(read, small), cost(scan, small), SHORTEST_S) for _ in range(5))


@pytest.mark.parametrize("name", READERS)
def test_readers_take_linear_time(name: str) -> None:
    for size in SIZES:
        slow = [
            (head, filler, tail)
            for head in HEADS
            for filler in FILLERS
            for tail in TAILS
            if is_slow(READERS[name], head, filler, tail, size)
        ]
        assert slow == []
