"""Matches and tournaments between agents: games, schedules, openings, a crash-safe store, ratings, reports."""
