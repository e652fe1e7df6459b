"""A cache of values that are expensive to compute, bounded by their size in memory."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ByteCache(Generic[K, V]):
    """Thread-safe least-recently-used cache of at most ``capacity`` bytes.

    A value of more than ``largest`` bytes (by default ``capacity``) is not cached, because it would
    evict many others.
    """

    def __init__(self, capacity: int, *, largest: int | None = None) -> None:
        self._capacity = capacity
        self._largest = capacity if largest is None else min(largest, capacity)
        self._lock = Lock()
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """Size of the cached values in bytes."""
        return self._size

    def get(self, key: K) -> V | None:
        """Return the value of ``key``, or None if it is not cached."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            self._entries.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Cache a value of ``size`` bytes; evict the least recently used ones."""
        with self._lock:
            self._size -= self._entries.pop(key, (None, 0))[1]
            if size <= self._largest:
                self._entries[key] = (value, size)
                self._size += size
            while self._size > self._capacity:
                self._size -= self._entries.popitem(last=False)[1][1]
