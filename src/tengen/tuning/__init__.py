"""Tuning of the alpha-beta engine: self-play games, evaluation fits, the evaluation network, SPSA."""
