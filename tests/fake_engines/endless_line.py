"""Prints a line that never ends."""

import sys

from talk import Conversation


class Endless(Conversation):
    def move(self) -> None:
        while True:
            sys.stdout.write("A" * 2**20)


Endless().run()
