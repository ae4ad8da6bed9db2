"""Whole games printed as the package sees them, to be compared word by word and reviewed as a diff."""
