"""The brain's commands, tested in this process with players made for the tests."""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from tengen.agents.alphabeta import AlphaBetaAgent
from tengen.agents.registry import make_agent
from tengen.core.contracts import Agent, Colour, Decision, Limits, Report, Rule, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError
from tengen.protocols.piskvork.settings import IMMEDIATE_MS, MAX_TABLE_BYTES, RESERVE_MS, Settings
from tests.protocols.harness import (
    PATIENCE_S,
    Analyst,
    Cheating,
    Failing,
    FirstPoint,
    LocalBrain,
    Obedient,
    Slow,
    Stubborn,
    Valuing,
)


def start(make_agent: Callable[[], Agent] = FirstPoint, size: int = 15, turn_ms: int = 60_000) -> LocalBrain:
    brain = LocalBrain(make_agent)
    assert brain.ask(f"START {size}") == "OK"
    brain.send(f"INFO timeout_turn {turn_ms}")
    return brain


# -- board and moves ---------------------------------------------------------------------------------------------------


def test_rows_are_flipped() -> None:
    # The first legal point is a1, the lower left corner; the protocol counts rows from the top.
    with start() as brain:
        assert brain.ask("BEGIN") == "0,14"


def test_a_game_by_turns() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        assert brain.ask("TURN 7,7") == "0,14"
        assert brain.ask("TURN 8,8") == "1,14"
        assert brain.ask("TAKEBACK 1,14") == "OK"
        assert brain.ask("TAKEBACK 8,8") == "OK"
        assert brain.ask("TURN 0,13") == "1,14"
    assert [str(move) for move in agent.positions[-1].moves] == ["h8", "a1", "a2"]
    assert agent.positions[-1].to_move is Colour.WHITE
    assert agent.is_closed


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\n\n", "  \r\n"])
@pytest.mark.parametrize("case", [str.upper, str.lower])
def test_line_ends_and_cases(ending: str, case: Callable[[str], str]) -> None:
    with LocalBrain(FirstPoint) as brain:
        commands = ["start 15", "info timeout_turn 60000", "board", "7,7,1", "7,8,2", "done"]
        brain.send_bytes("".join(case(line) + ending for line in commands).encode())
        assert brain.answer() == "OK"
        assert brain.answer() == "0,14"


@pytest.mark.parametrize(
    "block",
    [
        "BOARD\n7,7,2\n7,8,1\n8,8,2\nDONE",
        "BOARD 7,7,2 7,8,1 8,8,2 DONE",
        "board 7,7,2\n7,8,1 8,8,2\ndone",
        "BOARD\n7, 7, 2\n7 ,8 ,1\n 8,8,2\nDONE",
    ],
)
def test_blocks_in_lines_or_words(block: str) -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        assert brain.ask(block) == "0,14"
    assert [str(move) for move in agent.positions[0].moves] == ["h8", "h7", "i7"]


def test_a_command_may_follow_done_on_the_same_line() -> None:
    with start() as brain:
        assert brain.ask("YXBOARD 0,14,1 DONE TURN 7,7") == "1,14"


def test_an_empty_board_means_begin() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        assert brain.ask("BOARD\nDONE") == "0,14"
    assert agent.positions[0].to_move is Colour.BLACK


@pytest.mark.parametrize(
    ("rows", "rule", "to_move", "black", "white"),
    [
        # Alternating: the owner of the first stone is black.
        ("7,7,1 7,8,2", 0, "black", "h8", "h7"),
        ("7,7,2 7,8,1 8,8,2", 0, "white", "h8 i7", "h7"),
        # Not alternating: the brain is black if it has at least as many stones as the opponent, otherwise white.
        ("7,7,2 8,8,2 7,8,1 8,9,1", 0, "black", "h7 i6", "h8 i7"),
        ("7,7,2 8,8,2 7,8,1", 0, "white", "h8 i7", "h7"),
        ("7,7,2 8,8,2", 0, "white", "h8 i7", ""),
        ("7,7,1", 0, "black", "h8", ""),
        # In renju the stones come in the order of the game, so the first one is black even after a pass.
        ("7,7,2 7,8,1", 4, "white", "h8", "h7"),
        ("7,7,1 7,8,2", 4, "black", "h8", "h7"),
    ],
)
def test_colours_are_derived(rows: str, rule: int, to_move: str, black: str, white: str) -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.send(f"INFO rule {rule}")
        brain.ask(f"BOARD {rows} DONE")
    (position,) = agent.positions
    assert position.to_move == to_move
    assert sorted(position.points_of("black")) == sorted(black.split())
    assert sorted(position.points_of("white")) == sorted(white.split())


def test_invalid_rows_are_skipped() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.send("BOARD\n7,7,1\nnonsense\n7,7,2\n99,0,1\n7,8,2\n1,1\n1,1,9\nINFO rule 4\nDONE")
        lines = brain.lines_until_answer()
    assert lines[-1] == "0,14"
    assert lines[0].startswith("DEBUG 8 rows")
    assert agent.positions[0].stones == 2


def test_a_new_game_abandons_an_unfinished_block() -> None:
    with start() as brain:
        assert brain.ask("BOARD\n7,7,1\nSTART 15") == "ERROR BOARD without DONE"
        assert brain.answer() == "OK"
        assert brain.ask("BEGIN") == "0,14"


def test_blocked_squares_are_not_played() -> None:
    with start() as brain:
        brain.send("BOARD 0,14,3 7,7,1 7,8,2 DONE")
        lines = brain.lines_until_answer()
    assert lines[-1] != "0,14"
    assert any("not a legal move" in line for line in lines)


