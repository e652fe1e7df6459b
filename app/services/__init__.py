"""Use cases, one file a feature."""
