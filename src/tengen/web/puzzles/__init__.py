"""Puzzles for the browser board."""
