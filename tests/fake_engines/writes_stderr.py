"""Makes valid moves and writes a lot to stderr, including squares."""

import sys

from talk import Conversation


class Noisy(Conversation):
    def move(self) -> None:
        for number in range(5000):
            print(f"warning {number}: 0,0", file=sys.stderr)
        print("0,0", file=sys.stderr, flush=True)
        super().move()


Noisy().run()
