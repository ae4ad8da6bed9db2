"""Play a game and walk through its positions: how many fours can black make?"""

import tengen

game = tengen.play_match("rule-based", "naive:level=3", rules="15x15", games=1).games[0]
for position in game:
    explained = tengen.threats(position)
    chances = explained.chances[tengen.Colour.BLACK]
    print(position.stones, position.last_move or "", {kind.value: len(points) for kind, points in chances.items()})
