"""The hand-written sample files, and the readers by format name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tengen.records import GameRecord, json_record, lib, opening_file, position_string, psq, rif, sgf

SAMPLES = Path(__file__).parent / "samples"

READERS: dict[str, Callable[[bytes], Iterable[GameRecord]]] = {
    "pos": position_string.read,
    "offsets": opening_file.read_offsets,
    "psq": psq.read,
    "sgf": sgf.read,
    "rif": rif.read,
    "lib": lib.read,
    "json": json_record.read,
    "jsonl": json_record.read_lines,
}

SAMPLE_FORMATS = {
    "games.pos": "pos",
    "openings.txt": "offsets",
    "classic.psq": "psq",
    "judge.psq": "psq",
    "timeout.psq": "psq",
    "variations.sgf": "sgf",
    "collection.sgf": "sgf",
    "database.rif": "rif",
    "tiny.lib": "lib",
    "study.lib": "lib",
    "old.lib": "lib",
    "tree.json": "json",
    "games.jsonl": "jsonl",
}


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def points(record: GameRecord) -> str:
    """The main line as one string."""
    return "".join(move.point or "--" for move in record.moves())
