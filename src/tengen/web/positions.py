"""Conversions between messages and the core types: positions, rulesets, threats, search results."""

from __future__ import annotations

import re

from tengen.core.contracts import Analysis, AnalysisLine, Colour, Rule, Ruleset
from tengen.core.contracts import Proof as CoreProof
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.patterns.explain import Explanation
from tengen.web.messages.events import MoveInfo, RootInfo
from tengen.web.messages.positions import FoulPoint, PositionFields, PositionInfo, Proof, RulesFields, Threat, Threats

_RULE_ALONE = re.compile(r"[a-z-]+")


def ruleset_of(fields: RulesFields) -> Ruleset:
    """Return the ruleset in a message. Raises `InputError` if its rules and board size contradict each other."""
    text = fields.rules.strip().lower()
    width, height = fields.board_x_size, fields.board_y_size
    if _RULE_ALONE.fullmatch(text):
        text = f"{width or height or 15}x{height or width or 15}:5:{text}"
    ruleset = Ruleset.parse(text)
    if (width or ruleset.width, height or ruleset.height) != (ruleset.width, ruleset.height):
        raise InputError(f"rules {fields.rules!r} do not match the board size {width}x{height}; specify only one")
    return ruleset


def position_of(fields: PositionFields) -> Position:
    """Return the position in a message. Raises `InputError` if the rules do not allow it."""
    position = start_of(fields)
    for move in fields.moves:
        position = position.play(move)
    return position


def start_of(fields: PositionFields) -> Position:
    """Return the position before the moves in a message."""
    ruleset = ruleset_of(fields)
    if not fields.initial_stones and fields.initial_player is None:
        return Position.start(ruleset)
    black, white = (
        [point for colour, point in fields.initial_stones if colour is wanted]
        for wanted in (Colour.BLACK, Colour.WHITE)
    )
    return Position.from_stones(ruleset, black=black, white=white, to_move=fields.initial_player)


def stones_of(position: Position) -> list[tuple[Colour, str]]:
    """Return the stones of a position in the format of `initialStones`."""
    return [(colour, str(point)) for colour in Colour for point in position.points_of(colour)]


def facts_of(position: Position, threats: Threats | None = None) -> PositionInfo:
    """Return the facts about a position as a message: legal points, fouls, outcome and so on."""
    ruleset = position.ruleset
    return PositionInfo(
        rules=ruleset.name,
        board_x_size=ruleset.width,
        board_y_size=ruleset.height,
        win_length=ruleset.win_length,
        turn_number=len(position.moves),
        current_player=position.to_move,
        outcome=position.outcome,
        winning_line=list(position.winning_line),
        legal=list(position.legal_points()),
        fouls=fouls_of(position),
        threats=threats,
    )


def fouls_of(position: Position) -> list[FoulPoint]:
    """Return the points that are forbidden to the side to move; empty except in renju."""
    if position.ruleset.rule is not Rule.RENJU or position.is_over:
        return []
    return [FoulPoint(point=point, kind=kind) for point, kind in position.forbidden_points().items()]


def threats_of(explanation: Explanation) -> Threats:
    """Convert an explanation to a message."""
    return Threats(
        standing=[
            Threat(
                colour=threat.colour,
                kind=threat.kind,
                stones=list(threat.stones),
                next_points=list(threat.next_points),
                answers=list(threat.answers),
            )
            for threat in explanation.standing
        ],
        chances={
            colour: {kind: list(points) for kind, points in chances.items()}
            for colour, chances in explanation.chances.items()
        },
        sentences=list(explanation.sentences),
    )


# ---- Values ---------------------------------------------------------------------------------------------------------


def winrate_of(value_to_move: float) -> float:
    """Convert a value in [-1, 1] to a winrate in [0, 1]."""
    return min(1.0, max(0.0, (value_to_move + 1) / 2))


def black_winrate_of(value_to_move: float, to_move: Colour) -> float:
    """Convert a value for the side to move to black's winrate."""
    winrate = winrate_of(value_to_move)
    return winrate if to_move is Colour.BLACK else 1 - winrate


def proof_of(proof: CoreProof | None) -> Proof | None:
    """Convert a proof to a message."""
    if proof is None:
        return None
    # `CoreProof` guarantees one of the three words that the message allows.
    return Proof(result=proof.result, plies=proof.plies, text=str(proof))  # type: ignore[arg-type]


def move_info_of(line: AnalysisLine, order: int, to_move: Colour, pv_length: int = 60) -> MoveInfo:
    """Convert a line of an analysis to a candidate move."""
    return MoveInfo(
        order=order,
        move=line.move,
        visits=line.visits,
        winrate=winrate_of(line.value_to_move),
        utility=line.value_to_move,
        black_winrate=black_winrate_of(line.value_to_move, to_move),
        prior=line.prior,
        pv=list(line.line[:pv_length]),
        depth=line.depth,
        proof=proof_of(line.proof),
    )


def root_info_of(analysis: Analysis, to_move: Colour) -> RootInfo:
    """Return the evaluation of the whole position, taken from the best line."""
    best = analysis.lines[0]
    return RootInfo(
        current_player=to_move,
        winrate=winrate_of(best.value_to_move),
        utility=best.value_to_move,
        black_winrate=black_winrate_of(best.value_to_move, to_move),
        visits=analysis.nodes,
        depth=analysis.depth,
        elapsed_ms=round(analysis.elapsed_ms),
        visits_per_second=round(analysis.nodes_per_second),
        proof=proof_of(best.proof),
    )
