"""Reproduction of "Reinforcement Learning for Gomoku" (zero9)."""
