"""Leaves with exit code 3 before saying anything."""

import sys

sys.exit(3)
