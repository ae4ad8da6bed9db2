"""Makes valid moves, but prints endlessly while the opponent thinks."""

import sys
import threading
import time

from talk import Conversation


def chatter() -> None:
    time.sleep(0.2)
    while True:
        sys.stdout.write("DEBUG pondering\n" * 1000)
        sys.stdout.flush()


class Chattering(Conversation):
    def move(self) -> None:
        super().move()
        if self.moves_made == 1:
            threading.Thread(target=chatter, daemon=True).start()


Chattering().run()
