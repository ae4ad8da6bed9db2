"""Exits with code 7 at the move whose number is the argument."""

import os

from talk import Conversation, argument


class Crashing(Conversation):
    def move(self) -> None:
        if self.moves_made == argument(1):
            os._exit(7)
        super().move()


Crashing().run()
