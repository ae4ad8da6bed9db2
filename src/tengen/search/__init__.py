"""Tree searches in native code: alpha-beta, threat solvers, playouts, and PUCT with a network."""
