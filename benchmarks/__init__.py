"""What `make bench` runs; see `__main__`."""
