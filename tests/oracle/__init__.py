"""The rules of the game a second time: slow, obvious, pure Python, written from the rule text.

Nothing here imports `tengen`, and nothing in `src/` can reach it: two implementations that share no line may check each
other. Points are plain `(x, y)` tuples, a position is a dict from point to colour.
"""
