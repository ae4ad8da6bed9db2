"""Tengen, the Gomoku AI laboratory.

The names below are the front door; `tengen.core.contracts` is the file to read first.
"""

from __future__ import annotations

__version__ = "0.1.0"
