"""The server's worker processes and the jobs they run."""
