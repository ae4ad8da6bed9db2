"""Fuzz a brain with random input and check its output.

Every output line must be valid in the protocol, and afterwards the brain must still be able to play. Run
`python -m tests.protocols.fuzz_brain --minutes 10`; a failure prints the seed that reproduces it.
"""

from __future__ import annotations

import argparse
import random
import re
import time

from tengen.core.contracts import Agent, Decision, Limits
from tengen.core.position import Position
from tengen.protocols.piskvork.brain import COMMANDS
from tests.protocols.harness import Analyst, LocalBrain

VALID_OUTPUT = re.compile(
    r"(OK|ERROR .+|UNKNOWN .+|MESSAGE .+|DEBUG .+|INFO .+|SWAP|FORBID (\d{4})*\.|name=.+|\d+,\d+( \d+,\d+){0,2})"
)
INFO_KEYS = (
    *("timeout_turn", "timeout_match", "time_left", "max_memory", "game_type", "rule", "folder", "evaluate"),
    *("max_depth", "max_node", "hash_size", "thread_num", "show_detail", "caution_factor", "pondering", "nonsense"),
    *("time_increment", "pondering", "pondering"),
)
NUMBERS = (
    *("0", "1", "2", "3", "4", "5", "8", "9", "-1", "15", "20", "100", "2147483647", "2147483648", "-2147483648"),
    *("18446744073709551615", "99999999999999999999999", "1e9", "0x10", "1.5", "NaN", "inf", "٣", "-", "+"),
)
BLOCKS = ("BOARD", "YXBOARD", "SWAP2BOARD", "YXBLOCK", "YXBLOCKUNDO", "YXQUERYDATABASEALL")
SENTINEL = 'name="Test"'


class Erratic(Analyst):
    """A player that occasionally fails, plays an occupied point or takes too long."""

    name = "erratic"

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)

    def choose(self, position: Position, limits: Limits) -> Decision:
        mood = self._random.random()
        if mood < 0.05:
            raise RuntimeError("random failure")
        if mood < 0.1:
            return Decision(move=position.ruleset.centre)
        if mood < 0.12:
            time.sleep(0.15)
        return Decision(move=self._random.choice(position.legal_points()), value_to_move=self._random.uniform(-1, 1))


class Writer:
    """Generates input: mostly valid lines, some mutated lines, and some noise."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def batch(self) -> bytes:
        pieces = [self._piece() for _ in range(self._rng.randrange(1, 12))]
        return b"".join(piece + self._rng.choice((b"\n", b"\r\n", b"\r", b"\n\n")) for piece in pieces)

    def _piece(self) -> bytes:
        kind = self._rng.random()
        if kind < 0.06:
            return self._noise()
        line = self._block() if kind < 0.3 else self._line()
        if kind > 0.95:
            line = self._mutated(line)
        return line.encode("utf-8", "replace")

    def _line(self) -> str:
        rng = self._rng
        command = rng.choice(
            (
                f"START {rng.choice((5, 6, 9, 15, 20, 22))}",
                f"START {rng.choice(NUMBERS)}",
                f"RECTSTART {rng.randrange(4, 24)},{rng.randrange(4, 24)}",
                "BEGIN",
                f"TURN {self._square()}",
                f"TURN {self._square()}",
                f"TURN {self._square()}",
                f"TAKEBACK {self._square()}",
                f"PLAY {self._square()}",
                f"INFO {rng.choice(INFO_KEYS)} {rng.choice(NUMBERS)}",
                f"INFO {rng.choice(INFO_KEYS)} {rng.choice(NUMBERS)}",
                "INFO timeout_turn 20",
                f"YXNBEST {rng.choice(NUMBERS)}",
                f"{rng.choice(list(COMMANDS))} {rng.choice(NUMBERS)}",
                rng.choice(list(COMMANDS)),
            )
        )
        return command if rng.random() < 0.7 else command.lower()

    def _block(self) -> str:
        rng = self._rng
        name = rng.choice(BLOCKS)
        rows = [self._square() + rng.choice((",1", ",2", ",2", ",3", "", ",7")) for _ in range(rng.randrange(0, 30))]
        if rng.random() < 0.6:  # well-formed
            suffixes = ("", "") if name in ("SWAP2BOARD", "YXBLOCK", "YXBLOCKUNDO") else (",1", ",2")
            rows = [self._square() + suffixes[place % 2] for place in range(rng.choice((0, 1, 2, 3, 5, 8, 20)))]
        separator = rng.choice(("\n", " ", "\r\n"))
        return separator.join([name, *rows, *(["DONE"] if rng.random() < 0.9 else [])])

    def _square(self) -> str:
        if self._rng.random() < 0.03:
            return f"{self._rng.choice(NUMBERS)},{self._rng.choice(NUMBERS)}"
        return f"{self._rng.randrange(9)},{self._rng.randrange(9)}"

    def _mutated(self, line: str) -> str:
        offset = self._rng.randrange(len(line) + 1)
        inserted = self._rng.choice(("", " ", ",", "\t", "\x00", "é", "9" * 50, "A" * 70_000))
        return line[:offset] + inserted + line[offset + self._rng.randrange(3) :]

    def _noise(self) -> bytes:
        return bytes(self._rng.randrange(256) for _ in range(self._rng.randrange(60)))


def fuzz_session(seed: int, batches: int) -> int:
    """Run one session and return the number of output lines; raises `AssertionError` if the brain misbehaves."""
    rng = random.Random(seed)
    writer = Writer(rng)
    line_count = 0

    def make_agent() -> Agent:
        return Erratic(seed)

    with LocalBrain(make_agent) as brain:
        brain.send(f"START {rng.choice((9, 15))}\nINFO timeout_turn 20")
        for _ in range(batches):
            data = b"\n".join(line for line in re.split(rb"[\r\n]+", writer.batch()) if not _is_reserved(line))
            brain.send_bytes(data + b"\n")
            # Close any open block. DONE is repeated because the first one may be read as a file name.
            brain.send("DONE\nDONE\nDONE\nINFO timeout_turn 20\nYXSTOP\nABOUT")
            while not (line := brain.line()).startswith(SENTINEL):
                line_count += 1
                assert VALID_OUTPUT.fullmatch(line), f"the brain answered {line!r} to {data!r}"
        # The brain can still play a game.
        while not brain.ask("START 15").startswith("OK"):
            pass
        brain.send("INFO rule 0\nINFO timeout_turn 20\nINFO time_left 100000")
        for _ in range(3):
            answer = brain.ask("BOARD 7,7,2 8,8,1 DONE")
            assert re.fullmatch(r"\d+,\d+", answer), f"the brain answered {answer!r} to a board"
    return line_count


def _is_reserved(line: bytes) -> bool:
    """Whether the line contains END, which ends the session, or ABOUT, whose answer marks the end of a batch."""
    return re.search(rb"\b(END|ABOUT)\b", line.upper()) is not None


def main() -> None:
    """Fuzz for the given time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="the first session's seed")
    options = parser.parse_args()
    until = time.monotonic() + 60 * options.minutes
    seed, line_count = options.seed, 0
    while time.monotonic() < until:
        try:
            line_count += fuzz_session(seed, batches=50)
        except BaseException:
            print(f"failed with --seed {seed}")
            raise
        seed += 1
    print(f"{seed - options.seed} sessions, {line_count} lines of output, all valid")


if __name__ == "__main__":
    main()
