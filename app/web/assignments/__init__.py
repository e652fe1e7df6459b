"""Pages and API of assignments."""
