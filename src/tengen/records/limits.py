"""How much a game file may ask of the reader. Whatever goes beyond is a `RecordError`: no hang, no full memory."""

from __future__ import annotations

MAX_FILE_BYTES = 64 * 2**20
"""Bytes of a file after unpacking; RenLib libraries reach tens of megabytes."""
MAX_STREAM_BYTES = 2**30
"""Bytes after unpacking of a file that is read game by game (JSON lines, databases) and never held as a whole."""
MAX_NODES = 4_000_000
"""Nodes held in memory at once (about 250 bytes each): of one tree, or of all games in a list."""
MAX_DEPTH = 20_000
"""Nodes on one branch. A board has at most 484 points, but passes and comments take nodes too."""
MAX_LINE = MAX_FILE_BYTES
"""Characters on one line: a JSON line may hold a whole tree."""
MAX_TEXT = 2**20
"""Bytes of one text in a library, characters of one game in a database."""
MAX_TIME_MS = 10**12
"""Milliseconds of one move or clock (thirty years); larger numbers are damage."""
MAX_NOTES = 20
"""Complaints about skipped games that are kept word for word; the others are only counted."""
