"""Analysis, hints, forced wins and reviews for the browser."""
