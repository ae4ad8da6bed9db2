"""The simple players of the papers, played by native code."""

from __future__ import annotations

KINDS = ()
