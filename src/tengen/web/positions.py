"""Between messages and the game: positions from their fields, facts of positions, search results as messages."""

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
    """The ruleset that a message means; `InputError` when it contradicts itself."""
    text = fields.rules.strip().lower()
    width, height = fields.board_x_size, fields.board_y_size
    if _RULE_ALONE.fullmatch(text):
        text = f"{width or height or 15}x{height or width or 15}:5:{text}"
    ruleset = Ruleset.parse(text)
    if (width or ruleset.width, height or ruleset.height) != (ruleset.width, ruleset.height):
        raise InputError(f"rules {fields.rules!r} and a board of {width}x{height} contradict each other")
    return ruleset


def position_of(fields: PositionFields) -> Position:
    """The position that a message describes; `InputError` when the rules do not allow it."""
    position = start_of(fields)
    for move in fields.moves:
        position = position.play(move)
    return position


def start_of(fields: PositionFields) -> Position:
    """The position before the moves of a message."""
    ruleset = ruleset_of(fields)
    if not fields.initial_stones and fields.initial_player is None:
        return Position.start(ruleset)
    black, white = (
        [point for colour, point in fields.initial_stones if colour is wanted]
        for wanted in (Colour.BLACK, Colour.WHITE)
    )
    return Position.from_stones(ruleset, black=black, white=white, to_move=fields.initial_player)


def stones_of(position: Position) -> list[tuple[Colour, str]]:
    """All stones of a position as `initialStones` has them."""
    return [(colour, str(point)) for colour in Colour for point in position.points_of(colour)]


def facts_of(position: Position, threats: Threats | None = None) -> PositionInfo:
    """What the rules say of a position."""
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
    """The points that renju forbids the side to move."""
    if position.ruleset.rule is not Rule.RENJU or position.is_over:
        return []
    return [FoulPoint(point=point, kind=kind) for point, kind in position.forbidden_points().items()]


def threats_of(explanation: Explanation) -> Threats:
    """An explanation as message."""
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
    """A value in [-1, 1] as winrate in [0, 1]."""
    return min(1.0, max(0.0, (value_to_move + 1) / 2))


def black_winrate_of(value_to_move: float, to_move: Colour) -> float:
    """Black's winrate from the value of the side to move."""
    winrate = winrate_of(value_to_move)
    return winrate if to_move is Colour.BLACK else 1 - winrate


def proof_of(proof: CoreProof | None) -> Proof | None:
    """A proof as message."""
    if proof is None:
        return None
    # The result is one of the three words by its making.
    return Proof(result=proof.result, plies=proof.plies, text=str(proof))  # type: ignore[arg-type]


def move_info_of(line: AnalysisLine, order: int, to_move: Colour, pv_length: int = 60) -> MoveInfo:
    """A line of an analysis as candidate."""
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
    """What an analysis says of the position as a whole."""
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
