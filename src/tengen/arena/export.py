"""Export of stored games to game files, with the time and evaluation of each move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tengen import records
from tengen.arena.entrant import Entrant
from tengen.arena.store import GameStore, StoredGame
from tengen.core.contracts import Colour
from tengen.core.files import writing
from tengen.records.game import GameRecord


def game_record(stored: StoredGame, players: Sequence[Entrant], event: str = "") -> GameRecord:
    """Convert a stored game to a record with names, result, and the time and value of each move."""
    game, result = stored.game, stored.result
    seats = [players[game.first].name, players[game.second].name]
    record = GameRecord.from_points(
        game.ruleset,
        result.moves,
        black=seats[result.black_seat],
        white=seats[1 - result.black_seat],
        result=result.outcome,
        result_reason=result.ending.value,
        event=event,
        round=str(game.number + 1),
        date=stored.ended_at[:10],
        comment=result.detail.partition("\n")[0],
    )
    nodes = list(record.main_line())[1:]
    chosen = nodes[len(nodes) - len(result.turns) :]
    for node, turn in zip(chosen, result.turns, strict=True):
        node.time_ms = round(turn.time_ms)
        if turn.value_to_move is not None:
            is_black = node.moves[0].colour is Colour.BLACK
            value = max(-1.0, min(1.0, turn.value_to_move))
            node.value = value if is_black else -value
    return record


def save_games(store: GameStore, folder: Path, event: str = "", formats: Sequence[str] = ("sgf", "psq")) -> int:
    """Write all games to `games.sgf` and each game to its own `NNNN.psq`. Return the number of games."""
    players = store.players()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if "sgf" in formats:
        records.save(folder / "games.sgf", (game_record(stored, players, event) for stored in store.games()))
    if "psq" in formats:
        digits = len(str(len(store)))
        for stored in store.games():
            record = game_record(stored, players, event)
            records.save(folder / f"{stored.game.number + 1:0{digits}}.psq", [record])
    return len(store)
