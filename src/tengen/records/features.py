"""What a record contains beyond its moves, counted, so that a conversion can say what the target cannot hold."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from tengen.records.game import GameRecord, MarkKind, Node

if TYPE_CHECKING:
    from collections.abc import Iterable


class Feature(Enum):
    """A kind of content; its value is the singular and the plural for messages."""

    VARIATION = ("variation", "variations")
    COMMENT = ("comment", "comments")
    GAME_COMMENT = ("comment on the game", "comments on games")
    LABEL = ("board text", "board texts")
    TEXT_MARK = ("label on a point", "labels on points")
    MARK = ("mark", "marks")
    BOOKMARK = ("bookmark", "bookmarks")
    TIME = ("time of a move", "times of moves")
    CLOCK = ("clock time", "clock times")
    VALUE = ("evaluation", "evaluations")
    PROPERTY = ("property", "properties")
    NAME = ("player name", "player names")
    RESULT = ("result", "results")
    REASON = ("reason of a result", "reasons of results")
    EVENT = ("event", "events")
    ROUND = ("round", "rounds")
    DATE = ("date", "dates")
    RULE = ("rule", "rules")
    SETUP = ("set-up that became moves", "set-ups that became moves")
    EMPTY_NODE = ("node without a move", "nodes without a move")
    GAME = ("game that became a variation", "games that became variations")


def count_features(record: GameRecord, held_properties: frozenset[str] = frozenset()) -> Counter[Feature]:
    """How often each kind of content occurs in the record; `RULE` and `GAME` depend on the target and are left out.

    Properties that the target has a place for are not counted.
    """
    found: Counter[Feature] = Counter()
    for node in record.nodes():
        _count_node(node, found)
        found[Feature.PROPERTY] += sum(name not in held_properties for name in node.properties)
        if node is not record.root and not node.moves and not node.setup:
            found[Feature.EMPTY_NODE] += 1
    found[Feature.GAME_COMMENT] = int(bool(record.comment))
    found[Feature.NAME] = bool(record.black) + bool(record.white)
    found[Feature.RESULT] = int(record.result is not None)
    found[Feature.REASON] = int(bool(record.result_reason))
    found[Feature.EVENT] = int(bool(record.event))
    found[Feature.ROUND] = int(bool(record.round))
    found[Feature.DATE] = int(bool(record.date))
    return +found


def _count_node(node: Node, found: Counter[Feature]) -> None:
    found[Feature.VARIATION] += max(0, len(node.children) - 1)
    found[Feature.COMMENT] += bool(node.comment)
    found[Feature.LABEL] += bool(node.label)
    found[Feature.BOOKMARK] += node.bookmarked
    found[Feature.TIME] += node.time_ms is not None
    found[Feature.CLOCK] += node.clock_ms is not None
    found[Feature.VALUE] += node.value is not None
    found[Feature.SETUP] += bool(node.setup)
    for mark in node.marks:
        found[Feature.TEXT_MARK if mark.kind is MarkKind.LABEL else Feature.MARK] += 1


def describe(found: Iterable[tuple[Feature, int]]) -> list[str]:
    """Counts as words: `["3 comments", "1 variation"]`."""
    return [f"{count} {feature.value[count != 1]}" for feature, count in found if count]
