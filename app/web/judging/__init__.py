"""Judging in the browser and through the API; the assessor's queue."""
