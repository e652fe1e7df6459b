"""Optimisers of the models' losses."""
