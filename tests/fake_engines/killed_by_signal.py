"""Crashes with a segmentation fault at its first move."""

import os
import signal

from talk import Conversation


class Dying(Conversation):
    def move(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


Dying().run()
