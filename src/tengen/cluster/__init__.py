"""Games and training on a Ray cluster; the only layer that imports ray."""
