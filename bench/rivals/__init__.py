"""Rivals of `robust` at equal questions: simulated people, real votes, teams, rankers."""
