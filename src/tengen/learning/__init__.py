"""Training: `algorithms` (one module each), `experience` (games and positions), `run` (the folder and its loop)."""
