"""Answers INFO, which must not be answered."""

from talk import Conversation, say


class Talkative(Conversation):
    def obey(self, command: str, rest: str) -> None:
        if command == "INFO":
            say("OK" if rest else "UNKNOWN")
        else:
            super().obey(command, rest)


Talkative().run()
