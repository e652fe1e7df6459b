"""The file of a backup: readable only by its owner, and synced to disk before it is renamed."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

SYNC_BYTES = 4 * 1024**2


class _Steady(io.FileIO):
    """A file that is synced to disk as it is written.

    A single sync at the end would keep the disk busy with a gigabyte while an answer waits for its
    fsync.
    """

    _unsynced = 0

    def write(self, data: Any) -> int:
        """Write ``data``; sync to disk every few megabytes."""
        count = super().write(data)
        self._unsynced += count
        if self._unsynced >= SYNC_BYTES:
            os.fsync(self.fileno())
            self._unsynced = 0
        return count


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file (mode 0600) that is renamed to ``path`` when it is complete."""
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
