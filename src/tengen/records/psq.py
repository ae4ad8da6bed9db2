"""PSQ, the game file format used by Piskvork and in all Gomocup archives.

    Piskvorky 20x20, 11:11, 0        board size, levels of the players, which player began (0 or 1)
    10,10,456                        column from the left, row from the top, both from 1; milliseconds
    11,12,4500
    engine-a.zip                     the two players
    engine-b.zip
    -1                               end of the game: 0 normal, 15 time-out, -1 unknown, otherwise an error code
    1,Gomocup 2024                   tournament judge only: 1 or 2 = that player won, 0 = draw; name of the tournament

A file contains one game and does not state the rule. Row 1 of the file is the top row of the board, so the reader flips
the rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tengen.core.contracts import Colour, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError, RulesetError
from tengen.records.features import Feature
from tengen.records.game import GameRecord, Node, main_plies, move_of, ruleset_of
from tengen.records.limits import MAX_TIME_MS
from tengen.records.text import as_text, code_page, encode, shorten, split_lines, tidy_line

if TYPE_CHECKING:
    from collections.abc import Iterable

HOLDS = frozenset({Feature.NAME, Feature.RESULT, Feature.TIME, Feature.EVENT, Feature.EMPTY_NODE})

_HEADER = re.compile(r"\s*Piskvorky\s+(\d{1,4})x(\d{1,4})\s*,\s*(\d{1,4}):(\d{1,4})\s*,\s*([01])", re.I | re.A)
_MOVE = re.compile(r"\s*([+-]?\d{1,9})\s*,\s*([+-]?\d{1,9})\s*(?:,\s*([+-]?\d{1,18})\s*)?", re.ASCII)
_CODE = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_JUDGE = re.compile(r"([012]),(.*)")
_HUMANS = ("homo-1", "homo-2")
"""Names that Piskvork writes for human players; a record leaves their names empty."""
_TIME_OUT = 15
_NO_CODES = (0, -1)
_VERDICTS = {Outcome.DRAW: 0, Outcome.BLACK: 1, Outcome.WHITE: 2}
_LEVELS = "PSQLEVELS"
_ERROR_CODE = "PSQCODE"
_JUDGE_LEVELS = "11:11"
OWN_PROPERTIES = frozenset({_LEVELS, _ERROR_CODE})
"""Record properties that store data specific to PSQ."""


def read(data: bytes | str, *, ruleset: Ruleset | None = None, encoding: str | None = None) -> list[GameRecord]:
    """Read the only game in a PSQ file. Rule, win length and opening come from `ruleset` (default: freestyle).

    The game ends at the first line that is not a move. The file states the result only if the judge wrote it or a
    player ran out of time; `GameRecord.settle` determines other results by replaying the game.
    """
    lines = list(split_lines([as_text(data, code_page(encoding or "utf-8"))]))
    header = _HEADER.match(lines[0])
    if header is None:
        raise RecordError(f"line 1: not a PSQ header ('Piskvorky 15x15, 11:11, 0'): {shorten(lines[0])!r}")
    try:
        rules = ruleset_of(int(header[1]), int(header[2]), ruleset)
    except RulesetError as error:
        raise RecordError(f"line 1: {error}") from None
    record = GameRecord(ruleset=rules)
    end = _read_moves(lines, record)
    _read_tail([tidy_line(line) for line in lines[end:] if line.strip()], int(header[5]), record)
    levels = f"{header[3]}:{header[4]}"
    if levels != _JUDGE_LEVELS:
        record.root.properties = {**record.properties, _LEVELS: (levels,)}
    return [record]


def _read_moves(lines: list[str], record: GameRecord) -> int:
    """Append the moves to the record and return the index of the first line after them."""
    width, height = record.ruleset.width, record.ruleset.height
    node, colour = record.root, Colour.BLACK
    seen: set[Point] = set()
    for index in range(1, len(lines)):
        move = _MOVE.fullmatch(lines[index])
        if move is None:
            return index
        x, y = int(move[1]) - 1, height - int(move[2])
        if not (0 <= x < width and 0 <= y < height):
            raise RecordError(f"line {index + 1}: {move[0].strip()!r} is not on a {width}x{height} board")
        point = Point.at(x, y)
        if point in seen:
            raise RecordError(f"line {index + 1}: {move[0].strip()!r} ({point}) is already occupied")
        seen.add(point)
        node = node.add(Node(moves=(move_of(colour, point),), time_ms=_time(move[3])))
        colour = colour.opponent
    return len(lines)


def _time(text: str | None) -> int | None:
    if text is None or not 0 <= int(text) <= MAX_TIME_MS:
        return None
    return int(text)


def _read_tail(tail: list[str], first: int, record: GameRecord) -> None:
    """Read the names, the error code and the judge's result. `first` is the index of the player who began."""
    if len(tail) >= 3 or (len(tail) == 2 and not _CODE.fullmatch(tail[0])):
        names = ["" if name in _HUMANS else name for name in tail[:2]]
        record.black, record.white = names[first], names[1 - first]
        tail = tail[2:]
    elif len(tail) == 1 and not _CODE.fullmatch(tail[0]):
        record.black = tail.pop()
    if tail and _CODE.fullmatch(tail[0]):
        _apply_code(int(tail.pop(0)), record)
    judged = _JUDGE.fullmatch(tail[0]) if tail else None
    if judged is not None:
        record.event = judged[2].strip()
        by_name = (Outcome.BLACK, Outcome.WHITE)
        record.result = Outcome.DRAW if judged[1] == "0" else by_name[(int(judged[1]) - 1 + first) % 2]


