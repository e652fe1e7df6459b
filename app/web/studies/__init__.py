"""Pages and API of studies and their settings."""
