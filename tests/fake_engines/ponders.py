"""Makes valid moves, but computes while it is the opponent's turn, in four child processes."""

import subprocess
import sys

from talk import Conversation


class Pondering(Conversation):
    def move(self) -> None:
        super().move()
        if self.moves_made == 1:
            for _ in range(4):
                subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"], stdout=subprocess.DEVNULL)


Pondering().run()
