"""Plays on an occupied square."""

from talk import Conversation, say


class Occupying(Conversation):
    def move(self) -> None:
        x, y = min(self.stones)
        say(f"{x},{y}")


Occupying().run()
