"""Domains of addresses that can never receive mail (RFC 2606)."""

CROWD = "crowd.invalid"
ERASED = "erased.invalid"
MACHINE = "machine.invalid"


def is_erased(email: str) -> bool:
    """Return whether this is the pseudonym of an erased person."""
    return email.endswith(f"@{ERASED}")
