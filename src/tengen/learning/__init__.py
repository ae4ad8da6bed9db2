"""Training algorithms, one file each, and the little they share: configurations, runs, replay, guards, curves."""
