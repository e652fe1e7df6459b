"""Judging: the open question of an assignment, and how an answer reaches its log."""
