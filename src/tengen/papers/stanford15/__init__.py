"""Supervised networks on 15x15 ("Convolutional and recurrent neural network for Gomoku")."""
