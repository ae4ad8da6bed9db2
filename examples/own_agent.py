"""Let your own player play a match, and rate it in a tournament."""

import tengen


def centre_first(position):
    """Play the free point nearest to the centre."""
    centre = position.ruleset.centre
    return min(position.legal_points(), key=lambda p: max(abs(p.x - centre.x), abs(p.y - centre.y)))


print(tengen.play_match(centre_first, "random", rules="9x9", games=10))
print(tengen.rate([centre_first, "random", "naive:level=1"], rules="9x9", games=6, anchor="random"))
