"""Sources of training data: self-play with a search, batches of episodes, the replay window, engine games."""
