"""Tool T2: one grade per page."""
