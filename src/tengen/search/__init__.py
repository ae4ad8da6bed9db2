"""Tree searches over native code: alpha-beta, and the solvers of continuous fours and threats."""
