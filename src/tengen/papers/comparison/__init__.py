"""The learning algorithms compared at equal training time."""
