"""Converts a review to a game record with comments, values, marks and variations."""

from __future__ import annotations

from tengen.core.contracts import Colour
from tengen.core.geometry import Point
from tengen.records.game import OPENING_PROPERTY, GameRecord, Mark, MarkKind, Node
from tengen.review.judge import MoveReview
from tengen.review.summary import Phase, Review, SideSummary


def annotate(game: GameRecord, review: Review) -> GameRecord:
    """Return a copy of a game's main line, annotated with the review.

    Every move gets its value. A bad move gets a comment and a cross. The better line becomes an alternative to
    the move, and the refutation a variation after it. Comments and variations of the original game are not copied.
    """
    result = GameRecord(
        ruleset=game.ruleset,
        black=game.black,
        white=game.white,
        result=game.result,
        result_reason=game.result_reason,
        event=game.event,
        round=game.round,
        date=game.date,
        comment="\n".join(filter(None, (game.comment, review.given_sentence, *_summary_lines(review)))),
    )
    result.root.setup = game.root.setup
    # A file may store its first move in the root node; here, every move has its own node.
    node = result.root
    for given in game.moves()[: review.given]:
        node = node.play(given.point, given.colour)
    node.value = review.root_black_value
    if review.given:
        result.root.properties = {OPENING_PROPERTY: (str(review.given),)}
    for move in review.moves:
        parent, node = node, node.play(move.move, move.colour)
        node.value = move.black_value_after
        if move.quality.is_bad:
            _explain(parent, node, move)
    _add_refutations(result, review)
    return result


def _explain(parent: Node, node: Node, move: MoveReview) -> None:
    node.comment = f"{move.quality.capitalize()}. {move.sentence}"
    node.bookmarked = move.is_key
    better = move.better[0]
    node.marks = (Mark(MarkKind.CROSS, move.move), Mark(MarkKind.TRIANGLE, better))
    first = _add_line(parent, move.better, move.colour)
    if first is not None and move.better_reason is not None:
        first.comment = f"Better: {better} {move.better_reason.sentence}."


def _add_refutations(game: GameRecord, review: Review) -> None:
    """Add the refutations of bad moves once the main line is complete, so that they come after its moves."""
    for node, move in zip(list(game.main_line())[1 + review.given :], review.moves, strict=True):
        if not move.refutation or not move.quality.is_bad:
            continue
        first = _add_line(node, move.refutation, move.colour.opponent)
        if first is not None:
            first.comment = "Refutation."


def _add_line(node: Node, line: tuple[Point, ...], colour: Colour) -> Node | None:
    """Add a line as a variation; return None if the game itself continues with the line's first move."""
    if not line or any(child.moves[0].point == line[0] for child in node.children):
        return None
    first = node = node.play(line[0], colour)
    for point in line[1:]:
        node = node.play(point)
    return first


def _summary_lines(review: Review) -> list[str]:
    return [_summary_line(colour, side) for colour, side in review.sides.items() if side.accuracy is not None]


def _summary_line(colour: Colour, side: SideSummary) -> str:
    phases = ", ".join(
        f"{phase} {accuracy:.0f}" for phase in Phase if (accuracy := side.accuracy_by_phase[phase]) is not None
    )
    counts = ", ".join(f"{quality} {count}" for quality, count in side.counts.items() if count)
    return f"{colour.capitalize()}: accuracy {side.accuracy:.0f} ({phases}); {counts}."
