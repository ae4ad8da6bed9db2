"""Tools for developing Tengen; not part of the package."""
