"""Counts of what a record contains beyond its moves, used to report what a conversion loses."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from tengen.records.game import GameRecord, MarkKind, Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Feature(Enum):
    """A kind of content. The value holds its singular and plural names, for messages."""

    VARIATION = ("variation", "variations")
    COMMENT = ("comment", "comments")
    GAME_COMMENT = ("comment on the game", "comments on games")
    LABEL = ("board text", "board texts")
    TEXT_MARK = ("label on a point", "labels on points")
    MARK = ("mark", "marks")
    BOOKMARK = ("bookmark", "bookmarks")
    TIME = ("move time", "move times")
    CLOCK = ("clock time", "clock times")
    VALUE = ("evaluation", "evaluations")
    PROPERTY = ("property", "properties")
    NAME = ("player name", "player names")
    RESULT = ("result", "results")
    REASON = ("reason for a result", "reasons for results")
    EVENT = ("event", "events")
    ROUND = ("round", "rounds")
    DATE = ("date", "dates")
    RULE = ("rule", "rules")
    SETUP = ("set-up converted to moves", "set-ups converted to moves")
    EMPTY_NODE = ("node without a move", "nodes without a move")
    GAME = ("game converted to a variation", "games converted to variations")


def count_features(record: GameRecord, stored_properties: frozenset[str] = frozenset()) -> Counter[Feature]:
    """Count each kind of content in the record, except `RULE` and `GAME`, which depend on the target format.

    `stored_properties` are the properties that the target can store; they are not counted.
    """
    found: Counter[Feature] = Counter()
    for node in record.nodes():
        found.update(_features_of(node))
        if node.properties:
            found[Feature.PROPERTY] += sum(name not in stored_properties for name in node.properties)
        if not node.moves and not node.setup and node is not record.root:
            found[Feature.EMPTY_NODE] += 1
    header = {
        Feature.GAME_COMMENT: bool(record.comment),
        Feature.NAME: bool(record.black) + bool(record.white),
        Feature.RESULT: record.result is not None,
        Feature.REASON: bool(record.result_reason),
        Feature.EVENT: bool(record.event),
        Feature.ROUND: bool(record.round),
        Feature.DATE: bool(record.date),
    }
    found.update({feature: int(count) for feature, count in header.items()})
    return +found


def _features_of(node: Node) -> Iterator[Feature]:
    """Yield a feature for each item in the node beyond its moves; most nodes have none."""
    for _ in node.children[1:]:
        yield Feature.VARIATION
    if node.comment:
        yield Feature.COMMENT
    if node.label:
        yield Feature.LABEL
    if node.bookmarked:
        yield Feature.BOOKMARK
    if node.time_ms is not None:
        yield Feature.TIME
    if node.clock_ms is not None:
        yield Feature.CLOCK
    if node.value is not None:
        yield Feature.VALUE
    if node.setup:
        yield Feature.SETUP
    for mark in node.marks:
        yield Feature.TEXT_MARK if mark.kind is MarkKind.LABEL else Feature.MARK


def describe(found: Iterable[tuple[Feature, int]]) -> list[str]:
    """Return the counts in words, such as `["3 comments", "1 variation"]`."""
    return [f"{count} {feature.value[count != 1]}" for feature, count in found if count]
