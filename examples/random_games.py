"""Play random games and count who wins."""

import random
from collections import Counter

import tengen

rng = random.Random(1)
outcomes: Counter[str] = Counter()
for _ in range(100):
    position = tengen.Position.start("9x9")
    while not position.is_over:
        position = position.play(rng.choice(position.legal_points()))
    outcomes[position.outcome.value] += 1
print(dict(outcomes))
