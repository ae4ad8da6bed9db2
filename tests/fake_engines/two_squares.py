"""Answers with two squares instead of one."""

from talk import Conversation, say


class Doubling(Conversation):
    def move(self) -> None:
        say("0,0 1,1")


Doubling().run()
