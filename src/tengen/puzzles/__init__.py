"""Puzzles with one right move: finding them, storing them, and judging attempts to solve them."""
