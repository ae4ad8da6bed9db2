"""Answers ERROR instead of a move."""

from talk import Conversation, say


class Complaining(Conversation):
    def move(self) -> None:
        say("ERROR no idea")


Complaining().run()
