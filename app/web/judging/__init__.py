"""Judging in the browser and through the API, and the assessor's queue."""
