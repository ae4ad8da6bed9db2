"""Matches and tournaments between agents: games, schedules, openings, a store that survives, ratings, reports."""
