"""Queries of accounts and people."""
