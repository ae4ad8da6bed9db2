"""Answers ABOUT with free text, as old engines do, and does not know RECTSTART and SWAP2BOARD."""

from talk import Conversation, say


class Old(Conversation):
    def obey(self, command: str, rest: str) -> None:
        if command == "ABOUT":
            say("Old Engine by Nobody")
        elif command in ("RECTSTART", "SWAP2BOARD", "DONE"):
            say(f"UNKNOWN {command}")
        else:
            super().obey(command, rest)


Old().run()
