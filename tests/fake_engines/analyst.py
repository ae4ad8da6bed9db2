"""Supports YXBOARD and YXNBEST: reports at depths 1 to 3, then moves; with four lines it continues until YXSTOP."""

import select
import sys

from talk import Conversation, say


class Analyst(Conversation):
    def obey(self, command: str, rest: str) -> None:
        if command == "YXBOARD":
            self.read_board()
        elif command == "YXNBEST":
            self.analyse(int(rest))
        elif command != "YXSTOP":
            super().obey(command, rest)

    def analyse(self, lines: int) -> None:
        squares = self.free_squares(lines)
        depth = 0
        while depth < 3 or (lines == 4 and not select.select([sys.stdin], [], [], 0.01)[0]):
            depth += 1
            for index, (x, y) in enumerate(squares):
                evaluation = ("+M5", "40", "-M4")[min(index, 2)]
                for text in (
                    f"PV {index}",
                    f"NUMPV {lines}",
                    f"DEPTH {depth}",
                    f"NODES {10 * depth}",
                    f"TOTALNODES {100 * depth}",
                    f"TOTALTIME {depth}",
                    f"EVAL {evaluation}",
                    f"BESTLINE {x},{y}",
                    "PV DONE",
                ):
                    say(f"INFO {text}")
        self.play(*squares[0])


Analyst().run()
