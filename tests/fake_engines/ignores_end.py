"""Makes valid moves, but does not exit on END, at the end of its input, or on SIGTERM."""

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
