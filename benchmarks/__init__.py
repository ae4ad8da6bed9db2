"""The benchmarks that `make bench` runs; see `__main__`."""
