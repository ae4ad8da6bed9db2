"""Closes its output at the first move and keeps running."""

import os
import time

from talk import Conversation


class Closing(Conversation):
    def move(self) -> None:
        os.close(1)
        time.sleep(3600)


Closing().run()
