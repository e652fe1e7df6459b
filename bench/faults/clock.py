"""A clock for the server that can be set forward and back; needs a C compiler."""

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")
COMPILER = shutil.which("cc") or shutil.which("gcc")
HAS_CLOCK = COMPILER is not None and os.uname().sysname == "Linux"


class Clock:
    """Shifts the wall clock of the processes started under it."""

    def __init__(self, folder: Path) -> None:
        self._file, self._library = folder / "clock", folder / "clock.so"
        self._file.write_bytes(struct.pack("l", 0))
        if HAS_CLOCK:
            assert COMPILER is not None
            flags = ["-shared", "-fPIC", "-O2", "-o", str(self._library), str(SOURCE), "-ldl"]
            subprocess.run([COMPILER, *flags], check=True)

    def shift(self, seconds: int) -> None:
        """Set the clock ``seconds`` ahead of the machine's, or behind it."""
        with self._file.open("r+b") as stream:  # in place: the processes have it mapped
            stream.write(struct.pack("l", seconds))

    @contextmanager
    def started(self) -> Iterator[None]:
        """Start processes under this clock."""
        if not HAS_CLOCK:
            yield
            return
        ours = {"LD_PRELOAD": str(self._library), "BENCH_CLOCK": str(self._file)}
        os.environ |= ours
        try:
            yield
        finally:
            for name in ours:
                os.environ.pop(name, None)
