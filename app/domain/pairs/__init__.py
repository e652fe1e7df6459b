"""Tool T1: which of two pages is better."""
