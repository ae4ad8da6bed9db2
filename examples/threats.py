"""Explain the threats in a position and find the winning moves."""

import tengen

position = tengen.Position.from_moves("15x15", "h8 a1 i8 a2 j8 a3 h9 c1")
print(tengen.threats(position))
win = tengen.find_win(position)
print(win or "no win by threats found")
