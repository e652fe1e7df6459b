"""A file that is written by a library and read while it grows."""

import io
from typing import Any


class Sink(io.RawIOBase):
    """Collects what is written until it is taken; positions count from the start of the file."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """Return True: it can only be written."""
        return True

    def write(self, data: Any) -> int:
        """Append ``data``."""
        self._parts.append(bytes(data))
        self._size += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        """Return the number of bytes written so far."""
        return self._size

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        found, self._parts = b"".join(self._parts), []
        return found
