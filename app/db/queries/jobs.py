"""Data of jobs: those of a study, and what a comparison of models can use."""

from datetime import datetime, timedelta

LONGEST_LEASE = timedelta(hours=1)  # one that ends later is from a clock that was wrong


def is_held(lease_until: datetime | None, at: datetime) -> bool:
    """Return whether the lease of a job holds at a moment of the database's clock."""
    return lease_until is not None and at <= lease_until <= at + LONGEST_LEASE
