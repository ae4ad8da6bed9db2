"""Makes valid moves and comments on each with a few long messages."""

from talk import Conversation, say


class Talkative(Conversation):
    def move(self) -> None:
        for number in range(12):
            say(f"MESSAGE move {self.moves_made} remark {number} " + "x" * 300)
        say("DEBUG nodes 5")
        super().move()


Talkative().run()
