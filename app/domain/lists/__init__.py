"""Tool T3: which of two rankings is better."""
