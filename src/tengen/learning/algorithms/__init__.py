"""The training algorithms, one module each."""
