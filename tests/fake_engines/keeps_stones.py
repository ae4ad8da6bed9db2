"""Makes valid moves, but keeps its old stones when it receives BOARD, and ignores the new ones."""

import sys

from talk import Conversation


class Stubborn(Conversation):
    def read_board(self) -> None:
        for line in sys.stdin:
            if line.strip().upper() == "DONE":
                return


Stubborn().run()
