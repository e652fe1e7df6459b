"""T2: one page, one grade."""
