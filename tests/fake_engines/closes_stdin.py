"""Closes its input after START and keeps running."""

import os
import time

from talk import Conversation


class Closing(Conversation):
    def restart(self) -> None:
        os.close(0)
        super().restart()
        time.sleep(3600)


Closing().run()
