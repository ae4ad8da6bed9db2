"""Load a game file and print its final position."""

import tengen
from tengen.records import GameRecord, save

game = GameRecord.from_points(tengen.Ruleset.parse("renju"), [tengen.Point(p) for p in ("h8", "h9", "i9")])
save("game.sgf", game)

game = tengen.load_game("game.sgf")
print(game.ruleset, game.black or "black", "against", game.white or "white")
print(game.position())
