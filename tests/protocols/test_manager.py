"""External engines as players: good ones play, bad ones fail with the right reason, and no process is left behind."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tengen.agents.external_engine import BrainAgent, split_command
from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.opening_procedure import Option
from tengen.core.position import Position
from tengen.errors import AgentError, AgentNameError, EngineError, EngineFault, GameOverError, RulesetError
from tests.protocols.engines import engine_command, engine_text

RULES = Ruleset(15, 15)
QUICK = Limits(time_ms=100)
SOON = {"tolerance_ms": 300}
"""Short tolerance, for engines that are expected to time out."""


@pytest.fixture(autouse=True)
def check_no_leftovers() -> Iterator[None]:
    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    yield
    assert wait_until(lambda: {child.pid for child in me.children(recursive=True)} <= before)
    names = [thread.name for thread in threading.enumerate() if thread.name.startswith("reader of")]
    assert names == []


def brain(name: str, *arguments: object, **parameters: object) -> BrainAgent:
    agent = make_agent(engine_text(name, *arguments, **parameters))
    assert isinstance(agent, BrainAgent)
    return agent


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def play_alone(agent: BrainAgent, position: Position, moves: int, pause_s: float = 0.0) -> Position:
    for _ in range(moves):
        if not position.is_over:
            time.sleep(pause_s)
            position = position.play(agent.choose(position, QUICK).move)
    return position


# -- misbehaviour ------------------------------------------------------------------------------------------------------

HOSTILE = [
    pytest.param("crash_at_start", (), {}, EngineFault.CRASH, "exit code 3", id="crashes at start"),
    pytest.param("slow_start", (), {"start_ms": 300}, EngineFault.TIMEOUT, "START 15", id="never ready"),
    pytest.param("refuses_start", (), {}, EngineFault.START, "unsupported size", id="refuses the board"),
    pytest.param("crash_at_move", (1,), {}, EngineFault.CRASH, "exit code 7", id="crashes at move 1"),
    pytest.param("crash_at_move", (2,), {}, EngineFault.CRASH, "exit code 7", id="crashes at move 2"),
    pytest.param("killed_by_signal", (), {}, EngineFault.CRASH, "signal SIGSEGV", id="dies of a signal"),
    pytest.param("slow", (), SOON, EngineFault.TIMEOUT, "in time", id="slow"),
    pytest.param("silent", (), SOON, EngineFault.TIMEOUT, "in time", id="silent"),
    pytest.param("deaf", (), SOON, EngineFault.TIMEOUT, "in time", id="deaf"),
    pytest.param("no_newline", (), SOON, EngineFault.TIMEOUT, "in time", id="unfinished line"),
    pytest.param("off_board", (), {}, EngineFault.ILLEGAL, "off the 15x15 board", id="off the board"),
    pytest.param("occupied", (), {}, EngineFault.ILLEGAL, "the point is occupied", id="on a stone"),
    pytest.param("two_squares", (), {}, EngineFault.PROTOCOL, "2 squares", id="two squares"),
    pytest.param("says_error", (), SOON, EngineFault.PROTOCOL, "no idea", id="says ERROR"),
    pytest.param("says_error", (), {"strict": True}, EngineFault.PROTOCOL, "no idea", id="says ERROR, strict"),
    pytest.param("garbage", ("silent",), SOON, EngineFault.GARBAGE, "garbage, such as 'hello'", id="only garbage"),
    pytest.param("flood", (), {}, EngineFault.FLOOD, "engine 'flood.py' floods", id="floods"),
    pytest.param("endless_line", (), {}, EngineFault.FLOOD, "bytes", id="endless line"),
    pytest.param("closes_stdout", (), {}, EngineFault.CLOSED, "closed its output", id="closes its output"),
    pytest.param("closes_stdin", (), {}, EngineFault.CLOSED, "closed its input", id="closes its input"),
    pytest.param("memory_hog", (), {"memory_mb": 100}, EngineFault.MEMORY, "the limit is 100 MB", id="memory"),
    pytest.param("forks_children", (), {}, EngineFault.CRASH, "exit code 1", id="forks children and crashes"),
]


@pytest.mark.parametrize(("name", "arguments", "parameters", "reason", "words"), HOSTILE)
def test_misbehaviour_is_reported_with_its_reason(
    name: str, arguments: tuple[object, ...], parameters: dict[str, object], reason: EngineFault, words: str
) -> None:
    with brain(name, *arguments, **parameters) as agent:
        with pytest.raises(EngineError) as caught:
            play_alone(agent, Position.start(RULES).play("h8"), 4)
        assert caught.value.reason is reason
        assert words in str(caught.value)
        assert agent.pid is None


def test_a_new_memory_limit_applies_to_a_running_engine() -> None:
    with brain("memory_hog") as agent:
        agent.new_game(RULES)
        agent.configure(memory_bytes=100 << 20)
        with pytest.raises(EngineError, match="the limit is 100 MB") as caught:
            agent.choose(Position.start(RULES).play("h8"), QUICK)
        assert caught.value.reason is EngineFault.MEMORY


def test_a_foul_has_a_different_reason_than_other_illegal_moves() -> None:
    # Black has two open threes crossing at h8, square 7,7.
    position = Position.from_stones(
        Ruleset.parse("15x15:5:renju"), black=["f8", "g8", "h9", "h10"], white=["a1", "c1", "e1", "g1"]
    )
    with brain("fixed_square", 7, 7) as agent:
        with pytest.raises(EngineError) as caught:
            agent.choose(position, QUICK)
        assert caught.value.reason is EngineFault.FOUL
        assert "double-three" in str(caught.value)


def test_a_program_that_does_not_exist() -> None:
    with make_agent("brain:cmd=no/such/engine") as agent, pytest.raises(EngineError, match="no/such/engine") as caught:
        agent.new_game(RULES)
    assert caught.value.reason is EngineFault.START


def test_a_crash_while_idle_is_detected() -> None:
    with brain("random_mover") as agent:
        position = play_alone(agent, Position.start(RULES), 1)
        assert agent.pid is not None
        psutil.Process(agent.pid).kill()
        with pytest.raises(EngineError, match="signal SIGKILL") as caught:
            play_alone(agent, position, 2)
        assert caught.value.reason is EngineFault.CRASH


def test_a_flood_while_idle_is_detected() -> None:
    with brain("flood_when_idle") as agent:
        with pytest.raises(EngineError) as caught:
            play_alone(agent, Position.start(RULES), 200, pause_s=0.1)
        assert caught.value.reason is EngineFault.FLOOD


@pytest.mark.parametrize("is_crash", [False, True], ids=["after END", "after a crash"])
def test_children_die_with_their_engine(tmp_path: Path, is_crash: bool) -> None:
    log = tmp_path / "pipe.log"
    with brain("forks_children", log=log) as agent:
        position = play_alone(agent, Position.start(RULES), 1)
        (line,) = [line for line in log.read_text().splitlines() if "children" in line]
        children = [psutil.Process(int(number)) for number in line.split("children")[1].split()]
        assert len(children) == 3
        if is_crash:
            with pytest.raises(EngineError):
                play_alone(agent, position, 1)
    assert wait_until(lambda: not any(is_running(child) for child in children))


def test_an_engine_that_ignores_end_is_killed() -> None:
    agent = brain("ignores_end")
    play_alone(agent, Position.start(RULES), 2)
    assert agent.pid is not None
    process = psutil.Process(agent.pid)
    agent.close()
    assert not process.is_running()


def test_after_an_error_the_next_game_has_a_new_process() -> None:
    with brain("crash_at_move", 2) as agent:
        for _ in range(3):
            agent.new_game(RULES)
            with pytest.raises(EngineError):
                play_alone(agent, Position.start(RULES), 4)


def test_fifty_restarts_leave_no_descriptor_open() -> None:
    with brain("crash_at_move", 1) as agent:
        counts = []
        for _ in range(50):
            with pytest.raises(EngineError):
                agent.choose(Position.start(RULES), QUICK)
            counts.append(psutil.Process().num_fds() if os.name == "posix" else 0)
        assert counts[-1] == counts[0]


# -- unusual but correct engines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["random_mover", "garbage", "binary", "huge_line", "writes_stderr", "suggests", "no_restart", "ignores_end"]
)
def test_unusual_engines_can_play(name: str) -> None:
    with brain(name) as agent:
        position = play_alone(agent, Position.start(RULES), 4)
        agent.new_game(RULES)
        again = play_alone(agent, Position.start(RULES), 1)
    assert position.stones == 4
    assert again.stones == 1


def test_a_whole_game_between_two_engines() -> None:
    with brain("random_mover", 1) as black, brain("random_mover", 2, suspend=True) as white:
        position = Position.start(Ruleset(7, 7, 5))
        while not position.is_over:
            agent = white if position.stones % 2 else black
            position = position.play(agent.choose(position, QUICK).move)
    assert position.is_over


def test_an_idle_engine_is_suspended() -> None:
    with brain("random_mover", suspend=True) as agent:
        play_alone(agent, Position.start(RULES), 1)
        assert agent.pid is not None
        process = psutil.Process(agent.pid)
        assert wait_until(lambda: process.status() == psutil.STATUS_STOPPED)


# -- what is sent ------------------------------------------------------------------------------------------------------


def sent_lines(log: Path) -> list[str]:
    return [line.split(" -> ")[1] for line in log.read_text().splitlines() if " -> " in line]


def test_the_conversation_of_a_game(tmp_path: Path) -> None:
    log = tmp_path / "pipe.log"
    rules = Ruleset.parse("15x15:5:renju")
    with brain("scripted", "OK", "7,6", "8,8", "OK", "7,7", log=log, memory_mb=350) as agent:
        agent.new_game(rules)
        position = Position.start(rules).play("h8")
        position = position.play(agent.choose(position, Limits(time_ms=1000, clock_ms=60_000)).move).play("a15")
        agent.choose(position, Limits(time_ms=1000, clock_ms=59_000, nodes=500, depth=7, threads=2))
        agent.new_game(rules)
        agent.choose(Position.start(rules), Limits(time_ms=500))
    assert sent_lines(log) == [
        "START 15",
        "INFO rule 4",
        "INFO game_type 1",
        "INFO max_memory 367001600",
        "INFO time_left 60000",
        "INFO timeout_match 60000",
        "INFO timeout_turn 1000",
        "TURN 7,7",
        "INFO time_left 59000",
        "INFO max_node 500",
        "INFO max_depth 7",
        "INFO thread_num 2",
        "TURN 0,0",
        "RESTART",
        "INFO rule 4",
        "INFO game_type 1",
        "INFO max_memory 367001600",
        "INFO time_left 2147483647",
        "INFO timeout_match 0",
        "INFO timeout_turn 500",
        "INFO max_node 0",
        "INFO max_depth 99",
        "INFO thread_num 1",
        "BEGIN",
        "END",
    ]


def test_the_increment_is_sent_if_there_is_one(tmp_path: Path) -> None:
    log = tmp_path / "pipe.log"
    with brain("scripted", "OK", "7,6", "8,8", log=log) as agent:
        position = Position.start(RULES).play("h8")
        position = position.play(agent.choose(position, Limits(clock_ms=60_000, increment_ms=500)).move).play("a15")
        agent.choose(position, Limits(clock_ms=50_000, increment_ms=500))
    lines = sent_lines(log)
    assert lines.count("INFO time_increment 500") == 1
    assert lines.index("INFO time_left 60000") < lines.index("INFO time_increment 500") < lines.index("TURN 7,7")


def test_a_position_that_does_not_continue_the_last_one_is_sent_as_a_board(tmp_path: Path) -> None:
    log = tmp_path / "pipe.log"
    with brain("scripted", "OK", "0,0", "1,0", "2,0", log=log) as agent:
        agent.choose(Position.from_moves(RULES, "h8h9"), QUICK)
        agent.choose(Position.from_moves(RULES, "h8h9a15"), QUICK)
        agent.choose(Position.from_stones(RULES, black=["h8", "c3"], white=["h9"], to_move="black"), QUICK)
    blocks = " ".join(line for line in sent_lines(log) if not line.startswith("INFO"))
    assert blocks == "START 15 BOARD 7,7,1 7,6,2 DONE BOARD 7,7,2 7,6,1 0,0,2 DONE BOARD 2,12,1 7,6,2 7,7,1 DONE END"


def test_rectangular_boards() -> None:
    with brain("random_mover") as agent:
        position = play_alone(agent, Position.start(Ruleset(9, 6)), 6)
    assert position.stones == 6


def test_another_board_size_starts_a_new_process(tmp_path: Path) -> None:
    log = tmp_path / "pipe.log"
    with brain("random_mover", log=log) as agent:
        play_alone(agent, Position.start(RULES), 1)
        play_alone(agent, Position.start(Ruleset(9, 9)), 1)
    assert [line for line in sent_lines(log) if "START" in line or line == "END"] == [
        "START 15",
        "END",
        "START 9",
        "END",
    ]


def test_stop_is_sent_once(tmp_path: Path) -> None:
    log = tmp_path / "pipe.log"
    agent = brain("scripted", "OK", "-", log=log, tolerance_ms=100)
    position = Position.start(RULES)
    agent.new_game(RULES)
    search = agent.start(position, Limits(time_ms=1000))
    timers = [threading.Timer(0.3, search.stop) for _ in range(2)]
    for timer in timers:
        timer.start()
    with pytest.raises(EngineError):
        search.result()
    for timer in timers:
        timer.join()
    search.stop()  # nothing is pending: nothing is sent
    agent.close()
    lines = sent_lines(log)
    assert lines[lines.index("BEGIN") :] == ["BEGIN", "INFO timeout_turn 0", "YXSTOP"]


def test_a_stop_before_the_question_follows_it(tmp_path: Path) -> None:
    log = tmp_path / "pipe.log"
    with brain("scripted", "OK", "7,7", log=log) as agent:
        search = agent.start(Position.start(RULES), QUICK)
        search.stop()
        assert search.result().move == "h8"
    lines = sent_lines(log)
    assert lines[lines.index("BEGIN") :] == ["BEGIN", "INFO timeout_turn 0", "YXSTOP", "END"]


def test_about() -> None:
    with brain("random_mover") as agent:
        assert agent.about() is None
        agent.new_game(RULES)
        about = agent.about()
    assert about is not None
    assert about.name == "Mock"


# -- swap2 and analysis ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stones", "answer", "option", "points"),
    [
        ("", "0,0 1,1 2,2", None, ("a15", "b14", "c13")),
        ("h8h9i9", "SWAP", Option.TAKE_BLACK, ()),
        ("h8h9i9", "0,0", Option.TAKE_WHITE, ("a15",)),
        ("h8h9i9", "0,0 1,1", Option.PLACE_TWO, ("a15", "b14")),
        ("h8h9i9a1b1", "swap", Option.TAKE_BLACK, ()),
        ("h8h9i9a1b1", "0,0", Option.TAKE_WHITE, ("a15",)),
    ],
)
def test_swap2_answers(stones: str, answer: str, option: Option | None, points: tuple[str, ...]) -> None:
    with brain("scripted", "OK", answer) as agent:
        given = agent.answer_swap2(RULES, Position.from_moves(RULES, stones).moves, QUICK)
    assert (given.option, given.points) == (option, points)


@pytest.mark.parametrize(
    ("stones", "answer", "reason"),
    [
        ("", "0,0 1,1", EngineFault.PROTOCOL),
        ("", "0,0 1,1 0,0", EngineFault.ILLEGAL),
        ("h8h9i9", "7,7", EngineFault.ILLEGAL),
        ("h8h9i9", "99,0", EngineFault.ILLEGAL),
        ("h8h9i9", "0,0 1,1 2,2", EngineFault.PROTOCOL),
        ("h8h9i9a1b1", "0,0 1,1", EngineFault.PROTOCOL),
    ],
)
def test_wrong_swap2_answers(stones: str, answer: str, reason: EngineFault) -> None:
    with brain("scripted", "OK", answer) as agent:
        with pytest.raises(EngineError) as caught:
            agent.answer_swap2(RULES, Position.from_moves(RULES, stones).moves, QUICK)
        assert caught.value.reason is reason


def test_analysis() -> None:
    with brain("analyst") as agent:
        snapshots = list(agent.analyse(Position.from_moves(RULES, "h8h9"), QUICK, 3))
        after = agent.choose(Position.from_moves(RULES, "h8h9"), QUICK)
    assert [snapshot.depth for snapshot in snapshots] == [1, 2, 3]
    last = snapshots[-1]
    # A forced win that the engine reports is an opinion, not a proof.
    assert [line.proof for line in last.lines] == [None, None, None]
    assert [line.reason for line in last.lines] == ["the engine reports +M5", "", "the engine reports -M4"]
    assert 0.999 < last.lines[0].value_to_move < 1.0
    assert 0 < last.lines[1].value_to_move < 0.2
    assert -1.0 < last.lines[2].value_to_move < -0.999
    assert last.nodes == 300
    assert after.move not in ("h8", "h9")


def test_an_engine_can_play_after_an_aborted_analysis() -> None:
    with brain("analyst") as agent:
        position = Position.from_moves(RULES, "h8h9")
        for snapshot in agent.analyse(position, Limits(time_ms=60_000), 4):
            if snapshot.depth > 3:
                break
        pid = agent.pid
        assert position.is_legal(agent.choose(position, QUICK).move)
        assert agent.pid == pid


def test_engines_that_cannot_analyse_raise_an_error() -> None:
    with brain("random_mover") as agent:
        position = Position.from_moves(RULES, "h8h9")
        with pytest.raises(AgentError, match="does not support analysis"):
            list(agent.analyse(position, QUICK, 2))
        assert position.is_legal(agent.choose(position, QUICK).move)


# -- agent specifications ----------------------------------------------------------------------------------------------


def test_rulesets_the_protocol_cannot_express() -> None:
    with brain("random_mover") as agent:
        assert agent.supports(RULES)
        assert not agent.supports(Ruleset(3, 3, 3))
        with pytest.raises(RulesetError, match="3x3:3"):
            agent.new_game(Ruleset(3, 3, 3))


def test_a_finished_game_is_rejected() -> None:
    over = Position.from_moves(RULES, "a1a15b1b15c1c15d1d15e1")
    with brain("random_mover") as agent, pytest.raises(GameOverError):
        agent.choose(over, QUICK)


@pytest.mark.parametrize(
    "text",
    [
        "brain",
        'brain:cmd=""',
        "brain:cmd=x,tolerance_ms=0",
        "brain:cmd=x,memory_mb=0",
        "brain:cmd=x 'y",
        "brain:cmd=x,z=1",
    ],
)
def test_invalid_agent_texts_are_rejected(text: str) -> None:
    with pytest.raises(AgentNameError):
        make_agent(text)


def test_command_lines_are_split_as_in_a_shell() -> None:
    assert split_command("'my engine' --deep \"a b\"") == ("my engine", "--deep", "a b")


def write_program(path: Path) -> None:
    path.write_text(f"#!/bin/sh\nexec {engine_command('random_mover')}\n")
    path.chmod(0o755)


def test_a_relative_program_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path / "pbrain-mock")
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with make_agent(f"brain:cmd=./pbrain-mock,cwd={elsewhere},start_ms=20000,tolerance_ms=20000") as agent:
        agent.choose(Position.start(RULES), QUICK)


def test_a_program_of_the_environment_is_found_without_activating_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path / "pbrain-mock")
    settings = "cmd=pbrain-mock,start_ms=20000,tolerance_ms=20000"
    with make_agent(f"brain:{settings}") as agent, pytest.raises(AgentError, match="pbrain-mock"):
        agent.choose(Position.start(RULES), QUICK)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with make_agent(f"brain:{settings}") as agent:
        agent.choose(Position.start(RULES), QUICK)
