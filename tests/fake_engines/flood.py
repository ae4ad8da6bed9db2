"""Prints messages endlessly instead of a move."""

import sys

from talk import Conversation


class Flooding(Conversation):
    def move(self) -> None:
        lines = "MESSAGE still thinking\n" * 1000
        while True:
            sys.stdout.write(lines)


Flooding().run()
