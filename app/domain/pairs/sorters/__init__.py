"""Sorters: each yields the pairs that it needs and returns the ranking."""
