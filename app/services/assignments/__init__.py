"""Assignments: by rotation, by hand, and from a CSV file."""
