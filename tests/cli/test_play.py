"""`tengen play`, driven by scripted input."""

from __future__ import annotations

import io
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from tengen import records
from tengen.agents import registry
from tengen.cli import app
from tengen.cli.drawing import can_show_colour, draw_board
from tengen.cli.play import check_input
from tengen.core.contracts import Agent, Colour, Decision, Limits, Outcome, Report, Ruleset, Search
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError, AgentNameError, InputError, RecordError, TengenError

TWO_PEOPLE = ("--black", "person", "--white", "person", "--rules", "9x9:5:freestyle")


def play(*arguments: str, typed: str = "") -> Result:
    """Run a game; each word of `typed` is a line of input, with ~ for a space inside a line."""
    lines = "".join(word.replace("~", " ") + "\n" for word in typed.split())
    return CliRunner().invoke(app, ["play", "--seed", "1", *arguments], input=lines)


def finished(result: Result) -> str:
    assert result.exit_code == 0, result.output
    assert result.exception is None
    return result.output


def boards(output: str) -> list[str]:
    """Return the drawings in the output, each from its first row of column letters to its last."""
    return re.findall(r"    a b c[ a-z]*\n(?: ?\d.*\n)+    a b c[ a-z]*", output)


# ---- Whole games -----------------------------------------------------------------------------------------------------


def test_two_people_play_a_whole_game() -> None:
    output = finished(play(*TWO_PEOPLE, typed="a1 a2 b1 b2 c1 c2 d1 d2 e1"))
    assert "black (person) wins: a1 b1 c1 d1 e1" in output
    assert len(boards(output)) == 10
    assert boards(output)[0] == (
        "    a b c d e f g h i\n"
        + "".join(f" {row}  . . . . . . . . .  {row}\n" for row in range(9, 0, -1))
        + "    a b c d e f g h i"
    )
    assert " 1  X X X X(X). . . .  1" in boards(output)[-1]
    assert output.count("black> ") == 5
    assert output.rstrip().endswith("game over>")


def test_a_person_beats_the_random_player() -> None:
    # The script also tries points that the random player may have taken; those are rejected, and the game continues.
    typed = " ".join(f"{column}{row}" for column in "efd" for row in range(1, 10))
    output = finished(play("random", "--rules", "9x9:5:freestyle", typed=typed))
    assert re.search(r"black \(person\) wins: (?:e\d ?){5}", output)
    assert "white (random) plays " in output


def test_an_agent_wins_against_a_passive_person() -> None:
    typed = "a1 a9 i1 i9 a5 i5 a3 i3 a7 i7 e1 e9 c1 c9 g1 g9"
    output = finished(play("rule-based", "--side", "white", "--rules", "9x9:5:freestyle", typed=typed))
    assert "black (rule-based) plays e5" in output
    assert "black (rule-based) wins: " in output


def test_two_agents_play_by_themselves_and_the_seed_reproduces_the_game() -> None:
    arguments = ("--black", "naive:level=3", "--white", "chains", "--rules", "9x9:5:renju")
    output = finished(play(*arguments))
    assert re.search(r"(black|white) \((naive:level=3|chains)\) wins: |draw", output)
    assert len(boards(output)) == 2, "the empty board and the last one"
    assert finished(play(*arguments)) == output
    assert finished(CliRunner().invoke(app, ["play", "--seed", "2", *arguments])) != output


def test_a_draw() -> None:
    order = "a1 b1 c1 b2 a2 c2 b3 a3 c3"
    output = finished(play("--black", "person", "--white", "person", "--rules", "3x3:3:freestyle", typed=order))
    assert "draw: the board is full" in output


