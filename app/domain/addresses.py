"""Domains of addresses that can never receive mail (RFC 2606)."""

CROWD = "crowd.invalid"
ERASED = "erased.invalid"
MACHINE = "machine.invalid"
