"""Tree searches over native code: alpha-beta, threat solvers, playouts, and PUCT with a network."""
