"""Where training data comes from: self-play with a search, batches of episodes, the replay window, engine games."""
