"""Commands beyond the published protocol: swap2, and those used by Yixin-Board and web clients."""

from __future__ import annotations

import os
from collections.abc import Callable

from tengen.core.contracts import Agent, ExcludesMoves, HasTable, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Option
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.protocols.piskvork.balance import balance_one, balance_two
from tengen.protocols.piskvork.board import BrainBoard
from tengen.protocols.piskvork.commands import DATABASE_BLOCKS, FILE_COMMANDS, Command
from tengen.protocols.piskvork.fallback import choose_fallback
from tengen.protocols.piskvork.notation import parse_squares, squares_of_points
from tengen.protocols.piskvork.report import value_of_eval
from tengen.protocols.piskvork.session import Session
from tengen.protocols.piskvork.settings import MAX_TABLE_BYTES
from tengen.protocols.piskvork.swap2 import Swap2Answer, choose_side, position_of_opening, propose_opening
from tengen.protocols.piskvork.thinking import Thought

_MAX_LINES = 64

# Commands for hash tables in files and for position databases.
_DECLINED = (
    *FILE_COMMANDS,
    *DATABASE_BLOCKS,
    "YXSAVEDATABASE",
    "YXDBTOTXT",
    "YXDBTOTXTALL",
    "YXTXTTODB",
    "YXDBTOPOS",
    "YXDBCHECK",
    "YXDBFIX",
    "YXDBMERGE",
    "YXDBSPLIT",
    "YXLIBTODB",
    "YXDBTOLIB",
)

Handler = Callable[[Session, Command], None]


def _show_info(session: Session, command: Command) -> None:
    session.send(f"MESSAGE {session.about.name} {session.about.version}")
    # Without this line, Yixin-Board allows only one thread.
    session.send(f"MESSAGE INFO MAX_THREAD_NUM {os.cpu_count() or 1}")
    # The base-2 logarithm of the size in KiB.
    session.send(f"MESSAGE INFO MAX_HASH_SIZE {(MAX_TABLE_BYTES >> 10).bit_length() - 1}")


def _set_board(session: Session, command: Command) -> None:
    board = session.require_board()
    if board is not None:
        session.set_up(board, command.rows)


def _find_best(session: Session, command: Command) -> None:
    count = command.arguments.strip()
    lines = int(count) if count.isdecimal() and len(count) < 9 else 1
    _take_turn(session)
    session.answer_with_move(command, lines=min(max(lines, 1), _MAX_LINES), is_analysis=True)


def _find_defences(session: Session, command: Command) -> None:
    """Analyse every move of the side to move, to see which of them do not lose."""
    _take_turn(session)
    lines = session.board.width * session.board.height if session.board is not None else 1
    session.answer_with_move(command, lines=lines, is_analysis=True, names_defences=True)


def _take_turn(session: Session) -> None:
    """Swap sides if the opponent is to move, because the brain always searches for its own side."""
    if session.board is not None and not session.board.is_own_turn:
        session.board.swap_sides()


def _stop(session: Session, command: Command) -> None:
    """Do nothing: the reader thread has already stopped the search."""


def _show_fouls(session: Session, command: Command) -> None:
    position = _position(session)
    if position is None or session.board is None:
        return
    height = session.board.height
    fouls = "".join(f"{point.x:02d}{height - 1 - point.y:02d}" for point in position.forbidden_points())
    session.send(f"FORBID {fouls}.")


def _position(session: Session) -> Position | None:
    board = session.require_board()
    if board is None:
        return None
    rule = session.require_rule()
    if rule is None:
        return None
    position = board.position(rule)
    if position is None:
        session.send("ERROR invalid position: both sides have five in a row")
    return position


# -- excluded root moves -----------------------------------------------------------------------------------------------


def _exclude(session: Session, command: Command) -> None:
    board = session.require_board()
    if board is not None:
        session.excluded.update(_points(board, command.rows))
        agent = session.thinker.agent
        if agent is not None and not isinstance(agent, ExcludesMoves):
            session.send("MESSAGE this player cannot exclude moves: YXBLOCK has no effect")


def _include(session: Session, command: Command) -> None:
    board = session.require_board()
    if board is not None:
        session.excluded.difference_update(_points(board, command.rows))


def _include_all(session: Session, command: Command) -> None:
    session.excluded.clear()


def _points(board: BrainBoard, rows: tuple[str, ...]) -> list[Point]:
    """Parse rows of the form `X,Y` into points; invalid rows are skipped."""
    points: list[Point] = []
    for row in rows:
        squares = parse_squares(row)
        point = board.point(*squares[0]) if squares else None
        if point is not None:
            points.append(point)
    return points


# -- tables and databases ----------------------------------------------------------------------------------------------


def _clear_table(session: Session, command: Command) -> None:
    session.games += 1  # a new game makes the player clear its table


def _show_table_usage(session: Session, command: Command) -> None:
    agent = session.thinker.agent
    if agent is not None and isinstance(agent, HasTable):
        session.send(f"MESSAGE hash usage {100 * agent.table_usage():.1f} %")
    else:
        session.send("MESSAGE hash usage unknown")


def _decline(session: Session, command: Command) -> None:
    session.send(f"MESSAGE {command.name} is not supported")


# -- balanced moves ----------------------------------------------------------------------------------------------------


