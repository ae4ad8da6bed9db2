"""Answers each command with the next line of its arguments, `-` for silence; INFO is never answered."""

import sys

answers = iter(sys.argv[1:])
for line in sys.stdin:
    command = line.strip().upper()
    if command.startswith("END"):
        break
    if command.startswith(("START", "RESTART", "TURN", "BEGIN", "DONE", "ABOUT", "PLAY", "YXNBEST")):
        answer = next(answers, "-")
        if answer != "-":
            print(answer, flush=True)
