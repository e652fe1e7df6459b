"""Pages and API of flagged questions."""
