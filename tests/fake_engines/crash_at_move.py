"""Leaves with exit code 7 at the move that the argument counts."""

import os

from talk import Conversation, argument


class Crashing(Conversation):
    def move(self) -> None:
        if self.moves_made == argument(1):
            os._exit(7)
        super().move()


Crashing().run()
