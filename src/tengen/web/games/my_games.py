"""Export of the games that a browser has played."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime

from tengen.errors import RecordError
from tengen.records import GameRecord, format_of, losses
from tengen.records.formats import Format, Options
from tengen.web.games.game import Game
from tengen.web.games.live_games import StoredGame
from tengen.web.messages.records import ExportResult


def export_games(stored: Sequence[StoredGame], format: str) -> ExportResult:
    """Write games to one file: a zip archive if the format holds only one game per file."""
    if not stored:
        raise RecordError("there are no games to export")
    games = [_record_of(one) for one in stored]
    return export_records(games, format, "games" if len(games) > 1 else "game")


def export_records(games: Sequence[GameRecord], format: str, name: str) -> ExportResult:
    """Write records as a file called `name` with the file extension of the format."""
    entry = format_of("", format)
    write = entry.writer(format)
    ending = entry.endings[0] if entry.endings else ".txt"
    if len(games) > 1 and not entry.games_appended:
        data, text, ending, media_type = _zipped(games, entry, ending), None, ".zip", "application/zip"
    else:
        data = write(games, Options())
        text, media_type = data.decode("utf-8", "replace"), "text/plain"
    return ExportResult(
        filename=f"{name}{ending}",
        media_type=media_type,
        text=text,
        base64=base64.b64encode(data).decode("ascii"),
        losses=losses(games, entry.name),
    )


def _zipped(games: Sequence[GameRecord], entry: Format, ending: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for number, game in enumerate(games, start=1):
            file.writestr(f"game-{number:04}{ending}", entry.writer(ending)([game], Options()))
    return archive.getvalue()


def _record_of(stored: StoredGame) -> GameRecord:
    game = Game.from_json(stored.id, stored.body).record()
    game.date = datetime.fromtimestamp(stored.created_at, UTC).date().isoformat()
    return game
