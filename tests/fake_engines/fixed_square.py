"""Always plays the square given by its arguments, even if it is illegal."""

import sys

from talk import Conversation


class Fixed(Conversation):
    def move(self) -> None:
        self.play(int(sys.argv[1]), int(sys.argv[2]))


Fixed().run()
