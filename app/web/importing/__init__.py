"""Pages and API of imports."""
