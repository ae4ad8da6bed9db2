"""The vocabulary of SGF: names of properties, rules and reasons, and the escapes in values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tengen.core.contracts import Colour, Rule
from tengen.records.game import MarkKind

if TYPE_CHECKING:
    from tengen.core.geometry import Point
    from tengen.records.game import Node

NAME = re.compile(r"[A-Za-z0-9]++")
VALUE = re.compile(r"\[([^\]\\]*+(?:\\.[^\]\\]*+)*+)\]", re.DOTALL)
_ESCAPE = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)

MARKS = {
    "TR": MarkKind.TRIANGLE,
    "SQ": MarkKind.SQUARE,
    "CR": MarkKind.CIRCLE,
    "MA": MarkKind.CROSS,
    "SL": MarkKind.SELECTED,
}
COLOURS = {"B": Colour.BLACK, "W": Colour.WHITE}
LETTERS = {Colour.BLACK: "B", Colour.WHITE: "W"}
RULES = {
    "0": Rule.FREESTYLE,
    "1": Rule.STANDARD,
    "2": Rule.RENJU,  # the number that Yixin uses
    "4": Rule.RENJU,
    "8": Rule.CARO,
    "9": Rule.CARO_EXACT,
    "free": Rule.FREESTYLE,
    "free-style": Rule.FREESTYLE,
    "free style": Rule.FREESTYLE,
    **{rule.value: rule for rule in Rule},
}
# Names of renju opening procedures; the name is stored in the RULETEXT property.
RENJU_OPENINGS = ("rif", "sakata", "soosyrv", "soosorv", "tarannikov", "taraguchi", "yamaguchi", "renju")
REASON_LETTERS = {"five": "5", "resignation": "R", "time": "T", "foul": "F", "forfeit": "F"}
REASONS = {
    "5": "five",
    "r": "resignation",
    "resign": "resignation",
    "t": "time",
    "time": "time",
    "f": "foul",
    "forfeit": "forfeit",
}
RULE_TEXT = "RULETEXT"
"""The property that stores a rule name that `Rule` cannot express."""
FILE_PROPERTIES = frozenset({"FF", "GM", "CA", "AP"})
"""Properties that describe the file rather than the game; the writer generates new values."""
NODE_PROPERTIES = frozenset({"B", "W", "AB", "AW", "AE", "C"})
HEADER = {"PB": "black", "PW": "white", "EV": "event", "RO": "round", "DT": "date"}
"""Field of a record for each root property."""
FIELD_PROPERTIES = FILE_PROPERTIES | NODE_PROPERTIES | {*HEADER, "SZ", "RU", "RR", "GC"}
"""Properties that the writer generates from fields, so it ignores stored properties with these names."""


def unescape(raw: str) -> str:
    """Convert a raw value to text: resolve escapes and remove soft line breaks."""
    return _ESCAPE.sub(lambda match: "" if match[1] in ("\n", "\r", "\r\n", "\n\r") else match[1], raw)


def escape(text: str) -> str:
    """Convert text to a raw value. Colons are escaped, too, because the result may be part of a composed value."""
    return text.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")


def labelled_point(node: Node) -> Point | None:
    """Return the point that the node's label belongs to: the last move."""
    return node.moves[-1].point if node.moves else None
