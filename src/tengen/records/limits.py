"""Limits on game files. They keep a file from stalling the reader or exhausting memory; exceeding one is an error."""

from __future__ import annotations

MAX_FILE_BYTES = 64 * 2**20
"""Maximum size of a file that is read whole, in bytes after decompression; RenLib libraries take tens of megabytes."""
MAX_STREAM_BYTES = 2**30
"""Maximum size of a file that is streamed game by game, in bytes after decompression."""
MAX_NODES = 4_000_000
"""Maximum number of nodes in one game, or in all games of a list; a node takes about 250 bytes."""
MAX_DEPTH = 20_000
"""Maximum number of nodes on one branch. A board has at most 484 points, but passes and comments take nodes, too."""
MAX_LINE = MAX_FILE_BYTES
"""Maximum length of a line in characters; a JSON line may contain a whole tree."""
MAX_TEXT = 2**20
"""Maximum length of a text field in a RenLib library in bytes, or of a game in a RIF database in characters."""
MAX_TIME_MS = 10**12
"""Maximum move or clock time in milliseconds, about thirty years; a larger number means that the file is damaged."""
MAX_NOTES = 20
"""Maximum number of stored messages about skipped games; further ones are only counted."""
