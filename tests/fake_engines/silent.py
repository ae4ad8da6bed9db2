"""Answers START, then reads everything and prints nothing."""

from talk import Conversation


class Silent(Conversation):
    def move(self) -> None:
        pass


Silent().run()
