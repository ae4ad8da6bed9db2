"""Thinks for an hour."""

import time

from talk import Conversation


class Slow(Conversation):
    def move(self) -> None:
        time.sleep(3600)


Slow().run()
