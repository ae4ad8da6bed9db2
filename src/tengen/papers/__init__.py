"""Reproductions of published results: the experiments of each paper and their presets."""
