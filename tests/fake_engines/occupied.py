"""Plays on an occupied square if there is one."""

from talk import Conversation, say


class Occupying(Conversation):
    def move(self) -> None:
        if self.stones:
            x, y = min(self.stones)
            say(f"{x},{y}")
        else:
            super().move()


Occupying().run()
