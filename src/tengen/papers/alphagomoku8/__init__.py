"""AlphaZero on small boards ("AlphaGomoku: Applying AlphaZero to the game of Gomoku")."""
