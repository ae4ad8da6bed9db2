"""Plays outside the board."""

from talk import Conversation, say


class Outside(Conversation):
    def move(self) -> None:
        say(f"{self.width},0")


Outside().run()
