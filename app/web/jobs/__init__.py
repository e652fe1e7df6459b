"""Pages of background jobs and of the comparison of models."""
