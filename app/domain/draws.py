"""Draws that come out the same years later: a keyed hash of a seed and a name, never `random`.

The library's generators may change between versions of Python; BLAKE2 does not. A draw is named by
its purpose and index, so that one more draw elsewhere moves no other.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")
_SPAN = 1 << 53  # what a float can tell apart


def draw_integer(seed: str, *name: object) -> int:
    """An integer in [0, 2**64), fixed by ``seed`` and ``name``."""
    text = "\x1f".join(str(part) for part in name)
    digest = blake2b(text.encode(), key=seed.encode()[:64], digest_size=8).digest()
    return int.from_bytes(digest)


def draw_fraction(seed: str, *name: object) -> float:
    """A number in [0, 1), fixed by ``seed`` and ``name``."""
    return (draw_integer(seed, *name) >> 11) / _SPAN


def draw_below(bound: int, seed: str, *name: object) -> int:
    """An integer in [0, ``bound``); for any list of a study the modulus' bias is under 2**-40."""
    return draw_integer(seed, *name) % bound


def shuffled(items: Sequence[T], seed: str, *name: object) -> list[T]:
    """``items`` in an order fixed by ``seed`` and ``name`` (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = draw_below(last + 1, seed, *name, last)
        result[last], result[other] = result[other], result[last]
    return result