BalanceSearch = Callable[[Agent, Position, Limits, float, StopSignal], tuple[Point, ...]]


def _balance(session: Session, command: Command, search: BalanceSearch) -> None:
    position = _position(session)
    if position is None or session.board is None:
        return
    try:
        value = value_of_eval(float(command.arguments or 0))
    except (ValueError, OverflowError):
        session.send(f"ERROR {command.arguments[:40]!r} is not an evaluation: send a number")
        return
    if position.is_over:
        session.send("ERROR the game is over")
        return
    found: list[tuple[Point, ...]] = []

    def work(agent: Agent, thought: Thought) -> None:
        found.append(search(agent, position, thought.order.limits(), value, thought.stop))

    session.think(work, session.order(command, position))
    if found and found[0]:
        session.answer(squares_of_points(found[0], session.board.height), is_on_clock=False)
    else:
        session.send(f"ERROR {command.name} found no balanced move")


def _balance_one(session: Session, command: Command) -> None:
    _balance(session, command, balance_one)


def _balance_two(session: Session, command: Command) -> None:
    _balance(session, command, balance_two)


# -- swap2 -------------------------------------------------------------------------------------------------------------


def answer_swap2_board(session: Session, command: Command) -> None:
    """Handle SWAP2BOARD: propose an opening, or choose a side if the opening is already on the board."""
    board = session.require_board()
    if board is None:
        return
    points = _points(board, command.rows)
    if len(points) != len(command.rows) or len(set(points)) != len(points):
        session.send(f"ERROR SWAP2BOARD has invalid or repeated squares: {' '.join(command.rows)[:80]!r}")
        return
    answer = _choose_swap2(session, command, board, points)
    if answer is not None:
        session.answer(answer.text(board.height))


def _choose_swap2(session: Session, command: Command, board: BrainBoard, points: list[Point]) -> Swap2Answer | None:
    """Return the answer to an opening; on an error, report it to the manager and return None."""
    rule = session.require_rule()
    if rule is None:
        return None
    ruleset = Ruleset(board.width, board.height, 5, rule)
    if not points:
        return propose_opening(ruleset, session.games - 1)
    if len(points) not in (3, 5):
        session.send(f"ERROR a swap2 opening has 0, 3 or 5 stones, not {len(points)}")
        return None
    try:
        position = position_of_opening(ruleset, points)
    except InputError as error:
        session.send(f"ERROR {error}")
        return None
    return _choose_side(session, command, position)


def _choose_side(session: Session, command: Command, position: Position) -> Swap2Answer | None:
    fallback = choose_fallback(position)
    if fallback is None:
        session.send("ERROR there is no legal move")
        return None
    answers: list[Swap2Answer] = []

    def work(agent: Agent, thought: Thought) -> None:
        answers.append(choose_side(agent, position, thought.order.limits(), thought.stop))

    thought = session.think(work, session.order(command, position))
    if not thought.is_supported:
        session.send(f"ERROR this player does not play {position.ruleset}")
        return None
    answer = answers[0] if answers else Swap2Answer(Option.TAKE_WHITE, (fallback,))
    if not all(position.is_legal(point) for point in answer.points):
        session.send(f"DEBUG the player chose {answer.points[0]}, which is not a legal move")
        return Swap2Answer(Option.TAKE_WHITE, (fallback,))
    return answer


def _swap2_propose(session: Session, command: Command) -> None:
    board = session.require_board()
    answer = _choose_swap2(session, command, board, []) if board is not None else None
    if board is not None and answer is not None:
        for number, point in enumerate(answer.points, 1):
            session.send(f"MESSAGE SWAP2 MOVE{number} {point.x} {board.height - 1 - point.y}")


def _swap2_choose_first(session: Session, command: Command) -> None:
    _swap2_choose(session, command, "SWAP1")


def _swap2_choose_second(session: Session, command: Command) -> None:
    _swap2_choose(session, command, "SWAP2")


def _swap2_choose(session: Session, command: Command, question: str) -> None:
    """Answer whether to swap. Yixin-Board has already sent the stones with YXBOARD, and requests a move after NO."""
    position = _position(session)
    if position is None:
        return
    if position.is_over:
        session.send("ERROR the game is over")
        return
    answer = _choose_side(session, command, position)
    if answer is not None:
        session.answer(f"MESSAGE SWAP2 {question} {'YES' if answer.option is Option.TAKE_BLACK else 'NO'}")


COMMANDS: dict[str, Handler] = {
    "YXSHOWINFO": _show_info,
    "YXBOARD": _set_board,
    "YXNBEST": _find_best,
    "YXSEARCHDEFEND": _find_defences,
    "STOP": _stop,
    "YXSTOP": _stop,
    "YXSHOWFORBID": _show_fouls,
    "YXBLOCK": _exclude,
    "YXBLOCKUNDO": _include,
    "YXBLOCKRESET": _include_all,
    "YXBALANCEONE": _balance_one,
    "YXBALANCETWO": _balance_two,
    "YXHASHCLEAR": _clear_table,
    "YXSHOWHASHUSAGE": _show_table_usage,
    **dict.fromkeys(_DECLINED, _decline),
    "YXSWAP2STEP1": _swap2_propose,
    "YXSWAP2STEP2": _swap2_choose_first,
    "YXSWAP2STEP3": _swap2_choose_second,
}
"""Handlers by command name."""
