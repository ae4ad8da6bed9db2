"""Puzzles with one winning first move: generation, storage and judging of attempts."""