def test_rectangles() -> None:
    agent = FirstPoint()
    with LocalBrain(lambda: agent) as brain:
        assert brain.ask("RECTSTART 9,6") == "OK"
        assert brain.ask("BEGIN") == "0,5"
    assert agent.positions[0].ruleset == Ruleset(9, 6)


@pytest.mark.parametrize(
    "command", ["START 4", "START 23", "START", "START x", "START -15", "RECTSTART 15", "RECTSTART 4,9"]
)
def test_unsupported_sizes_are_rejected_with_a_supported_one(command: str) -> None:
    with LocalBrain(FirstPoint) as brain:
        answer = brain.ask(command)
        assert answer.startswith("ERROR")
        assert "20" in answer  # Piskvork looks for it


@pytest.mark.parametrize(
    "command",
    ["TURN 15,0", "TURN 7", "TURN", "TURN a,b", "TURN 0,14 1,1", "TURN 0,14", "TAKEBACK 5,5", "TAKEBACK", "PLAY 0,14"],
)
def test_invalid_squares_are_errors_and_change_nothing(command: str) -> None:
    with start() as brain:
        assert brain.ask("BEGIN") == "0,14"
        assert brain.ask(command).startswith("ERROR")
        assert brain.ask("TURN 7,7") == "1,14"


@pytest.mark.parametrize(
    "command", ["BEGIN", "TURN 7,7", "BOARD DONE", "RESTART", "TAKEBACK 1,1", "YXNBEST 1", "SWAP2BOARD DONE"]
)
def test_commands_without_a_board_ask_for_start(command: str) -> None:
    with LocalBrain(FirstPoint) as brain:
        assert "START" in brain.ask(command)


def test_play_enters_an_own_stone() -> None:
    with start() as brain:
        assert brain.ask("PLAY 7,7") == "7,7"
        assert brain.ask("TURN 7,7").startswith("ERROR")


def test_unknown_commands() -> None:
    with start() as brain:
        assert brain.ask("FOO bar") == "UNKNOWN command FOO"
        assert brain.ask("\x00\x01\x02").startswith("UNKNOWN")
        assert brain.ask("BEGIN") == "0,14"


def test_a_full_board_is_an_error() -> None:
    rows = " ".join(f"{x},{y},{1 + (x + 2 * y) // 2 % 2}" for x in range(5) for y in range(5))
    with start(size=5) as brain:
        assert brain.ask(f"BOARD {rows} DONE").startswith("ERROR")


def test_a_manager_that_continues_after_a_five_gets_a_move() -> None:
    with start() as brain:
        rows = "1,1,2 5,5,1 1,2,2 6,6,1 1,3,2 7,7,1 1,4,2 9,9,1 1,5,2"
        assert brain.ask(f"BOARD {rows} DONE").count(",") == 1
        assert brain.ask("TURN 1,6").count(",") == 1


# -- INFO --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "rule"),
    [
        (0, Rule.FREESTYLE),
        (1, Rule.STANDARD),
        (2, Rule.RENJU),
        (4, Rule.RENJU),
        (8, Rule.CARO),
        (9, Rule.CARO_EXACT),
    ],
)
def test_rules(number: int, rule: Rule) -> None:
    agent = FirstPoint()
    with LocalBrain(lambda: agent) as brain:
        brain.send(f"INFO rule {number}")  # may come before START
        assert brain.ask("START 15") == "OK"
        brain.ask("BEGIN")
    assert agent.positions[0].ruleset == Ruleset(15, 15, 5, rule)


def test_an_unknown_rule_is_reported_when_a_move_is_requested() -> None:
    with start() as brain:
        brain.send("INFO rule 3")
        assert "rule 3" in brain.ask("BEGIN")
        brain.send("INFO rule 1")
        assert brain.ask("BEGIN") == "0,14"


def test_limits_reach_the_player() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        for line in ("timeout_turn 50000", "time_left 40000", "max_depth 7", "max_node 1234", "thread_num 2"):
            brain.send(f"INFO {line}")
        brain.send(
            "INFO max_memory 367001600\nINFO hash_size 1024\nINFO nonsense 7\nINFO max_node many\nINFO folder C:\\a b"
        )
        brain.ask("BEGIN")
        brain.send("INFO max_node 18446744073709551615\nINFO max_depth 0\nINFO time_left 2147483647\nINFO hash_size 0")
        brain.ask("TURN 7,7")
        brain.send("INFO timeout_turn -1")
        brain.ask("TURN 8,8")
    first, second, third = agent.limits
    assert first.time_ms is not None
    assert 30_000 < first.time_ms <= 39_940
    assert first.clock_ms is not None
    assert 30_000 < first.clock_ms <= 39_940
    assert (first.nodes, first.depth, first.threads) == (1234, 7, 2)
    assert second.time_ms is not None
    assert 40_000 < second.time_ms <= 49_940
    assert (second.clock_ms, second.nodes, second.depth) == (None, None, None)
    assert (third.time_ms, third.clock_ms) == (None, None)
    assert agent.bounds[-1] == (367_001_600, 2)


class Warm(FirstPoint):
    """Records what it is told before its first search."""

    def __init__(self) -> None:
        super().__init__()
        self.warmed: queue.SimpleQueue[list[Ruleset]] = queue.SimpleQueue()

    def warm_up(self, rulesets: Sequence[Ruleset]) -> None:
        self.warmed.put(list(rulesets))


