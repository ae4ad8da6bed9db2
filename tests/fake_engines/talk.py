"""The correct behaviour that all fake engines share: reads commands, tracks the board, plays free squares."""

from __future__ import annotations

import random
import sys
from contextlib import suppress


class Conversation:
    """A session. Subclasses and callers override `move` and other methods to misbehave."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.width = self.height = 0
        self.stones: set[tuple[int, int]] = set()
        self.moves_made = 0

    def run(self) -> None:
        for line in sys.stdin:
            words = line.split(None, 1)
            if words:
                try:
                    self.obey(words[0].upper(), words[1].strip() if len(words) > 1 else "")
                except ValueError:
                    say(f"ERROR bad {words[0]}")

    def obey(self, command: str, rest: str) -> None:
        if command == "START":
            if not 5 <= int(rest) <= 22:
                raise ValueError(rest)
            self.width = self.height = int(rest)
            self.restart()
        elif command == "RECTSTART":
            self.width, self.height = square(rest)
            self.restart()
        elif command == "RESTART":
            self.restart()
        elif command == "BEGIN":
            self.answer()
        elif command == "TURN":
            self.stones.add(square(rest))
            self.answer()
        elif command == "BOARD":
            self.read_board()
            self.answer()
        elif command == "SWAP2BOARD":
            self.swap2()
        elif command == "ABOUT":
            say('name="Mock", version="1", author="Nobody", country="Nowhere"')
        elif command == "END":
            self.end()
        elif command != "INFO":
            say(f"UNKNOWN {command}")

    def restart(self) -> None:
        self.stones.clear()
        say("OK")

    def read_board(self) -> None:
        self.stones.clear()
        for line in sys.stdin:
            if line.strip().upper() == "DONE":
                return
            with suppress(ValueError):
                self.stones.add(square(line))

    def swap2(self) -> None:
        self.read_board()
        say(" ".join(f"{x},{y}" for x, y in self.free_squares(1 if self.stones else 3)))

    def answer(self) -> None:
        self.moves_made += 1
        self.move()

    def move(self) -> None:
        ((x, y),) = self.free_squares(1)
        self.play(x, y)

    def play(self, x: int, y: int) -> None:
        self.stones.add((x, y))
        say(f"{x},{y}")

    def free_squares(self, count: int) -> list[tuple[int, int]]:
        free = [(x, y) for x in range(self.width) for y in range(self.height) if (x, y) not in self.stones]
        return self.random.sample(free, count)

    def end(self) -> None:
        sys.exit(0)


def square(text: str) -> tuple[int, int]:
    x, y = text.split(",")[:2]
    return int(x), int(y)


def say(line: str) -> None:
    print(line, flush=True)


def argument(default: int) -> int:
    return int(sys.argv[1]) if len(sys.argv) > 1 else default
