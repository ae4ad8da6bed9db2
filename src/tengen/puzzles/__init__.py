"""Puzzles with one winning first move: how they are made, stored and judged."""
