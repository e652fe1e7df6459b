"""Simulated assessors and sessions."""
