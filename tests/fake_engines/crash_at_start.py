"""Exits with code 3 without any output."""

import sys

sys.exit(3)
