"""Export of stored games to game files, with the time and evaluation of each move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tengen import records
from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending, GameResult
from tengen.arena.store import GameStore, StoredGame
from tengen.core.contracts import Colour, Outcome
from tengen.core.files import atomic_write, writing
from tengen.records.game import OPENING_PROPERTY, GameRecord


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
        result_reason=_reason_of(result.ending),
        event=event,
        round=str(game.number + 1),
        date=stored.ended_at[:10],
        comment=_comment_of(result),
    )
    notes: dict[int, list[str]] = {}
    for ply, text in result.messages:
        notes.setdefault(ply, []).append(text)
    nodes = list(record.main_line())[1:]
    chosen = nodes[len(nodes) - len(result.turns) :]
    for ply, node in enumerate(nodes, start=1):
        node.comment = "\n".join(notes.get(ply, ()))
    if game.opening:
        record.root.properties = {OPENING_PROPERTY: (str(len(game.opening)),)}
    for node, turn in zip(chosen, result.turns, strict=True):
        node.time_ms = round(turn.time_ms)
        if turn.value_to_move is not None:
            is_black = node.moves[0].colour is Colour.BLACK
            value = max(-1.0, min(1.0, turn.value_to_move))
            node.value = value if is_black else -value
    return record


def _reason_of(ending: Ending) -> str:
    """Return the reason for a result as written in game files; SGF abbreviates some reasons to a letter."""
    if ending is Ending.TIMEOUT:
        return "time"
    return "forfeit" if ending.is_forfeit and ending is not Ending.FOUL else ending.value


def _comment_of(result: GameResult) -> str:
    """Return the comment on the whole game: the fault that ended it, if any."""
    detail = result.detail.partition("\n")[0]
    if _reason_of(result.ending) != "forfeit":
        return detail
    return f"{result.ending}: {detail}" if detail else result.ending.value


def pgn_lines(stored: StoredGame, players: Sequence[Entrant], event: str = "") -> str:
    """Return a stored game as PGN tags without moves, for programs that compute ratings, such as Ordo and BayesElo.

    The player who moves first (black in Gomoku) becomes White in PGN. The advantage that these programs estimate for
    White is then the first-move advantage.
    """
    game, result = stored.game, stored.result
    names = [players[seat].name for seat in (game.first, game.second)]
    first, second = names[result.black_seat], names[1 - result.black_seat]
    score = {Outcome.BLACK: "1-0", Outcome.WHITE: "0-1"}.get(result.outcome, "1/2-1/2")
    tags = {
        "Event": event or "?",
        "Site": "?",
        "Date": stored.ended_at[:10].replace("-", "."),
        "Round": str(game.round + 1),
        "White": first,
        "Black": second,
        "Result": score,
        "Variant": game.ruleset.name,
        "PlyCount": str(len(result.moves)),
        "Termination": result.ending.value,
    }
    lines = [f'[{name} "{_pgn_text(text)}"]' for name, text in tags.items()]
    return "\n".join((*lines, "", score, "", ""))


def _pgn_text(text: str) -> str:
    """Escape a text for a PGN string: replace unprintable characters by spaces, and escape quotes and backslashes."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def write_pgn(stores: Sequence[GameStore], path: Path) -> int:
    """Write the results of all games as PGN. Return the number of games."""
    count = 0
    with writing(path), atomic_write(path) as file:
        for store in stores:
            players, event = store.players(), str(store.description().get("name", ""))
            for stored in store.games():
                file.write(pgn_lines(stored, players, event).encode())
                count += 1
    return count


def save_games(store: GameStore, folder: Path, event: str = "", formats: Sequence[str] = ("sgf", "psq", "pgn")) -> int:
    """Write all games to `games.sgf`, their results to `games.pgn`, and each game to its own `NNNN.psq`.

    Return the number of games.
    """
    players = store.players()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if "sgf" in formats:
        records.save(folder / "games.sgf", (game_record(stored, players, event) for stored in store.games()))
    if "pgn" in formats:
        write_pgn([store], folder / "games.pgn")
    if "psq" in formats:
        digits = len(str(len(store)))
        for stored in store.games():
            record = game_record(stored, players, event)
            records.save(folder / f"{stored.game.number + 1:0{digits}}.psq", [record])
    return len(store)