def _apply_code(code: int, record: GameRecord) -> None:
    if code == _TIME_OUT:
        loser = Colour.WHITE if len(record.moves()) % 2 else Colour.BLACK
        record.result, record.result_reason = Outcome.win_for(loser.opponent), "time"
    elif code not in _NO_CODES:
        record.root.properties = {_ERROR_CODE: (str(code),)}


def write(records: Iterable[GameRecord], *, encoding: str | None = None) -> bytes:
    """Write one game in the format of Gomocup's judge, with CRLF line endings."""
    games = list(records)
    if len(games) != 1:
        raise RecordError(f"a PSQ file holds one game, not {len(games)}: write each game to its own file")
    (record,) = games
    width, height = record.ruleset.width, record.ruleset.height
    times = _times(record)
    lines = [f"Piskvorky {width}x{height}, {_levels(record)}, 0"]
    for point in main_plies(record, passes=False):
        assert point is not None
        lines.append(f"{point.x + 1},{height - point.y},{times.get(point, 0)}")
    lines += [name_line(record.black) or _HUMANS[0], name_line(record.white) or _HUMANS[1], _code_line(record)]
    verdict = _VERDICTS.get(record.result or Outcome.ONGOING)
    if verdict is not None:
        lines.append(f"{verdict},{tidy_line(record.event)}")
    return encode("".join(line + "\r\n" for line in lines), code_page(encoding or "utf-8"))


def holds(record: GameRecord) -> frozenset[Feature]:
    """Return the features of this record that a PSQ file can store.

    The tournament is stored only together with a result, and the reason for the result only if it is a time-out.
    """
    is_judged = (record.result or Outcome.ONGOING) in _VERDICTS
    held = HOLDS if is_judged else HOLDS - {Feature.EVENT, Feature.RESULT}
    return held | {Feature.REASON} if _lost_on_time(record) else held


def name_line(name: str) -> str:
    """Return a player's name as written, prefixed with an underscore if it looks like a move or an error code."""
    name = tidy_line(name)
    return f"_{name}" if _MOVE.fullmatch(name) or _CODE.fullmatch(name) else name


def _times(record: GameRecord) -> dict[Point, int]:
    times: dict[Point, int] = {}
    for node in record.main_line():
        if node.time_ms is not None and node.moves and node.moves[-1].point is not None:
            times[node.moves[-1].point] = node.time_ms
    return times


def _levels(record: GameRecord) -> str:
    levels = "".join(record.properties.get(_LEVELS, ()))
    return levels if re.fullmatch(r"\d{1,4}:\d{1,4}", levels, re.ASCII) else _JUDGE_LEVELS


def _code_line(record: GameRecord) -> str:
    if _lost_on_time(record):
        return str(_TIME_OUT)
    code = "".join(record.properties.get(_ERROR_CODE, ()))
    return code if _CODE.fullmatch(code) else "-1"


def _lost_on_time(record: GameRecord) -> bool:
    """Whether the player to move lost on time, which is the only time-out that PSQ can express."""
    if record.result_reason != "time" or record.result is None:
        return False
    return record.result.winner is (Colour.BLACK if len(main_plies(record, passes=True)) % 2 else Colour.WHITE)
