"""Sorters: each yields the pair it needs and returns the ranking."""
