"""Prints a line of 128 MB before its first move."""

import sys

from talk import Conversation


class Huge(Conversation):
    def move(self) -> None:
        if self.moves_made == 1:
            for _ in range(128):
                sys.stdout.write("A" * 2**20)
            sys.stdout.write("\n")
        super().move()


Huge().run()
