"""Tools for those who work on Tengen; not part of the package."""
