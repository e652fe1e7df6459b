"""Progress of studies."""
