"""Studies: life cycle, edits and full copies."""
