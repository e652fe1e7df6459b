"""Random draws that stay reproducible: a keyed hash of a seed and a name, never `random`.

The library's generators may change between versions of Python; BLAKE2 does not. A draw is named by
its purpose and index, so an additional draw elsewhere does not change any other.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")
_SPAN = 1 << 53  # precision of a float


def draw_integer(seed: str, *name: object) -> int:
    """Return an integer in [0, 2**64), determined by ``seed`` and ``name``."""
    text = "\x1f".join(str(part) for part in name)
    digest = blake2b(text.encode(), key=seed.encode()[:64], digest_size=8).digest()
    return int.from_bytes(digest)


def draw_fraction(seed: str, *name: object) -> float:
    """Return a number in [0, 1), determined by ``seed`` and ``name``."""
    return (draw_integer(seed, *name) >> 11) / _SPAN


def draw_below(bound: int, seed: str, *name: object) -> int:
    """Return an integer in [0, ``bound``).

    For the length of any list in a study the modulo bias is under 2**-40.
    """
    return draw_integer(seed, *name) % bound


def shuffled(items: Sequence[T], seed: str, *name: object) -> list[T]:
    """Return ``items`` in an order determined by ``seed`` and ``name`` (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = draw_below(last + 1, seed, *name, last)
        result[last], result[other] = result[other], result[last]
    return result
