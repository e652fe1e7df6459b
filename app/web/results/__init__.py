"""Pages and API of exports and reports."""