@pytest.mark.parametrize("size", [5, 15, 22])
def test_the_player_is_ready_when_start_is_answered(size: int) -> None:
    agent = Warm()
    with LocalBrain(lambda: agent) as brain:
        assert brain.ask(f"START {size}") == "OK"
        assert agent.games == [(Ruleset(size, size), 1)]
        assert agent.warmed.get_nowait() == [Ruleset(size, size, 5, rule) for rule in Rule]
        brain.send("INFO rule 4")
        assert len(agent.warmed.get(timeout=PATIENCE_S)) == len(Rule)
        assert agent.games[1:] == [(Ruleset(size, size, 5, Rule.RENJU), 1)]
        assert brain.ask("RESTART") == "OK"
        assert agent.games[2:] == [(Ruleset(size, size, 5, Rule.RENJU), 2)]


def test_start_does_not_wait_forever_for_a_player() -> None:
    release = threading.Event()

    def make() -> Agent:
        release.wait(PATIENCE_S)
        return FirstPoint()

    with LocalBrain(make) as brain:
        assert brain.ask("START 15") == "OK"
        release.set()
        assert "," in brain.ask("BEGIN")


@pytest.mark.parametrize(
    ("info", "megabytes"),
    [
        ({"timeout_turn": 50}, 64),  # a short search needs no larger table
        ({"timeout_turn": 1000}, 122),
        ({"timeout_turn": 30_000}, 270),
        ({"timeout_turn": 30_000, "thread_num": 3}, 262),
        ({"timeout_turn": 30_000, "time_left": 12_000}, 73),
        ({"timeout_turn": 0, "timeout_match": 0}, 64),
        ({"timeout_turn": -1}, 270),
    ],
)
def test_the_table_uses_the_memory_that_the_searches_can_fill(info: dict[str, int], megabytes: int) -> None:
    agent = make_agent("alphabeta")
    assert isinstance(agent, AlphaBetaAgent)
    with start(lambda: agent) as brain:
        brain.send("INFO max_memory 367001600\nINFO max_node 50")
        for key, value in info.items():
            brain.send(f"INFO {key} {value}")
        assert "," in brain.ask("BEGIN")
        assert agent._engine.table_mb == megabytes
        brain.send("INFO timeout_turn 3000\nINFO time_left 900000")
        assert "," in brain.ask("TURN 0,0")
        assert agent._engine.table_mb == megabytes  # resizing would clear the table


def test_a_table_size_reaches_players_that_have_a_table() -> None:
    agent = Analyst()
    with start(lambda: agent) as brain:
        brain.send("INFO hash_size 1024\nINFO max_memory 367001600")
        brain.ask("BEGIN")
        assert agent.table_bytes == 1_048_576
        brain.send("INFO hash_size 2097152")  # more than max_memory
        brain.ask("TURN 7,7")
    assert agent.table_bytes == 1_048_576


@pytest.mark.parametrize(
    ("info", "megabytes"),
    [
        ("max_memory 200000000\nINFO hash_size 190000", 110),  # the brain itself needs the rest
        ("hash_size 65536", 64),
        ("max_memory 1000000000\nINFO hash_size 32768", 32),
    ],
)
def test_a_table_leaves_room_for_the_brain(info: str, megabytes: int) -> None:
    agent = make_agent("alphabeta:hash-mb=1")
    assert isinstance(agent, AlphaBetaAgent)
    with start(lambda: agent) as brain:
        brain.send(f"INFO max_node 100\nINFO {info}")
        brain.ask("BEGIN")
        assert agent._engine.table_mb == megabytes


def test_a_table_larger_than_memory_does_not_end_the_session() -> None:
    with start(lambda: make_agent("alphabeta:hash-mb=1")) as brain:
        brain.send("INFO max_node 100\nINFO hash_size 4000000000000000")
        assert MAX_TABLE_BYTES < 1024 * 4000000000000000
        assert "," in brain.ask("INFO hash_size 1024\nBEGIN")


def test_a_player_that_is_late_plays_its_best_move_so_far() -> None:
    agent = Slow()
    with start(lambda: agent, turn_ms=200) as brain:
        brain.send("BEGIN")
        assert brain.line() == "DEBUG the player did not answer in time"
        assert "3,10" in brain.line()
        agent.release.set()


def test_a_player_keeps_its_own_threads_until_the_manager_sets_them() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.ask("BEGIN")
        brain.send("INFO thread_num 3")
        brain.ask("TURN 7,7")
    assert agent.bounds == [(None, None), (None, 3)]


def test_yixin_boards_values_for_unlimited_time() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.send("INFO timeout_turn 2000000\nINFO timeout_match 100000000\nINFO time_left 100000000")
        brain.ask("BEGIN")
    assert agent.limits[0].time_ms is None


def test_the_increment_reaches_the_player() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.send("INFO time_increment 700\nINFO timeout_match 60000\nINFO time_left 50000")
        brain.ask("BEGIN")
        brain.send("INFO time_increment -1")
        brain.ask("TURN 7,7")
        brain.send("INFO time_increment 700\nINFO time_left 2147483647")  # no clock: nothing to add to
        brain.ask("TURN 8,8")
    assert [limits.increment_ms for limits in agent.limits] == [700, 0, 0]


