"""Suggests its moves and plays those that the manager confirms."""

from talk import Conversation, say, square


class Suggesting(Conversation):
    def obey(self, command: str, rest: str) -> None:
        if command == "PLAY":
            self.play(*square(rest))
        else:
            super().obey(command, rest)

    def move(self) -> None:
        ((x, y),) = self.free_squares(1)
        say(f"SUGGEST {x},{y}")


Suggesting().run()
