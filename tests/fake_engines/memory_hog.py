"""Allocates more and more memory instead of moving."""

import time

from talk import Conversation


class Hungry(Conversation):
    def move(self) -> None:
        taken: list[bytes] = []
        while len(taken) < 40:
            taken.append(b"A" * (10 * 2**20))
            time.sleep(0.02)
        time.sleep(3600)


Hungry().run()
