"""Pages and API of a study's progress."""
