"""Reproductions of published results: what is run, and what comes out beside what the paper says."""
