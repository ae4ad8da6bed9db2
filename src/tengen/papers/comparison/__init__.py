"""The learners side by side at equal time."""
