"""Game records: one module per file format, and common functions for all formats.

`load` and `save` choose the format by the file extension; `iterate` reads large collections game by game; `losses`
counts the content that a format cannot store. The formats are described in their modules and in
docs/reference/formats.md.
"""

from __future__ import annotations

from tengen.records.files import iterate, load, save
from tengen.records.formats import FORMATS, Format, Losses, format_of, losses
from tengen.records.game import GameRecord, Mark, MarkKind, Move, Node, Setup
from tengen.records.position_string import Rows
from tengen.records.report import ReadReport

__all__ = [
    "FORMATS",
    "Format",
    "GameRecord",
    "Losses",
    "Mark",
    "MarkKind",
    "Move",
    "Node",
    "ReadReport",
    "Rows",
    "Setup",
    "format_of",
    "iterate",
    "load",
    "losses",
    "save",
]
