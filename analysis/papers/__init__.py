"""Replications of the papers' experiments, tables and figures."""
