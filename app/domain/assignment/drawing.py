"""Queries that people judge, drawn at random where machines judge the others."""

from collections.abc import Iterable
from hashlib import blake2b


def drawn(names: Iterable[str], most: int | None, seed: str) -> list[str]:
    """Return ``most`` names drawn at random, or all; a larger draw holds every smaller one.

    >>> few, more = drawn("abcdef", 2, "tulips"), drawn("fedcba", 4, "tulips")
    >>> more[:2] == few
    True
    """
    if most is None:
        return list(names)
    return sorted(names, key=lambda name: blake2b(f"{seed}/{name}".encode()).digest())[:most]
