"""Reviews: the same game gets the same verdicts, and every sentence is true."""

from __future__ import annotations

import json
import multiprocessing
import random
from pathlib import Path

import pytest

from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.errors import RecordError
from tengen.patterns.explain import Kind, explain
from tengen.puzzles.making import MakerConfig, play_game
from tengen.records import FORMATS, GameRecord
from tengen.records.formats import Options
from tengen.records.game import OPENING_PROPERTY, MarkKind, Node, Setup
from tengen.review import (
    EFFORTS,
    Effort,
    MoveReview,
    Phase,
    Quality,
    Reason,
    ReasonKind,
    Review,
    annotate,
    assess,
    reason_to_play,
    review_game,
    review_page,
    try_move,
)
from tengen.review.reasons import SENTENCES
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.threats import ThreatKind, Verdict, solve_threats, with_turn

STATIC = Path(__file__).parents[2] / "src" / "tengen" / "web" / "static"
FREESTYLE = Ruleset(15, 15)
QUICK = EFFORTS["quick"]
IGNORED_THREE = "h8i9g8j10i8a1f8a2e8"


def game_of(moves: str, ruleset: Ruleset = FREESTYLE) -> GameRecord:
    return GameRecord.from_points(ruleset, parse_points(moves))


def engine_game(seed: int, ruleset: Ruleset = FREESTYLE) -> GameRecord:
    """A short game of two engines of different strength that sometimes play their second-best move."""
    config = MakerConfig(min_nodes=20, max_nodes=2000, slip=0.2)
    end = play_game(AlphaBeta(AlphaBetaConfig(table_mb=4)), ruleset, random.Random(seed), config)
    return GameRecord.from_points(ruleset, end.moves)


# ---- Verdicts -------------------------------------------------------------------------------------------------------


def test_an_ignored_open_three_is_a_blunder_with_its_refutation() -> None:
    review = review_game(game_of(IGNORED_THREE), QUICK)
    worst = review.moves[5]
    assert worst.reason is not None
    assert (worst.colour, worst.move, worst.quality, worst.is_key) == (Colour.WHITE, "a1", Quality.MISTAKE, True)
    assert worst.sentence == "Ignores the open three g8-h8-i8: black wins in 2 moves."
    assert worst.better[0] in ("f8", "j8")
    assert worst.better_reason == Reason(kind=ReasonKind.STOPS_THREE, stones=worst.reason.stones)
    position = game_of(IGNORED_THREE).position(6)
    for move in worst.refutation:
        position = position.play(move)
    assert position.outcome.winner is Colour.BLACK
    assert review.moves[-1].quality is Quality.BEST
    assert 6 in review.key_moves


def test_the_stones_of_a_given_opening_are_not_judged() -> None:
    game = game_of(IGNORED_THREE)
    whole = review_game(game, QUICK)
    game.root.properties = {OPENING_PROPERTY: ("6",)}
    review = review_game(game, QUICK)
    assert review.moves == whole.moves[6:]
    assert review.given_sentence == "The first 6 stones were given as an opening and are not judged."
    assert [side.moves for side in review.sides.values()] == [2, 1]
    annotated = annotate(game, review)
    assert annotated.moves() == game.moves()
    assert annotated.opening_stones == 6
    assert review.given_sentence in annotated.comment
    values = [node.value for node in annotated.main_line()]
    assert values[:6] == [None] * 6
    assert values[6:] == [review.root_black_value, *(move.black_value_after for move in review.moves)]
    page = review_page(game, review, ["title"])
    assert review.given_sentence in page


def test_a_missed_five_is_named_before_everything_else() -> None:
    review = review_game(game_of("h8g8i8h7j8i9k8a1a15"), QUICK)
    assert review.moves[8].sentence == "Misses five in a row at l8."
    assert review.moves[8].better == ("l8",)


def test_an_ignored_four_is_named_with_the_point_of_the_five() -> None:
    # h8 to k8 with g8 taken: white must play l8.
    review = review_game(game_of("h8g8i8h7j8i9k8a1"), QUICK)
    assert review.moves[7].sentence == "Ignores the four h8-i8-j8-k8: black makes five at l8."


def test_a_move_in_a_lost_position_is_no_mistake() -> None:
    review = review_game(game_of(IGNORED_THREE), QUICK)
    assert review.moves[7].quality in (Quality.BEST, Quality.GOOD)
    assert review.moves[7].reason is None


def test_the_accuracy_of_each_phase_covers_its_moves() -> None:
    review = review_game(engine_game(3), Effort(nodes=2000, vcf_nodes=500, vct_nodes=20))
    for colour, side in review.sides.items():
        moves = [move for move in review.moves if move.colour is colour]
        assert side.moves == len(moves) == sum(side.counts.values())
        for phase, accuracy in side.accuracy_by_phase.items():
            assert (accuracy is None) == (not any(Phase.of(move.turn_number) is phase for move in moves))
        assert side.accuracy is not None
        assert 0 <= side.accuracy <= 100
    assert [Phase.of(turn) for turn in (1, 10, 11, 30, 31)] == ["opening", "opening", "middle", "middle", "end"]


