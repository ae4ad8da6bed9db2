"""Answers OK, then never reads its input again."""

import time

from talk import say

say("OK")
time.sleep(3600)
