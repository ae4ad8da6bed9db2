"""A second implementation of the rules: slow, obvious, pure Python, written from the rule text.

Nothing here imports `tengen`, and nothing in `src/` imports it, so that the two implementations can check each other.
Points are plain `(x, y)` tuples; a position is a dict from point to colour.
"""
