"""A cache of values that are costly to make, bounded by the memory they take."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ByteCache(Generic[K, V]):
    """Least-recently-used values of at most ``capacity`` bytes together; safe between threads.

    A value of more than ``largest`` bytes (by default as many as all together) is not kept: it
    would push out many others.
    """

    def __init__(self, capacity: int, *, largest: int | None = None) -> None:
        self._capacity = capacity
        self._largest = capacity if largest is None else min(largest, capacity)
        self._lock = Lock()
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return self._size

    def get(self, key: K) -> V | None:
        """Return the value of ``key`` if it is kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of ``size`` bytes; those unused for longest make way."""
        with self._lock:
            self._size -= self._kept.pop(key, (None, 0))[1]
            if size <= self._largest:
                self._kept[key] = (value, size)
                self._size += size
            while self._size > self._capacity:
                self._size -= self._kept.popitem(last=False)[1][1]
