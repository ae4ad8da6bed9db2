"""Shapes and threats on the board."""
