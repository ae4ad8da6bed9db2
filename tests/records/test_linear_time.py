"""Everything that reads text from outside takes linear time, even on input designed to make it slow.

Each test compares the CPU time of this thread at one size and at four times that size. A quadratic reader takes 16
times as long, a cubic one 64 times.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from tengen.agents.registry import parse_agent, with_setting
from tengen.core.contracts import Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.errors import TengenError
from tengen.protocols.pipe import LineSplitter
from tengen.protocols.piskvork.commands import CommandReader
from tengen.protocols.piskvork.notation import parse_about, parse_squares
from tengen.protocols.piskvork.report import InfoParser
from tengen.records.formats import FORMATS, Options
from tengen.records.text import CHUNK
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
    "<database><game id='",
    "BOARD ",
    'name="',
    "naive:level",
)
FILLERS = (" ", "\t ", "(", ".", ". ", ",", " ,", "-", "h", "1", "[", "\\", "CA ", "\n", "/", "\r", "X)", "( ")
LISTS = ("h8 ", "7,8 ", "a=1,", 'a="b"', "<a>", "B[aa]", ";B[aa]", "1,1,1\n", "15:", "{},")
"""Fillers that are parts of valid texts."""
TAILS = ("", "x", "!", "]", ")", "\x00")


def read_all(name: str, text: str) -> object:
    return list(FORMATS[name].read(text.encode(), Options()))


def read_commands(text: str) -> object:
    reader = CommandReader()
    return [reader.feed(line, 0.0) for line in text.splitlines()]


def read_infos(text: str) -> object:
    parser = InfoParser(15, 15)
    return [parser.feed(f"{start} {text}") for start in ("INFO BESTLINE", "INFO EVAL", "INFO PV")]


READERS: dict[str, Callable[[str], object]] = {
    "drawing": Position.parse,
    "ruleset": Ruleset.parse,
    "points": parse_points,
    "agent": parse_agent,
    "changed agent": lambda text: with_setting(text, "seed", "1"),
    "commands of a manager": read_commands,
    "lines of an engine": lambda text: LineSplitter().feed(text.encode()),
    "infos of an engine": read_infos,
    "squares of an engine": parse_squares,
    "name of an engine": parse_about,
    "guess_format": lambda text: guess_format(text.encode()),
    **{name: partial(read_all, name) for name in FORMATS},
}


def cost(read: Callable[[str], object], text: str) -> float:
    gc.disable()  # it would also visit all objects of earlier tests
    try:
        started = time.thread_time()
        with suppress(TengenError):
            read(text)
        return time.thread_time() - started
    finally:
        gc.enable()


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
            for filler in FILLERS + LISTS
            for tail in TAILS
            if is_slow(READERS[name], head, filler, tail, size)
        ]
        assert slow == []


@pytest.mark.parametrize(
    ("name", "head", "filler"),
    [
        ("sgf", "(;GM[4]C[", "\\]"),
        ("sgf", "(;GM[4]", "(;"),
        ("sgf", "(;GM[4]AB", "[aa]"),
        ("sgf", "", "( "),
        ("sgf", "(;GM[4]", "\n"),
        ("sgf", "", "(;GM[4];B[hh])"),
        ("pos", "", "h8\n"),
        ("pos", "h8", " "),
        ("offsets", "", "0,0,"),
        ("json", "[", '{"moves":"h8"},'),
        ("jsonl", "", '{"moves":"h8"}\n'),
        ("jsonl", '{"moves":"', " "),
        ("rif", "<database><game id='", "x"),
        ("rif", "<database>", "<player id='1' name='x'/>"),
        ("rif", "<database>", "<game id='1'><move>h8</move></game>"),
    ],
)
def test_streams_take_linear_time_across_chunks(name: str, head: str, filler: str) -> None:
    """These texts are longer than the chunks in which files are read."""
    assert not is_slow(READERS[name], head, filler, "", 4 * CHUNK)


@pytest.mark.parametrize(
    ("read", "text", "error"),
    [
        (Ruleset.parse, "15x15:5:" + "a" * 1000, "not a ruleset: '15x15:5:a{72}…'"),
        (
            parse_agent,
            "naive:" + "a" * 10_000,
            "an agent specification can have at most 10000 characters, but this one has 10006: 'naive:a",
        ),
        (Position.parse, "." * 70_000, "a drawing can have at most 65536 characters, but this one has 70000"),
    ],
)
def test_texts_that_are_too_long_are_rejected_with_their_start(
    read: Callable[[str], object], text: str, error: str
) -> None:
    with pytest.raises(TengenError, match=error) as caught:
        read(text)
    assert len(str(caught.value)) < 300