def test_black_loses_if_only_forbidden_points_are_left(tmp_path: Path) -> None:
    # Stripes without a five in a row; a black stone on e5, the last empty point, would be an overline.
    ruleset = Ruleset.parse("9x9:5:renju")
    setup: dict[Colour, list[str]] = {Colour.BLACK: [], Colour.WHITE: []}
    for name in parse_points(" ".join(f"{column}{row}" for column in "abcdefghi" for row in range(1, 10))):
        if name == "e5":
            continue
        black = (name.x // 2 + name.y) % 2 or (name.y == 4 and 1 <= name.x <= 7)
        setup[Colour.BLACK if black else Colour.WHITE].append(name)
    # White still has to play the last stone.
    last = setup[Colour.WHITE].pop()
    position = Position.from_stones(ruleset, black=setup[Colour.BLACK], white=setup[Colour.WHITE], to_move="white")
    record = records.GameRecord(ruleset=ruleset)
    record.root.setup = records.Setup(
        tuple(position.points_of(Colour.BLACK)), tuple(position.points_of(Colour.WHITE)), to_move=Colour.WHITE
    )
    path = tmp_path / "stripes.sgf"
    records.save(path, [record])
    output = finished(play("--black", "random", "--white", "person", "--load", str(path), typed=last))
    assert "white (person) wins: only forbidden points are left for black" in output


# ---- Commands --------------------------------------------------------------------------------------------------------


def test_bad_input_changes_nothing() -> None:
    typed = "e5 e5 z9 nonsense j1 [bold]x " + "x" * 600
    output = finished(play(*TWO_PEOPLE, typed=typed))
    assert "cannot play e5: the point is occupied (help lists the commands)" in output
    assert "no board has a point z9: columns run from a to v, rows from 1 to 22" in output
    assert "not a point: 'nonsense'" in output
    assert "j1 is off the 9x9 board, whose points are a1 to i9" in output
    assert "not a point: '[bold]x'" in output
    assert "the line has 600 characters" in output
    assert len(boards(output)) == 2


def test_empty_lines_are_ignored() -> None:
    result = CliRunner().invoke(app, ["play", *TWO_PEOPLE], input="\n   \ne5\n")
    assert "white> " in finished(result)


def test_undo_returns_to_the_persons_last_move() -> None:
    output = finished(play("random", "--rules", "9x9:5:freestyle", typed="e5 e4 undo moves undo moves undo quit"))
    assert re.search(r"1\.e5 2\.\w\d\n", output)
    assert "no moves yet" in output
    assert "you have no move to take back" in output


def test_undo_does_not_take_back_the_agents_first_move() -> None:
    output = finished(play("rule-based", "--side", "white", typed="undo moves"))
    assert "you have no move to take back" in output
    assert "1.h8" in output


def test_undo_after_the_end() -> None:
    output = finished(play(*TWO_PEOPLE, typed="a1 a2 b1 b2 c1 c2 d1 d2 e1 undo undo e2 e1"))
    assert "black (person) wins" in output
    assert "white (person) wins" not in output
    assert output.count("wins: a1 b1 c1 d1 e1") == 2


def test_hints() -> None:
    typed = "a1 b9 b1 c9 c1 d9 d1 hint hint~chains hint~nobody hint~naive:level=9"
    output = finished(play(*TWO_PEOPLE, typed=typed))
    assert "rule-based would play e1" in output
    assert "chains would play e1" in output
    assert "unknown agent 'nobody'" in output
    assert "unknown naive level 9" in output
    assert "random would play " in finished(play("random", typed="hint"))


def test_a_resignation_can_be_undone() -> None:
    output = finished(play(*TWO_PEOPLE, typed="e5 resign hint undo e4 resign a1 resign"))
    assert "black (person) wins: white resigned" in output
    assert "no hint available: the game is over or in its opening procedure" in output
    assert "the game continues" in output
    assert "white (person) wins: black resigned" in output
    assert "the game is over; 'a1' is not a command" in output
    assert "there is no game in progress to resign" in output


def test_help_board_moves() -> None:
    output = finished(play(*TWO_PEOPLE, typed="help ? moves e5 board moves exit e4"))
    for command in ("undo", "hint [AGENT]", "resign", "save FILE", "board", "moves", "quit"):
        assert output.count(f"  {command} ") == 2
    assert "no moves yet" in output
    assert "1.e5\n" in output
    assert len(boards(output)) == 3
    assert output.count("> ") == 7, "there is no prompt after exit"


def test_end_of_input_exits_quietly() -> None:
    assert finished(play(*TWO_PEOPLE)).endswith("black> \n")


# ---- Saving and loading ----------------------------------------------------------------------------------------------


def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    output = finished(play(*TWO_PEOPLE, typed=f"e5 e4 f5 save save~{path} save~{tmp_path}/game.nothing"))
    assert "save needs a file name" in output
    assert f"saved {path}" in output
    assert "unknown file extension" in output
    (record,) = records.load(path)
    assert (record.black, record.white, record.result) == ("person", "person", Outcome.ONGOING)
    assert record.position().moves == ("e5", "e4", "f5")

    again = tmp_path / "more.sgf"
    typed = "moves f4 g5 g4 d5 undo d5 h4 h5"
    output = finished(
        play("--black", "person", "--white", "person", "--load", str(path), "--save", str(again), typed=typed)
    )
    assert "1.e5 2.e4 3.f5" in output
    (record,) = records.load(again)
    assert record.result is Outcome.BLACK
    assert record.result_reason == "five"
    assert len(record.moves()) == 9


def test_resignation_and_names_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    finished(play("naive:level=1", "--rules", "9x9:5:caro", "--save", str(path), typed="e5 resign"))
    (record,) = records.load(path)
    assert (record.black, record.white) == ("person", "naive:level=1")
    assert (record.result, record.result_reason) == (Outcome.WHITE, "resignation")
    assert record.ruleset == Ruleset.parse("9x9:5:caro")


def test_set_up_stones_are_saved(tmp_path: Path) -> None:
    path, again = tmp_path / "set-up.sgf", tmp_path / "again.sgf"
    record = records.GameRecord(ruleset=Ruleset(9, 9))
    record.root.setup = records.Setup(parse_points("e5f5"), parse_points("e6"), to_move=Colour.WHITE)
    records.save(path, [record])
    finished(play("--black", "random", "--load", str(path), "--save", str(again), typed="f6"))
    (record,) = records.load(again)
    assert record.root.setup == records.Setup(parse_points("e5f5"), parse_points("e6"), to_move=Colour.WHITE)
    assert record.moves()[0] == (Colour.WHITE, "f6")


def test_a_loaded_game_keeps_its_rules(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    records.save(path, [records.GameRecord.from_points(Ruleset(15, 15), parse_points("h8i9"))])
    result = play("--load", str(path), "--rules", "9x9")
    assert isinstance(result.exception, InputError)
    assert f"{path} contains a game with ruleset 15x15:5:freestyle, not 9x9:5:freestyle" in str(result.exception)
    assert "1.h8 2.i9" in finished(play("--load", str(path), "--rules", "15x15:5:freestyle:swap2", typed="moves"))


def test_files_that_cannot_be_loaded(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.sgf", tmp_path / "game.doc"):
        result = play("--load", str(path))
        assert isinstance(result.exception, RecordError)
        assert str(path) in str(result.exception)


# ---- Openings --------------------------------------------------------------------------------------------------------


def test_swap2_between_people() -> None:
    rules = ("--black", "person", "--white", "person", "--rules", "9x9:5:freestyle:swap2")
    typed = "hint resign e5 e5 take-black d4 undo d4 f6 a1 place-two a1 i9 TAKE-WHITE moves d6 undo undo take-black d6"
    output = finished(play(*rules, typed=typed))
    assert "proposer places 3 stones, the next one black" in output
    assert "no hint available: the game is over or in its opening procedure" in output
    assert "there is no game in progress to resign" in output
    assert "cannot play e5: the point is occupied" in output
    assert "'take-black': proposer places 2 stones" in output
    assert "'a1': chooser chooses take-black, take-white or place-two" in output
    assert "person: place-two" in output
    assert "proposer chooses take-black or take-white" in output
    assert output.count("person plays black, person white") == 2
    assert "1.e5 2.d4 3.f6 4.a1 5.i9" in output
    assert output.rstrip().endswith("black>")


def test_an_agent_opens_and_chooses() -> None:
    opened = finished(play("random", "--side", "white", "--rules", "9x9:5:freestyle:swap2", typed="take-black"))
    assert opened.count("random: ") == 3
    assert "person plays black, random white" in opened
    assert "white (random) plays " in opened
    chosen = finished(play("random", "--rules", "9x9:5:freestyle:swap", typed="e5 e6 f6 moves"))
    assert re.search(r"random: take-(black|white)", chosen)


def test_saving_during_the_opening(tmp_path: Path) -> None:
    path = tmp_path / "opening.sgf"
    finished(play("random", "--rules", "9x9:5:freestyle:swap2", "--save", str(path), typed="e5 e6"))
    (record,) = records.load(path)
    assert record.position().moves == ("e5", "e6")


# ---- Agents that fail or think for long -----------------------------------------------------------------------------


class Broken(Agent):
    """Raises an exception that is a bug."""

    name = "broken"

    def choose(self, position: Position, limits: Limits) -> Decision:
        raise ZeroDivisionError("division by zero")


class Endless(Agent):
    """Presses Ctrl-C when it is asked for a move, and thinks until it is stopped."""

    name = "endless"

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        def run(stop: StopSignal, report: Report) -> Decision:
            signal.raise_signal(signal.SIGINT)
            while not stop.is_set():
                time.sleep(0.01)
            return Decision(move=position.legal_points()[0])

        return Search(run)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt even if this process was started in the background, where it is ignored."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


def play_against(agent: Agent, monkeypatch: pytest.MonkeyPatch, typed: str, *arguments: str) -> Result:
    monkeypatch.setattr(registry, "make_agent", lambda text: agent)
    return play(agent.name, "--rules", "9x9", *arguments, typed=typed)


def test_an_agent_that_raises_loses_with_its_exception_and_the_command_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "game.sgf"
    result = play_against(Broken(), monkeypatch, "e5 quit", "--save", str(path))
    assert result.exit_code == 1
    assert "black (person) wins: white (broken) failed: line " in result.output
    assert " of test_play.py: ZeroDivisionError: division by zero\n" in result.output
    (record,) = records.load(path)
    assert record.position().moves == ("e5",)


def test_after_a_failure_the_person_can_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    result = play_against(Broken(), monkeypatch, "e5 undo moves quit")
    assert "no moves yet" in finished(result)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("now", "white (endless) plays a1\n"),
        ("resign", "white (endless) wins: black resigned\n"),
        ("leave", "play [n]ow, [r]esign, [l]eave or [w]ait? "),
    ],
)
def test_ctrl_c_while_an_agent_thinks_asks_what_to_do(
    monkeypatch: pytest.MonkeyPatch, answer: str, message: str
) -> None:
    output = finished(play_against(Endless(), monkeypatch, f"e5 {answer}"))
    assert message in output
    assert output.count("[l]eave") == 1
    assert ("black> " in output.partition("[w]ait?")[2]) == (answer == "now")


def test_closed_input_is_reported() -> None:
    with pytest.raises(InputError, match=r"standard input is closed.*--black AGENT --white AGENT"):
        check_input(("person", "random"), None)
    check_input(("random", "random"), None)


# ---- Arguments -------------------------------------------------------------------------------------------------------


def test_the_side_can_be_random() -> None:
    sides = set()
    for seed in range(8):
        command = ["play", "random", "--side", "random", "--rules", "3x3:3:freestyle", "--seed", str(seed)]
        sides.add("white> " in finished(CliRunner().invoke(app, command, input="")))
    assert sides == {True, False}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("chains", "--white", "naive"), InputError, "not both"),
        (("--side", "white", "--black", "naive"), InputError, "not both"),
        (("nobody",), AgentNameError, "unknown agent 'nobody'"),
        (("--rules", "15x15:5:chess"), InputError, "unknown rule 'chess'"),
        (("--rules", "5x5:5:renju:pro"), InputError, "no point in the region outside-5x5"),
        (
            ("alphabeta", "--rules", "5x5:3"),
            AgentError,
            "does not play 5x5:3:freestyle: alpha-beta cannot search 5x5:3:freestyle: the win length must be 4",
        ),
        (("brain:cmd=none", "--rules", "5x5:3"), AgentError, "the Piskvork protocol cannot express 5x5:3:freestyle"),
        (("nobody", "--save", "game.doc"), RecordError, "game.doc: unknown file extension"),
        (("nobody", "--save", "game.rif"), RecordError, "can be read but not written"),
    ],
)
def test_rejected_arguments(arguments: tuple[str, ...], error: type[TengenError], message: str) -> None:
    result = play(*arguments)
    assert isinstance(result.exception, error)
    assert message in str(result.exception)


