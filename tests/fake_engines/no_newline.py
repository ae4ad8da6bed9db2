"""Prints its move without a line break."""

import sys
import time

from talk import Conversation


class Unfinished(Conversation):
    def move(self) -> None:
        sys.stdout.write("7,7")
        sys.stdout.flush()
        time.sleep(3600)


Unfinished().run()
