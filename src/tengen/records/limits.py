"""Limits on game files. They prevent a file from hanging the reader or exhausting memory; exceeding one is an error."""

from __future__ import annotations

MAX_FILE_BYTES = 64 * 2**20
"""Size of a file that is read whole, in bytes after decompression; RenLib libraries reach tens of megabytes."""
MAX_STREAM_BYTES = 2**30
"""Size of a file that is streamed game by game, in bytes after decompression."""
MAX_NODES = 4_000_000
"""Number of nodes of one game, or of all games in a list; a node takes about 250 bytes."""
MAX_DEPTH = 20_000
"""Number of nodes on one branch. A board has at most 484 points, but passes and comments take nodes, too."""
MAX_LINE = MAX_FILE_BYTES
"""Length of a line in characters; a JSON line may contain a whole tree."""
MAX_TEXT = 2**20
"""Length of a text field of a RenLib library in bytes, or of a game in a RIF database in characters."""
MAX_TIME_MS = 10**12
"""Time of a move or on a clock in milliseconds, about thirty years; a larger number means that the file is damaged."""
MAX_NOTES = 20
"""Number of messages about skipped games to store; further ones are only counted."""
