"""Studies: their life cycle, edits and full copies."""
