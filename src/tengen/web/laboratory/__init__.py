"""Training runs, tournaments, models and papers, shown in the browser."""
