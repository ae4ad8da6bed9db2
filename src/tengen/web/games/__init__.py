"""Games in the browser: the state of a game, the live games, players, game files and pictures."""
