"""The refusal of a request because the server is overloaded."""

RETRY_SECONDS = 2


class Busy(Exception):
    """No slot was free in time; nothing was done, and the client should retry."""
