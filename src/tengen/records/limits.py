"""Limits for reading game files, so that no file can hang the reader or exhaust memory; exceeding one is an error."""

from __future__ import annotations

MAX_FILE_BYTES = 64 * 2**20
"""Bytes, after decompression, in a file that is read whole; RenLib libraries reach tens of megabytes."""
MAX_STREAM_BYTES = 2**30
"""Bytes, after decompression, in a file that is streamed game by game."""
MAX_NODES = 4_000_000
"""Nodes in memory at once, in one game or in a list of games (about 250 bytes each)."""
MAX_DEPTH = 20_000
"""Nodes on one branch. A board has at most 484 points, but passes and comments take nodes too."""
MAX_LINE = MAX_FILE_BYTES
"""Characters on one line; a JSON line may contain a whole tree."""
MAX_TEXT = 2**20
"""Bytes in one text field of a library, or characters in one game in a database."""
MAX_TIME_MS = 10**12
"""Milliseconds for one move or on one clock (thirty years); larger numbers mean that the file is damaged."""
MAX_NOTES = 20
"""Messages about skipped games to store in full; any further ones are only counted."""
