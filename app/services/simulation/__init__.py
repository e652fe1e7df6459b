"""Simulated sessions: what a sorter costs and how good its lists are."""
