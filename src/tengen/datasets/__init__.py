"""Data sets of recorded games for supervised learning: built once, memory-mapped, augmented batch by batch."""
