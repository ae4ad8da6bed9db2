"""Rejects every board size."""

from talk import Conversation, say


class Refusing(Conversation):
    def restart(self) -> None:
        say("MESSAGE let me see")
        say("ERROR unsupported size")


Refusing().run()
