"""Play games, save them as SGF and as a picture, and export the moves as CSV."""

import csv

import tengen
from tengen.records import save

games = tengen.play_match("chains", "naive:level=2", rules="9x9", games=6).games
save("games.sgf", games)
with open("moves.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([n, *map(str, game.position().moves)] for n, game in enumerate(games, 1))
print(len(games), "games")
