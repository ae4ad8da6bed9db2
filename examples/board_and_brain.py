"""Write a bot to a file, use it as a Piskvork brain, and print the command that opens it on the board."""

import subprocess
import sys
from pathlib import Path

Path("first.py").write_text("def first(position):\n    return position.legal_points()[0]\n", encoding="utf-8")
brain = [sys.executable, "-m", "tengen", "brain", "--agent", "first.py:first"]
with subprocess.Popen(brain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as talk:
    talk.stdin.write("START 15\nBEGIN\n")
    talk.stdin.flush()
    print(talk.stdout.readline().strip(), talk.stdout.readline().strip())
    talk.stdin.write("END\n")
print("On the board: tengen serve --agents first.py:first")
