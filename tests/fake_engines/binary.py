"""Prints NUL bytes, invalid UTF-8 and control characters before each move."""

import os
import sys

from talk import Conversation


class Binary(Conversation):
    def move(self) -> None:
        sys.stdout.flush()
        os.write(1, b"\0\0\0\n\xff\xfe\xfd 7,7\r\0\x1b[2J\n" + bytes(range(256)) + b"\n")
        super().move()


Binary().run()