def test_terminal_is_accepted() -> None:
    assert "black> " in finished(play("--terminal"))


# ---- Drawing ---------------------------------------------------------------------------------------------------------


def test_fouls_are_shown_when_black_is_to_move_in_renju() -> None:
    ruleset = Ruleset.parse("9x9:5:renju")
    stones = {"black": parse_points("f5g5e6e7"), "white": parse_points("a1b9c9i1")}
    black_moves = Position.from_stones(ruleset, black=stones["black"], white=stones["white"], to_move="black")
    white_moves = Position.from_stones(ruleset, black=stones["black"], white=stones["white"], to_move="white")
    assert " 5  . . . . ! X X . .  5" in draw_board(black_moves, in_colour=False).plain
    assert "!" not in draw_board(white_moves, in_colour=False).plain
    assert "!" not in draw_board(black_moves, in_colour=False, show_fouls=False).plain


def test_last_move_at_both_edges() -> None:
    left = Position.from_moves(Ruleset(5, 5), "a3")
    right = Position.from_moves(Ruleset(5, 5), "e3")
    assert " 3 (X). . . .  3" in draw_board(left, in_colour=False).plain
    assert " 3  . . . .(X) 3" in draw_board(right, in_colour=False).plain


def test_colours_are_used_only_if_the_terminal_supports_them() -> None:
    class Utf8(io.StringIO):
        encoding = "utf-8"

    terminal = Console(file=Utf8(), force_terminal=True, color_system="truecolor", _environ={})
    assert can_show_colour(terminal)
    assert not can_show_colour(Console(file=Utf8(), _environ={}))
    assert not can_show_colour(Console(file=Utf8(), force_terminal=True, no_color=True, _environ={}))
    position = Position.from_moves(Ruleset(9, 9), "a1 a2 b1 b2 c1 c2 d1 d2 e1")
    text = draw_board(position, in_colour=True)
    assert (text.plain.count("●"), text.plain.count("○")) == (5, 4), "the stones differ without colour, too"
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert "#ffffff" in " ".join(str(span.style) for span in text.spans)
    assert "on #e8743b" in " ".join(str(span.style) for span in text.spans), "the winning line stands out"
    assert styles["("].startswith("bold")
