"""Starts three processes that outlive it and inherit its pipes, prints their ids, and crashes at its second move."""

import os
import subprocess
import sys

from talk import Conversation, say


class Parent(Conversation):
    def move(self) -> None:
        if self.moves_made == 2:
            os._exit(1)
        children = [
            subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(3600)"], start_new_session=session)
            for session in (False, False, True)
        ]
        say("MESSAGE children " + " ".join(str(child.pid) for child in children))
        super().move()


Parent().run()
