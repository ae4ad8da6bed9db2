"""Supervised networks on 15x15."""
