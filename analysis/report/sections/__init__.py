"""Sections of the report: one module per kind of figure."""
