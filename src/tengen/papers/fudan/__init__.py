"""Alpha-beta, rollouts and adaptive dynamic programming on 20x20."""
