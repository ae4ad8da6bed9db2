"""Makes valid moves, but does not support RESTART."""

from talk import Conversation, say


class Forgetful(Conversation):
    def obey(self, command: str, rest: str) -> None:
        if command == "RESTART":
            say("UNKNOWN command")
        else:
            super().obey(command, rest)


Forgetful().run()
