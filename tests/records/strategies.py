"""Random game records for round-trip tests.

Hypothesis draws the seed and the size of each tree, and a plain random generator builds the tree, which is fast. The
texts are drawn by Hypothesis, which is good at finding text that breaks a parser.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from hypothesis import strategies as st

from tengen.core.contracts import Colour, Opening, Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.records.game import Branch, GameRecord, Mark, MarkKind, Move, Node, Setup
from tengen.records.sgf_vocabulary import escape
from tengen.records.text import tidy, tidy_line

SAMPLE_LETTERS = st.characters(exclude_categories=[]) | st.sampled_from("[]\\():;,#-–\n\r\t \0\x08\x1b\x85\udcffäö連1a")
texts = st.text(SAMPLE_LETTERS, max_size=20).map(tidy)
lines = st.text(SAMPLE_LETTERS, max_size=20).map(tidy_line)


@dataclass(frozen=True)
class Contents:
    """What the nodes of a record may contain."""

    variations: bool = True
    setups: bool = True
    passes: bool = True
    free_colours: bool = True
    """Whether colours may repeat, and nodes may have several moves or none."""
    comments: bool = True
    labels: bool = True
    marks: tuple[MarkKind, ...] = tuple(MarkKind)
    bookmarks: bool = True
    times: bool = True
    values: bool = True
    properties: bool = True


FULL = Contents()
BARE = Contents(
    variations=False,
    setups=False,
    passes=False,
    free_colours=False,
    comments=False,
    labels=False,
    marks=(),
    bookmarks=False,
    times=False,
    values=False,
    properties=False,
)

any_ruleset = st.builds(
    Ruleset,
    st.integers(6, 22),
    st.integers(6, 22),
    st.just(5),
    st.sampled_from(Rule),
    st.sampled_from(Opening),
) | st.builds(Ruleset, st.integers(3, 9), st.integers(3, 9), st.just(3))


def trees(ruleset: Ruleset, contents: Contents) -> st.SearchStrategy[Node]:
    return st.builds(
        grow,
        st.just(ruleset),
        st.just(contents),
        st.integers(0, 2**32),
        st.integers(0, 25),
        st.lists(texts.filter(bool), min_size=1, max_size=4),
        st.lists(lines.filter(bool), min_size=1, max_size=4),
    )


@st.composite
def records(draw: st.DrawFn, rulesets: st.SearchStrategy[Ruleset], contents: Contents = FULL) -> GameRecord:
    ruleset = draw(rulesets)
    return GameRecord(
        ruleset=ruleset,
        black=draw(lines),
        white=draw(lines),
        result=draw(st.none() | st.sampled_from(Outcome)),
        result_reason=draw(st.sampled_from(["", "five", "time", "foul", "resignation", "full board"]) | lines),
        event=draw(lines),
        round=draw(lines),
        date=draw(lines),
        comment=draw(texts),
        root=draw(trees(ruleset, contents)),
    )


def bare_records(rulesets: st.SearchStrategy[Ruleset], contents: Contents) -> st.SearchStrategy[GameRecord]:
    """Records without a header."""

    def of(ruleset: Ruleset) -> st.SearchStrategy[GameRecord]:
        return st.builds(GameRecord, ruleset=st.just(ruleset), root=trees(ruleset, contents))

    return rulesets.flatmap(of)


def grow(ruleset: Ruleset, contents: Contents, seed: int, size: int, texts: list[str], lines: list[str]) -> Node:
    """Return a tree with `size` nodes below the root; every stone is on an empty point."""
    rng = random.Random(seed)
    writer = _Writer(ruleset, contents, rng, texts, lines)
    root = Node()
    writer.describe(root)
    if contents.setups and rng.random() < 0.3:
        root.setup = writer.setup({})
    leaves = [root]
    for _ in range(size):
        parent = rng.choice(leaves[-6:]) if contents.variations else leaves[-1]
        node = writer.node(parent)
        if node.moves or contents.free_colours:  # a full board ends a plain game
            leaves.append(parent.add(node))
    return root


class _Writer:
    def __init__(
        self, ruleset: Ruleset, contents: Contents, rng: random.Random, texts: list[str], lines: list[str]
    ) -> None:
        self.ruleset = ruleset
        self.contents = contents
        self.rng = rng
        self.texts = texts
        self.lines = lines
        self.points = [Point.from_index(index, ruleset.width) for index in range(ruleset.area)]

    def node(self, parent: Node) -> Node:
        stones = stones_at(parent, self.ruleset)
        node = Node()
        if self.contents.setups and self.rng.random() < 0.05:
            node.setup = self.setup(stones)
        elif not (self.contents.free_colours and self.rng.random() < 0.1):
            count = 2 if self.contents.free_colours and self.rng.random() < 0.05 else 1
            node.moves = self.moves(parent, stones, count)
        self.describe(node)
        return node

    def moves(self, parent: Node, stones: dict[Point, Colour], count: int) -> tuple[Move, ...]:
        free = [point for point in self.points if point not in stones]
        colour = parent.to_move
        moves: list[Move] = []
        for _ in range(count):
            if self.contents.free_colours and self.rng.random() < 0.1:
                colour = colour.opponent
            passes = self.contents.passes and (not free or self.rng.random() < 0.1)
            if not free and not passes:
                break
            point = None if passes else free.pop(self.rng.randrange(len(free)))
            moves.append(Move(colour, point))
            colour = colour.opponent
        return tuple(moves)

    def setup(self, stones: dict[Point, Colour]) -> Setup:
        chosen = self.rng.sample(self.points, self.rng.randrange(6))
        empty = tuple(point for point in chosen if point in stones)
        rest = [point for point in chosen if point not in stones]
        cut = self.rng.randrange(len(rest) + 1)
        return Setup(tuple(rest[:cut]), tuple(rest[cut:]), empty, self.rng.choice([None, *Colour]))

    def describe(self, node: Node) -> None:
        rng, contents = self.rng, self.contents
        if contents.comments and rng.random() < 0.3:
            node.comment = rng.choice(self.texts)
        if contents.labels and rng.random() < 0.2:
            node.label = rng.choice(self.lines)
        if contents.marks and rng.random() < 0.2:
            node.marks = self.marks(node)
        if contents.bookmarks and rng.random() < 0.1:
            node.bookmarked = True
        if contents.times and node.moves and rng.random() < 0.3:
            node.time_ms, node.clock_ms = rng.randrange(10**7), rng.choice([None, rng.randrange(10**9)])
        if contents.values and rng.random() < 0.2:
            node.value = rng.randrange(-(10**4), 10**4 + 1) / 10**4
        if contents.properties and rng.random() < 0.1:
            names = rng.sample(["KM", "5A", "XYZ", "lower", "GB"], 2)
            node.properties = {name: tuple(escape(line) for line in self.lines[:2]) for name in names}

    def marks(self, node: Node) -> tuple[Mark, ...]:
        own = [move.point for move in node.moves]
        others = [point for point in self.points if point not in own]
        marks: list[Mark] = []
        for point in self.rng.sample(others, min(3, len(others))):
            kind = self.rng.choice(self.contents.marks)
            marks.append(Mark(kind, point, self.rng.choice(self.lines) if kind is MarkKind.LABEL else ""))
        return tuple(marks)


def stones_at(node: Node, ruleset: Ruleset) -> dict[Point, Colour]:
    path: list[Node] = []
    above: Node | None = node
    while above is not None:
        path.append(above)
        above = above.parent
    branch = Branch(ruleset)
    for step in reversed(path):
        branch.enter(step)
    return branch.stones
