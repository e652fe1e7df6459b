"""Queries of studies."""
