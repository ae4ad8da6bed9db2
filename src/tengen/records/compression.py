"""Transparent reading of gzipped files."""

from __future__ import annotations

import gzip
from typing import BinaryIO, cast

_GZIP_MAGIC = b"\x1f\x8b"


def decompressed(file: BinaryIO) -> BinaryIO:
    """Return a decompressing reader for a gzipped file, otherwise the file itself; the file must be seekable."""
    start = file.tell()
    is_gzipped = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    file.seek(start)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if is_gzipped else file
