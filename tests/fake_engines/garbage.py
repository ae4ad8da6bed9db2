"""Prints invalid lines before each move: words, numbers, almost squares. With the argument `silent`, it never moves."""

import sys

from talk import Conversation, say

NONSENSE = (
    "hello",
    "1",
    "1,",
    ",1",
    "1,2,3",
    "7;7",
    "(7,7)",
    "7,7.",
    "nan,inf",
    "0x1,0x2",
    "OK",
    "pv 7,7",
    "-",
    ",",
    "٣,٣",
)


class Babbling(Conversation):
    def move(self) -> None:
        for words in NONSENSE:
            say(words)
        if sys.argv[1:] != ["silent"]:
            super().move()


Babbling().run()
