"""Conversion of seeds to the 64 bits that native code uses."""

from __future__ import annotations


def seed_word(seed: int) -> int:
    """Return the low 64 bits of a seed of any size and sign."""
    return seed & 0xFFFF_FFFF_FFFF_FFFF