def test_the_brain_counts_its_own_clock_until_it_is_told_the_time_left() -> None:
    settings = Settings()
    settings.store("timeout_turn", "100000")
    settings.store("timeout_match", "60000")
    settings.store("time_increment", "500")

    def clock_ms() -> int | None:
        limits = settings.budget(0.0).limits(0.0, nodes=None, depth=None, threads=None)
        return None if limits.clock_ms is None else limits.clock_ms + RESERVE_MS

    settings.start_clock(used_ms=2000)  # the start of the program
    assert clock_ms() == 58_000
    settings.count_move(10_000)
    settings.count_move(3000)
    assert clock_ms() == 46_000  # with two increments
    settings.store("time_left", "46500")
    assert clock_ms() == 46_500
    settings.count_move(1500)
    assert clock_ms() == 45_500
    settings.store("time_left", "46000")
    assert clock_ms() == 46_000
    settings.count_move(50_000)
    budget = settings.budget(5.0)
    assert budget.answer_at - 5.0 <= IMMEDIATE_MS / 1000  # the clock has run out


def test_delays_that_only_the_manager_sees_are_measured_and_reserved() -> None:
    def clock_and_increment() -> tuple[int | None, int]:
        limits = settings.budget(0.0).limits(0.0, nodes=None, depth=None, threads=None)
        return limits.clock_ms, limits.increment_ms

    settings = Settings()
    for key, value in (("timeout_turn", 100_000), ("time_increment", 100), ("time_left", 60_000)):
        settings.store(key, str(value))
    settings.store("time_left", "50000")  # not after a move: no delay
    assert clock_and_increment() == (50_000 - RESERVE_MS, 100)
    settings.count_move(1000)  # the manager should have 49100 ms left
    settings.store("time_left", "49040")
    assert clock_and_increment() == (49_040 - RESERVE_MS - 300, 70)  # half of the 60 ms, as the average starts at 0
    settings.count_move(1000)
    settings.store("time_left", "48140")  # no delay
    assert clock_and_increment() == (48_140 - RESERVE_MS - 150, 85)
    for left in range(40_000, 10_000, -5000):  # delays of seconds
        settings.count_move(1000)
        settings.store("time_left", str(left))
    clock_ms, increment_ms = clock_and_increment()
    assert clock_ms is not None
    assert clock_ms >= 0.7 * 15_000 - RESERVE_MS - 1
    assert increment_ms == 0
    settings.start_clock()  # a new game
    settings.store("time_left", "1000")
    assert clock_and_increment()[0] == 1000 - RESERVE_MS - 300


def test_moves_of_a_game_count_on_the_clock_and_analyses_do_not() -> None:
    def used_ms() -> float:
        return brain.settings._used_ms

    with start() as brain:
        brain.send("INFO timeout_match 50000")
        before = used_ms()
        brain.ask("YXBOARD DONE\nYXNBEST 1")
        assert used_ms() == before > 0  # the start of the program
        brain.ask("BOARD DONE")
        assert used_ms() > before
        brain.send("INFO time_increment 30000")
        brain.ask("TURN 7,7")
        assert used_ms() < before
        brain.ask("START 15")
        assert used_ms() == 0


def test_a_clock_that_ran_out_is_answered_immediately() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.send("INFO time_left -500")
        brain.ask("BEGIN")
    assert agent.limits[0].time_ms == 0


def test_the_player_is_told_about_each_new_game() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.ask("BEGIN")
        brain.ask("TURN 7,7")
        assert brain.ask("RESTART") == "OK"
        brain.ask("BEGIN")
        brain.send("INFO rule 1")
        brain.ask("TURN 7,7")
        brain.send("YXHASHCLEAR")
        brain.ask("TURN 8,8")
    assert [seed for _, seed in agent.games] == [1, 2, 2, 3]
    assert [ruleset.rule for ruleset, _ in agent.games] == ["freestyle", "freestyle", "standard", "standard"]


# -- failing and late players ------------------------------------------------------------------------------------------


def test_a_player_that_fails_is_replaced_by_a_legal_move() -> None:
    with start(Failing) as brain:
        brain.send("TURN 7,7")
        lines = brain.lines_until_answer()
        (debug,) = lines[:-1]
        assert re.fullmatch(
            r"DEBUG the player failed: line \d+ of harness.py: RuntimeError: out of ideas on two lines", debug
        )
        assert lines[-1] in {f"{x},{y}" for x in range(6, 9) for y in range(6, 9)}
        assert brain.ask("TURN 0,0").count(",") == 1


def test_a_player_that_cannot_be_made_is_replaced_by_legal_moves() -> None:
    def no_player() -> Agent:
        raise AgentError("no model file")

    with start(no_player) as brain:
        for square in ("TURN 7,7", "TURN 0,0"):
            brain.send(square)
            lines = brain.lines_until_answer()
            assert "no model file" in lines[0]
            assert lines[-1].count(",") == 1


def test_a_player_that_cheats_is_replaced_by_a_legal_move() -> None:
    with start(Cheating) as brain:
        brain.send("TURN 7,7")
        lines = brain.lines_until_answer()
        assert "not a legal move" in lines[0]
        assert lines[-1] != "7,7"


def test_the_fallback_move_wins_or_blocks_and_is_never_a_foul() -> None:
    with start(Failing) as brain:
        assert brain.ask("BOARD 3,7,1 3,0,2 4,7,1 5,0,2 5,7,1 7,0,2 6,7,1 9,0,2 DONE") in ("2,7", "7,7")
        assert brain.ask("BOARD 3,7,2 3,0,1 4,7,2 5,0,1 5,7,2 7,0,1 6,7,2 2,7,1 9,0,2 DONE") == "7,7"
        brain.send("INFO rule 4")
        # Two open threes of black cross at 7,7, next to white's last stone.
        rows = "5,7,1 0,0,2 6,7,1 0,2,2 7,6,1 0,4,2 7,5,1 8,8,2"
        assert brain.ask(f"BOARD {rows} DONE") != "7,7"


