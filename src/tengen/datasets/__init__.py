"""Games of any format as samples to learn from: built once, memory-mapped, turned and shifted batch by batch."""
