"""Authentication of requests, and their transactions."""