def test_other_win_lengths_are_reviewed_by_playouts() -> None:
    review = review_game(game_of("b2a1a2c2c1", Ruleset(3, 3, win_length=3)), QUICK)
    assert len(review.moves) == 5
    assert all(move.win is None and move.reply_win is None for move in review.moves)
    assert all(move.reason is not None for move in review.moves if move.quality.is_bad)


def test_a_game_with_a_pass_cannot_be_reviewed() -> None:
    game = GameRecord.from_points(FREESTYLE, [Point("h8"), None])
    with pytest.raises(RecordError, match=r"move 2 .* alternating moves"):
        review_game(game, QUICK)


def test_a_game_from_a_set_up_position_is_reviewed() -> None:
    game = GameRecord(ruleset=FREESTYLE)
    game.root.setup = Setup((Point("g8"), Point("h8"), Point("i8")), (Point("i9"), Point("j10")), to_move=Colour.WHITE)
    game.root.play(Point("o15"), Colour.WHITE)
    (move,) = review_game(game, QUICK).moves
    assert move.sentence == "Ignores the open three g8-h8-i8: black wins in 2 moves."


def test_a_try_is_judged_with_the_reason() -> None:
    position = Position.from_moves(FREESTYLE, "h8i9g8j10i8")
    bad, good = (try_move(position, Point(move), QUICK) for move in ("a15", "j8"))
    assert bad.quality is Quality.MISTAKE
    assert bad.reason is not None
    assert not good.quality.is_bad
    assert good.better_reason == Reason(kind=ReasonKind.STOPS_THREE, stones=(Point("g8"), Point("h8"), Point("i8")))


def test_a_hint_names_the_winning_shape() -> None:
    position = Position.from_stones(
        FREESTYLE, black=["i8", "j8", "k8", "h9", "h10"], white=["l8", "a1", "a3", "c1", "o1"]
    )
    found = assess(position, QUICK)
    assert reason_to_play(position, found.line[0], found, QUICK).sentence == "makes a four-three and wins in 3 moves"


# ---- The same game gets the same review -----------------------------------------------------------------------------


def _burn(seconds: float) -> None:
    import time

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def review_on_busy_machine(game: GameRecord, effort: Effort, times: int) -> list[Review]:
    """Review a game several times while other processes take the processors."""
    busy = [multiprocessing.get_context("spawn").Process(target=_burn, args=(3600.0,)) for _ in range(4)]
    for process in busy:
        process.start()
    try:
        return [review_game(game, effort) for _ in range(times)]
    finally:
        for process in busy:
            process.kill()
            process.join()


def test_the_same_game_gets_the_same_review_on_a_busy_machine() -> None:
    reviews = review_on_busy_machine(engine_game(11), Effort(nodes=5000, vcf_nodes=1000, vct_nodes=50), 2)
    assert reviews[0] == reviews[1]
    assert any(move.sentence for move in reviews[0].moves)


@pytest.mark.thorough
def test_five_reviews_at_normal_effort_agree_in_every_word() -> None:
    first, *others = review_on_busy_machine(engine_game(11), EFFORTS["normal"], 5)
    for other in others:
        assert other == first
        assert [move.sentence for move in other.moves] == [move.sentence for move in first.moves]


# ---- Sentences are true ---------------------------------------------------------------------------------------------


def check_reason(position: Position, move: MoveReview) -> None:
    """Check a sentence with the solvers, at a higher effort and independently of the review."""
    reason = move.reason
    assert reason is not None
    found, after = explain(position), position.play(move.move)
    name = reason.kind.value
    if reason.kind is ReasonKind.MISSES_FIVE:
        assert reason.point is not None
        assert position.play(reason.point).outcome.winner is move.colour
        assert not after.is_over
    elif reason.kind is ReasonKind.IGNORES_FOUR:
        assert reason.point is not None
        assert any(threat.stones == reason.stones and threat.answers for threat in found.against_mover)
        assert after.play(reason.point).outcome.winner is reason.colour is move.colour.opponent
    elif name.startswith("misses"):
        check_win(position, move, reason, move.win.line if move.win else ())
        assert move.move != reason.point
    elif name.startswith("lets") or reason.kind is ReasonKind.IGNORES_THREE:
        assert reason.colour is move.colour.opponent
        check_win(after, move, reason, move.refutation)
        # The better move really stops it.
        answered = position.play(move.better[0])
        if not answered.is_over:
            kind = move.reply_win.kind if move.reply_win else ThreatKind.VCF
            nodes = EFFORTS["normal"].solver_nodes(kind)
            assert solve_threats(answered, kind, Limits(nodes=nodes)).verdict is not Verdict.WIN
        if reason.kind is ReasonKind.IGNORES_THREE:
            three = next(threat for threat in found.against_mover if threat.stones == reason.stones)
            assert three.kind is Kind.OPEN_THREE
            assert move.move not in three.answers
    else:
        assert reason.kind is ReasonKind.BETTER
        assert reason.point == move.better[0]
        assert reason.why is not None
        check_merit(position, reason.point, reason.why)


