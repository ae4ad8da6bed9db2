"""Policy gradient on 9x9 ("Using DRL to train a Gomoku agent")."""
