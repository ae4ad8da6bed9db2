"""Train a player with AlphaZero and play against random; `minutes=5` learns much more than two short iterations."""

import tengen

small = {"iterations": 2, "self_play.games": 16, "self_play.parallel": 16, "search.simulations": 8, "strength.every": 0}
run = tengen.train("alphazero", "6x6x4", run="runs/example", settings=small, minutes=0, quiet=True)
print(run.metrics()[-1]["losses"])
print(tengen.play_match(f"{run.agent},simulations=32", "random", rules="6x6:4", games=4))