def check_win(position: Position, move: MoveReview, reason: Reason, line: tuple[Point, ...]) -> None:
    """Check that the side to move wins by force, and that the line is a win in the stated number of moves."""
    attacker = position.to_move
    kind = ThreatKind.VCF if solve_threats(position, "vcf", Limits(nodes=200_000)).verdict is Verdict.WIN else "vct"
    if reason.kind.endswith("fours") or reason.kind is ReasonKind.IGNORES_THREE:
        assert kind is ThreatKind.VCF
    assert solve_threats(position, kind, Limits(nodes=200_000)).verdict is Verdict.WIN
    if reason.shape is not None:
        assert reason.point in explain(position).chances[attacker][reason.shape]
    assert reason.moves == (len(line) + 1) // 2
    for point in line:
        position = position.play(point)
    assert position.outcome.winner is attacker, f"{move.sentence} {line}"


def check_merit(position: Position, point: Point, why: Reason) -> None:
    """Check what a reason says about a good move."""
    mover = position.to_move
    found = explain(position)
    after = position.play(point)
    match why.kind:
        case ReasonKind.MAKES_FIVE:
            assert after.outcome.winner is mover
        case ReasonKind.STOPS_FOUR | ReasonKind.STOPS_THREE:
            assert any(threat.stones == why.stones and point in threat.answers for threat in found.against_mover)
        case ReasonKind.STOPS_FOURS | ReasonKind.STOPS_THREATS:
            kind = ThreatKind.VCF if why.kind is ReasonKind.STOPS_FOURS else ThreatKind.VCT
            threat = with_turn(position, mover.opponent)
            assert solve_threats(threat, kind, Limits(nodes=200_000)).verdict is Verdict.WIN
            assert solve_threats(after, kind, Limits(nodes=200_000)).verdict is Verdict.NO_WIN
        case ReasonKind.MAKES_SHAPE:
            assert why.shape is not None
            assert point in found.chances[mover][why.shape]
        case ReasonKind.TAKES_SHAPE:
            assert why.shape is not None
            assert point in found.chances[mover.opponent][why.shape]
        case _:
            assert why.kind is ReasonKind.SEARCH


def check_sentences(seeds: range, effort: Effort, most: int) -> int:
    """Review engine games under several rules and check a sample of the sentences; return how many."""
    rulesets = (FREESTYLE, Ruleset.parse("15x15:5:renju"), Ruleset.parse("15x15:5:standard"))
    checked = 0
    for seed in seeds:
        game = engine_game(seed, rulesets[seed % len(rulesets)])
        review = review_game(game, effort)
        bad = [move for move in review.moves if move.quality.is_bad]
        for move in random.Random(seed).sample(bad, min(len(bad), most)):
            check_reason(game.position(move.turn_number - 1), move)
            checked += 1
    return checked


def test_sampled_sentences_are_true() -> None:
    assert check_sentences(range(3), Effort(nodes=10_000, vcf_nodes=5000, vct_nodes=200), most=4) >= 5


@pytest.mark.thorough
def test_sentences_of_many_games_are_true() -> None:
    assert check_sentences(range(100, 140), EFFORTS["quick"], most=3) >= 50


# ---- Texts and files ------------------------------------------------------------------------------------------------


def test_the_pages_have_every_sentence() -> None:
    texts = json.loads((STATIC / "i18n" / "en.json").read_text(encoding="utf-8"))
    assert {kind: texts[f"why.{kind}"] for kind in ReasonKind} == dict(SENTENCES)
    assert {kind: texts[f"shape.{kind.replace(' ', '-')}"] for kind in Kind if kind is not Kind.FIVE} == {
        kind: kind.with_article for kind in Kind if kind is not Kind.FIVE
    }


def test_an_annotated_game_is_a_file_with_comments_marks_and_variations() -> None:
    game = game_of(IGNORED_THREE)
    game.black = "Ann"
    write = FORMATS["sgf"].write
    assert write is not None
    data = write([annotate(game, review_game(game, QUICK))], Options())
    (read,) = FORMATS["sgf"].read(data, Options())
    assert read.black == "Ann"
    assert "Black: accuracy" in read.comment
    nodes = list(read.main_line())
    assert [move.point for move in read.moves()] == [move.point for move in game.moves()]
    blunder = nodes[6]
    assert blunder.comment == "Mistake. Ignores the open three g8-h8-i8: black wins in 2 moves."
    assert {mark.kind for mark in blunder.marks} == {MarkKind.CROSS, MarkKind.TRIANGLE}
    (better,) = nodes[5].children[1:]
    assert better.comment.startswith("Better: ")
    assert all(node.value is not None for node in nodes[1:])
    assert isinstance(blunder, Node)
