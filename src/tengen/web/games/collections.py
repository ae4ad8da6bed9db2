"""Game files with many games: a file is parsed once, and its games are cached for later requests."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections import OrderedDict
from dataclasses import dataclass, replace

from tengen.errors import RecordError
from tengen.web.games.records import ReadRecord, ReadResult
from tengen.web.messages.records import ImportResult
from tengen.web.workers.scheduler import SearchPool

_MAX_BYTES = 32 << 20


@dataclass(frozen=True)
class _Collection:
    first: ImportResult
    """Result of the first request for the file."""
    games: tuple[bytes, ...]

    @property
    def bytes(self) -> int:
        return sum(map(len, self.games))


class Collections:
    """Cache of the games in recently read files, keyed by file content."""

    def __init__(self, pool: SearchPool, max_bytes: int = _MAX_BYTES) -> None:
        self._pool = pool
        self._max_bytes = max_bytes
        self._found: OrderedDict[ReadRecord, _Collection] = OrderedDict()

    async def read(self, job: ReadRecord, owner: str) -> ImportResult:
        """Return one game from a file. If the file was read before, only that game is parsed."""
        digest = await asyncio.to_thread(lambda: hashlib.sha256(job.data).digest())
        key = replace(job, data=digest, index=0)
        known = self._found.get(key)
        if known is None:
            read: ReadResult = await self._pool.run(job, owner=owner)
            self._keep(key, _Collection(read.result, read.games))
            return read.result
        self._found.move_to_end(key)
        if job.index >= len(known.games):
            raise RecordError(f"there is no game {job.index + 1} (games in the file: {len(known.games)})")
        alone = replace(job, data=zlib.decompress(known.games[job.index]), format="json", filename=None, index=0)
        game: ReadResult = await self._pool.run(alone, owner=owner)
        return known.first.model_copy(update={"index": job.index, "record": game.result.record})

    def _keep(self, key: ReadRecord, collection: _Collection) -> None:
        if not collection.games:
            return
        self._found[key] = collection
        while sum(one.bytes for one in self._found.values()) > self._max_bytes:
            self._found.popitem(last=False)
