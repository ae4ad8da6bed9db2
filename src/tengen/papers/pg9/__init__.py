"""Policy gradient on 9x9."""
