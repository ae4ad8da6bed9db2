"""Worker processes of the server and the jobs they run."""
