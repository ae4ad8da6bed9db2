"""Puzzles for the browser."""
