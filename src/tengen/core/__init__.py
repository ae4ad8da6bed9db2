"""The game itself: contracts, geometry, rules, positions, planes, symmetries, opening procedures."""
