"""Plays well, but does not leave at END, at the end of its input, or when asked by a signal."""

import signal
import time

from talk import Conversation


class Staying(Conversation):
    def end(self) -> None:
        pass


for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(name, signal.SIG_IGN)
Staying().run()
time.sleep(3600)
