"""Training runs, tournaments, models and papers for the browser."""
