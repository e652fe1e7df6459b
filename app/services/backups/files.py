"""The file of a backup: for its owner only, and on the disk before it has its name."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

SYNC_BYTES = 4 * 1024**2


class _Steady(io.FileIO):
    """A file that goes to the disk as it is written.

    Left to the end, the disk would be busy with a gigabyte while an answer waits for its fsync.
    """

    _waiting = 0

    def write(self, data: Any) -> int:
        """Write ``data``; every few megabytes, wait until they are on the disk."""
        count = super().write(data)
        self._waiting += count
        if self._waiting >= SYNC_BYTES:
            os.fsync(self.fileno())
            self._waiting = 0
        return count


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write that takes the name ``path`` when it is whole (mode 0600)."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        raw = _Steady(partial, "x", opener=lambda name, flags: os.open(name, flags, 0o600))
        with io.BufferedWriter(raw, 1024**2) as stream:
            yield stream
            stream.flush()
            os.fsync(raw.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