def test_the_brain_does_not_wait_for_a_player_that_does_not_stop() -> None:
    agent = Stubborn()
    with start(lambda: agent, turn_ms=300) as brain:
        brain.send("TURN 7,7")
        lines = brain.lines_until_answer()
        assert lines[0] == "DEBUG the player did not answer in time"
        assert lines[-1].count(",") == 1
        brain.send("TURN 0,0")  # while the player is still busy with the last command
        assert brain.lines_until_answer()[0] == "DEBUG the player did not answer in time"
        agent.release.set()
        brain.send("INFO timeout_turn 60000")
        assert brain.ask("TURN 1,1") == "0,14"  # the player answers again


def test_a_turn_timeout_of_zero_is_answered_immediately() -> None:
    agent = Stubborn()
    with start(lambda: agent) as brain:
        brain.send("INFO timeout_turn 0")
        started = time.monotonic()
        assert brain.ask("BEGIN").count(",") == 1
        assert time.monotonic() - started < PATIENCE_S
        agent.release.set()


def test_an_unsupported_ruleset_is_an_error() -> None:
    class Choosy(FirstPoint):
        def supports(self, ruleset: Ruleset) -> bool:
            return ruleset.rule is not Rule.CARO

    with start(Choosy) as brain:
        brain.send("INFO rule 8")
        assert brain.ask("BEGIN") == "ERROR this player does not play 15x15:5:caro"
        brain.send("INFO rule 0")
        assert brain.ask("BEGIN") == "0,14"


def test_a_player_that_loads_slowly_does_not_delay_ok() -> None:
    gate = threading.Event()

    def make() -> Agent:
        gate.wait()
        return FirstPoint()

    with LocalBrain(make) as brain:
        assert brain.ask("START 15") == "OK"
        brain.send("INFO timeout_turn 200")
        brain.send("BEGIN")
        assert brain.lines_until_answer()[0] == "DEBUG the player did not answer in time"
        gate.set()
        brain.send("INFO timeout_turn 60000")
        assert brain.ask("TURN 7,0") == "0,14"


# -- commands while thinking -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", ["YXSTOP", "stop", "INFO timeout_turn 0"])
def test_stop_takes_effect_immediately_and_no_command_is_lost(stop: str) -> None:
    agent = Obedient()
    with start(lambda: agent, turn_ms=3_600_000) as brain:
        brain.send("TURN 7,7")
        assert agent.is_thinking.wait(PATIENCE_S)
        brain.send(f"INFO max_depth 5\n{stop}\nTAKEBACK 0,14\nABOUT\nINFO timeout_turn 60000")
        assert brain.answer() == "0,14"
        assert brain.answer() == "OK"
        assert brain.answer().startswith('name="Test"')
        brain.send("TURN 0,14")
        assert agent.is_thinking.wait(PATIENCE_S)
        brain.send("YXSTOP")
        assert brain.answer() == "1,14"
    assert agent.limits[-1].depth == 5


def test_a_stop_right_after_the_command_takes_effect() -> None:
    with start(Obedient, turn_ms=3_600_000) as brain:
        assert brain.ask("TURN 7,7\nYXSTOP") == "0,14"


def test_a_stop_does_not_affect_later_commands() -> None:
    agent = Obedient()
    with start(lambda: agent, turn_ms=60_000) as brain:
        brain.send("YXSTOP\nINFO timeout_turn 400\nTURN 7,7")
        brain.answer()
    assert agent.limits[0].time_ms is not None
    assert agent.limits[0].time_ms > 0


def test_commands_sent_in_advance_are_all_answered() -> None:
    with start() as brain:
        brain.send("\n".join(f"TURN {x},0" for x in range(4)))
        assert [brain.answer() for _ in range(4)] == ["0,14", "1,14", "2,14", "3,14"]


@pytest.mark.parametrize("ending", ["END", "end", "\nBOARD\n1,1,1\nEND", ""])
def test_the_end_while_thinking_is_quick_and_silent(ending: str) -> None:
    agent = Stubborn()
    brain = start(lambda: agent, turn_ms=3_600_000)
    brain.send("TURN 7,7")
    assert agent.is_thinking.wait(PATIENCE_S)
    brain.send("ABOUT")
    assert brain.end(ending) == []
    agent.release.set()


def test_quick_commands_before_the_end_are_answered() -> None:
    brain = LocalBrain(FirstPoint)
    brain.send("ABOUT\nSTART 15")
    assert brain.end() == ['name="Test", version="1"', "OK"]


def test_a_last_line_without_a_line_end_is_read() -> None:
    brain = LocalBrain(FirstPoint)
    brain.send_bytes(b"START 15\nABOUT")
    assert brain.end("") == ["OK", 'name="Test", version="1"']


def test_the_brain_exits_quietly_if_the_manager_has_gone() -> None:
    written = threading.Event()

    def write(data: bytes) -> None:
        written.set()
        raise BrokenPipeError

    from tengen.protocols.piskvork.brain import BrainServer
    from tengen.protocols.piskvork.notation import About

    to_brain, from_test = os.pipe()
    server = BrainServer(FirstPoint, lambda: os.read(to_brain, 100), write, about=About("Test"))
    served = threading.Thread(target=server.run)
    served.start()
    os.write(from_test, b"ABOUT\nABOUT\n")
    assert written.wait(PATIENCE_S)
    os.close(from_test)
    served.join(PATIENCE_S)
    os.close(to_brain)
    assert not served.is_alive()


