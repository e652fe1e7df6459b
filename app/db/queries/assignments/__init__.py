"""Queries of assignments."""
