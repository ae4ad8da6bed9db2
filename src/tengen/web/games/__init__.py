"""Games in the browser: rules of play, open games, players, game files and pictures."""
