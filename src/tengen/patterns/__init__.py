"""Shapes and threats: what stones make of each other, in words and as data."""
