"""Assignment of queries to assessors."""