# -- pondering ---------------------------------------------------------------------------------------------------------


class Ponderer(FirstPoint):
    """Answers at once if there is little time, and otherwise thinks until `stop`. Records what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: queue.SimpleQueue[Position] = queue.SimpleQueue()
        self.stopped: queue.SimpleQueue[Position] = queue.SimpleQueue()

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        def run(stop: StopSignal, report: Report) -> Decision:
            if limits.time_ms is not None and limits.time_ms > 3_600_000:
                is_stopped = threading.Event()
                with stop.calling(is_stopped.set):
                    self.asked.put(position)
                    is_stopped.wait(PATIENCE_S)
                self.stopped.put(position)
            return self.choose(position, limits)

        return Search(run)


def test_pondering_searches_the_opponents_position_until_the_next_command() -> None:
    agent = Ponderer()
    with start(lambda: agent) as brain:
        brain.send("INFO pondering 1")
        assert brain.ask("TURN 7,7") == "0,14"
        assert [str(move) for move in agent.asked.get(timeout=PATIENCE_S).moves] == ["h8", "a1"]
        assert agent.stopped.empty()
        brain.send("INFO time_left 50000")
        assert [str(move) for move in agent.stopped.get(timeout=PATIENCE_S).moves] == ["h8", "a1"]
        assert brain.ask("TURN 8,7") == "1,14"
        assert agent.asked.get(timeout=PATIENCE_S).stones == 4
        brain.send("INFO pondering 0")
        assert brain.ask("TURN 9,7") == "2,14"
    assert agent.asked.empty()
    assert len(agent.games) == 1  # the tables of the player are kept


def test_pondering_is_off_by_default() -> None:
    agent = Ponderer()
    with start(lambda: agent) as brain:
        brain.ask("TURN 7,7")
        brain.ask("TURN 8,7")
    assert agent.asked.empty()


@pytest.mark.parametrize("command", ["ABOUT", "START 15", "TAKEBACK 0,14", "FOO", "YXSHOWINFO", "BOARD 3,3,2 DONE"])
def test_every_command_ends_pondering(command: str) -> None:
    agent = Ponderer()
    with start(lambda: agent) as brain:
        brain.send("INFO pondering 1")
        brain.ask("TURN 7,7")
        agent.asked.get(timeout=PATIENCE_S)
        brain.send(command)
        assert agent.stopped.get(timeout=PATIENCE_S).stones == 2


@pytest.mark.parametrize("ending", ["END", ""])
def test_the_end_stops_pondering_silently(ending: str) -> None:
    agent = Ponderer()
    brain = start(lambda: agent)
    brain.send("INFO pondering 1")
    brain.ask("TURN 7,7")
    agent.asked.get(timeout=PATIENCE_S)
    assert brain.end(ending) == []
    assert agent.stopped.get(timeout=PATIENCE_S).stones == 2


def test_commands_sent_in_advance_leave_no_time_to_ponder() -> None:
    agent = Ponderer()
    with start(lambda: agent) as brain:
        brain.send("INFO pondering 1\n" + "\n".join(f"TURN {x},0" for x in range(4)))
        assert [brain.answer() for _ in range(4)] == ["0,14", "1,14", "2,14", "3,14"]
        assert agent.asked.get(timeout=PATIENCE_S).stones == 8
    assert agent.stopped.qsize() == 1


def test_a_player_that_does_not_stop_pondering_does_not_delay_the_answer() -> None:
    class Absorbed(Stubborn):
        def choose(self, position: Position, limits: Limits) -> Decision:
            if limits.time_ms is not None and limits.time_ms < 3_600_000:
                return FirstPoint.choose(self, position, limits)
            return super().choose(position, limits)

    agent = Absorbed()
    with start(lambda: agent) as brain:
        brain.send("INFO pondering 1\nINFO timeout_turn 200")
        assert brain.ask("TURN 7,7") == "0,14"
        assert agent.is_thinking.wait(PATIENCE_S)
        brain.send("TURN 8,7")
        lines = brain.lines_until_answer()
        assert lines[0] == "DEBUG the player did not answer in time"
        assert lines[-1].count(",") == 1
        agent.release.set()


def test_a_failure_while_pondering_is_ignored() -> None:
    class Nervous(FirstPoint):
        def choose(self, position: Position, limits: Limits) -> Decision:
            if position.stones % 2 == 0:
                raise RuntimeError("out of ideas")
            return super().choose(position, limits)

    with start(Nervous) as brain:
        brain.send("INFO pondering 1")
        assert [brain.ask(f"TURN {x},0") for x in range(3)] == ["0,14", "1,14", "2,14"]


def test_the_engine_ponders() -> None:
    with start(lambda: make_agent("alphabeta:hash-mb=4"), turn_ms=100) as brain:
        brain.send("INFO pondering 1")
        for square in ("7,7", "0,0", "14,0"):  # far from its answers
            brain.send(f"TURN {square}")
            while "," not in brain.line().split(" ")[0]:
                pass


# -- Yixin-Board -------------------------------------------------------------------------------------------------------


def test_show_info() -> None:
    with start() as brain:
        brain.send("YXSHOWINFO")
        assert brain.line() == "MESSAGE Test 1"
        assert brain.line() == f"MESSAGE INFO MAX_THREAD_NUM {os.cpu_count()}"
        name, _, power = brain.line().rpartition(" ")
        assert name == "MESSAGE INFO MAX_HASH_SIZE"
        assert 2 ** int(power) * 1024 <= MAX_TABLE_BYTES


def test_n_best_blocks() -> None:
    with start(Analyst) as brain:
        brain.send("YXBOARD 7,7,2 DONE\nYXNBEST 3")
        lines = brain.lines_until_answer()
        assert brain.ask("TURN 0,14").startswith("ERROR")  # the move was played on the brain's own board
    assert lines[-1] == "0,14"
    blocks = "\n".join(lines[:-1]).split("INFO PV DONE")
    assert len(blocks) == 3 * 3 + 1
    assert blocks[-2].split("\n")[1:-1] == [
        "INFO PV 2",
        "INFO NUMPV 3",
        "INFO DEPTH 3",
        "INFO SELDEPTH 5",
        "INFO NODES 10",
        "INFO TOTALNODES 300",
        "INFO TOTALTIME 1",
        "INFO SPEED 300000",
        "INFO EVAL -M4",
        "INFO WINRATE 0.650000",
        "INFO BESTLINE 2,14",
    ]


@pytest.mark.parametrize(
    ("detail", "has_info", "has_marks", "has_text"),
    [(0, False, False, True), (1, False, True, True), (2, True, False, False), (3, True, True, False)],
)
def test_show_detail(detail: int, has_info: bool, has_marks: bool, has_text: bool) -> None:
    with start(Analyst) as brain:
        brain.send(f"INFO show_detail {detail}\nYXBOARD 7,7,2 DONE\nYXNBEST 3")
        lines = brain.lines_until_answer()
    assert any(line.startswith("INFO PV") for line in lines) is has_info
    assert ("MESSAGE REALTIME BEST 0,14" in lines) is has_marks
    assert ("MESSAGE REALTIME LOST 2,14" in lines) is has_marks
    assert any(line.startswith("MESSAGE (1) 220 | 3-5 | 0,14") for line in lines) is has_text


def test_show_detail_also_applies_to_moves() -> None:
    with start(Analyst) as brain:
        brain.send("INFO show_detail 2\nTURN 7,7")
        assert "INFO BESTLINE 0,14" in brain.lines_until_answer()
    with start(FirstPoint) as brain:  # a player that does not support analysis
        brain.send("INFO show_detail 2\nTURN 7,7")
        assert "INFO BESTLINE 0,14" in brain.lines_until_answer()


def test_a_move_with_a_value_comes_with_a_message() -> None:
    with start(lambda: Valuing(0.5)) as brain:
        brain.send("TURN 7,7")
        message, move = brain.lines_until_answer()
    assert message.startswith("MESSAGE depth 2 eval 220 nodes 10 time ")
    assert move == "0,14"


def test_search_defend_names_the_moves_that_do_not_lose() -> None:
    with start(Analyst, size=5) as brain:
        brain.send("YXBOARD 2,2,2 DONE\nYXSEARCHDEFEND")
        lines = brain.lines_until_answer()
    name, *squares = lines[-2].removeprefix("MESSAGE ").split()
    assert name == "DEFEND"
    assert squares[:3] == ["0,4", "1,4", "3,4"]  # the third line of the player is lost
    assert len(squares) == 14  # later lines have the value of a loss
    assert "INFO NUMPV 24" in lines
    assert lines[-1] == "0,4"


@pytest.mark.parametrize(
    ("rows", "defences"),
    [
        ("7,7,2 0,0,1 8,7,2 0,14,1 9,7,2", {"6,7", "10,7"}),  # an open three
        ("6,7,1 0,0,2 7,7,2 14,0,1 8,7,2 14,14,1 9,7,2 0,14,1 10,7,2", {"11,7"}),  # a four
        ("7,7,2 0,0,1 8,7,2 0,14,1 9,7,2 14,14,1 10,7,2", set()),  # an open four
    ],
)
def test_the_engine_finds_the_defences(rows: str, defences: set[str]) -> None:
    with start(lambda: make_agent("alphabeta:hash-mb=4")) as brain:
        brain.send(f"INFO max_depth 6\nYXBOARD {rows} DONE\nYXSEARCHDEFEND")
        lines = brain.lines_until_answer()
    named = lines[-2].removeprefix("MESSAGE DEFEND ").split()
    assert set(named) - {"none"} == defences
    assert not defences or lines[-1] in defences


def test_analysis_continues_until_stop() -> None:
    with start(lambda: Analyst(is_deep=True), turn_ms=-1) as brain:
        brain.send("YXBOARD 7,7,2 DONE\nYXNBEST 1")
        while "INFO DEPTH 5" not in brain.line():
            pass
        brain.send("YXSTOP")
        assert brain.answer() == "0,14"


def test_a_second_n_best_searches_for_the_other_side() -> None:
    agent = FirstPoint()
    with start(lambda: agent) as brain:
        brain.ask("YXBOARD 7,7,2 DONE\nYXNBEST 1")
        brain.ask("YXNBEST 1")
    assert [position.to_move for position in agent.positions] == ["white", "black"]
    assert agent.positions[1].points_of("white") == ["a1"]


def test_show_forbid() -> None:
    with start() as brain:
        rows = "5,7,1 0,0,2 6,7,1 0,2,2 7,6,1 0,4,2 7,5,1 0,6,2"
        brain.send(f"INFO rule 4\nYXBOARD {rows} DONE\nYXSHOWFORBID")
        assert brain.answer() == "FORBID 0707."
        brain.send("INFO rule 0\nYXSHOWFORBID")
        assert brain.answer() == "FORBID ."


def test_excluded_root_moves() -> None:
    agent = Analyst()
    with start(lambda: agent) as brain:
        brain.send("YXBOARD 7,7,2 DONE\nYXBLOCK 0,14 1,14 DONE\nYXBLOCKUNDO 1,14 DONE")
        assert brain.ask("YXNBEST 1") == "1,14"
        brain.send("YXBLOCKRESET\nYXBOARD 7,7,2 DONE")
        assert brain.ask("YXNBEST 1") == "0,14"
    assert agent.excluded == frozenset()


def test_players_that_cannot_exclude_moves_are_reported() -> None:
    with start() as brain:
        brain.ask("TURN 7,7")
        brain.send("YXBLOCK 0,13 DONE")
        assert "no effect" in brain.line()


def test_hash_usage_and_files() -> None:
    with start(Analyst) as brain:
        brain.ask("BEGIN")
        brain.send(
            "YXSHOWHASHUSAGE\nYXHASHDUMP\nsome file.bin\nYXSETDATABASE\nC:\\END\nYXQUERYDATABASEALL\n7,7\nDONE\n"
            'YXEDITTEXTDATABASE "good"\n7,7\nDONE\nYXDELETEDATABASEALL\n7,7\nDONE\nYXDBTOTXT\nABOUT'
        )
        assert brain.line() == "MESSAGE hash usage 25.0 %"
        blocks = ("YXQUERYDATABASEALL", "YXEDITTEXTDATABASE", "YXDELETEDATABASEALL")
        for name in ("YXHASHDUMP", "YXSETDATABASE", *blocks, "YXDBTOTXT"):
            assert brain.line() == f"MESSAGE {name} is not supported"
        assert brain.line().startswith("name=")
    with start() as brain:
        brain.send("YXSHOWHASHUSAGE")
        assert brain.line() == "MESSAGE hash usage unknown"


def test_balance() -> None:
    with start(Analyst) as brain:
        brain.send("YXBOARD 7,7,2 DONE")
        # The sixth of the analyst's moves has the value 0.
        assert brain.ask("YXBALANCEONE 0") == "5,14"
        assert brain.ask("YXBALANCETWO 0").count(",") == 2
        assert brain.ask("YXBALANCEONE x").startswith("ERROR")
    with start(FirstPoint) as brain:
        assert brain.ask("YXBALANCETWO 0").startswith("ERROR")


# -- swap2 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 9, 15, 20])
def test_swap2_proposals_are_three_squares_and_vary(size: int) -> None:
    proposals: set[str] = set()
    with start(size=size) as brain:
        for _ in range(20):
            answer = brain.ask("SWAP2BOARD DONE")
            squares = [tuple(map(int, square.split(","))) for square in answer.split(" ")]
            assert len(set(squares)) == 3
            assert all(0 <= number < size for square in squares for number in square)
            proposals.add(answer)
            assert brain.ask("RESTART") == "OK"
    assert len(proposals) > 10 or size < 12


@pytest.mark.parametrize("stones", ["7,7 8,7 9,9", "7,7 8,7 9,9 8,8 8,6"])
def test_swap2_takes_the_better_side(stones: str) -> None:
    block = "SWAP2BOARD\n" + stones.replace(" ", "\n") + "\nDONE"
    with start(lambda: Valuing(0.2)) as brain:
        assert brain.ask(block) == "0,14"
    with start(lambda: Valuing(-0.2)) as brain:
        assert brain.ask(block) == "SWAP"
    with start(FirstPoint) as brain:
        assert brain.ask(block) == "0,14"
    with start(Failing) as brain:
        assert brain.ask(block).count(",") == 1


def test_swap2_rejects_invalid_openings() -> None:
    with start() as brain:
        for stones in ("7,7", "7,7 8,8", "7,7 7,7 8,8", "7,7 8,8 99,9", "x"):
            assert brain.ask(f"SWAP2BOARD {stones} DONE").startswith("ERROR")


def test_swap2_steps_of_yixin_board() -> None:
    with start(lambda: Valuing(0.2)) as brain:
        brain.send("YXSWAP2STEP1")
        assert [brain.line().rsplit(" ", 2)[0] for _ in range(3)] == [f"MESSAGE SWAP2 MOVE{n}" for n in (1, 2, 3)]
        brain.send("YXBOARD 7,6,2 6,7,1 5,6,2 DONE\nYXSWAP2STEP2")
        assert brain.line() == "MESSAGE SWAP2 SWAP1 NO"
    with start(lambda: Valuing(-0.2)) as brain:
        brain.send("YXBOARD 5,5,2 8,7,1 9,8,2 7,6,1 6,5,2 DONE\nYXSWAP2STEP3")
        assert brain.line() == "MESSAGE SWAP2 SWAP2 YES"


def test_proposed_openings_are_on_the_board_in_every_symmetry() -> None:
    from tengen.protocols.piskvork.swap2 import OPENINGS, propose_opening

    seen: set[tuple[Point, ...]] = set()
    for seed in range(8 * len(OPENINGS)):
        answer = propose_opening(Ruleset(15, 20), seed)
        assert len(set(answer.points)) == 3
        assert all(Ruleset(15, 20).contains(point) for point in answer.points)
        seen.add(answer.points)
    assert len(seen) == 8 * len(OPENINGS)
