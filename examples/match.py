"""Play a match and rate several players."""

import tengen

result = tengen.play_match("rule-based", "naive:level=1", rules="9x9", games=20)
print(result)
low, high = result.elo_interval
print(f"Elo {result.elo:+.0f}, between {low:+.0f} and {high:+.0f}")
print(tengen.rate(["random", "naive:level=0", "naive:level=3", "rule-based"], rules="9x9", games=10, anchor="random"))
