"""The refusal of a request for which the server has no time."""

RETRY_SECONDS = 2


class Busy(Exception):
    """No slot was free in time; nothing was done, and trying again is right."""
