"""Files of exports: plain or gzip, UTF-8, lines that end in a newline and nothing else."""

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from topkapi.analysis.data.letor import read_bytes
from topkapi.analysis.errors import BadData


def read_text(path: str | Path) -> str:
    """Read the text of a plain or gzip file.

    A byte that is not UTF-8 is reported with its line.
    """
    raw = read_bytes(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadData(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None


def numbered_lines(path: str | Path) -> Iterator[tuple[str, str]]:
    """Yield location and text of each line; empty lines are skipped."""
    yield from lines_of(str(path), read_bytes(path))


def lines_of(name: str, raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield location and text of each line of a file's bytes like `numbered_lines`.

    Only a newline ends a line: texts may hold other characters that Python's ``splitlines`` cuts
    at. Lines are decoded one by one, which takes less memory.
    """
    for number, line in enumerate(io.BytesIO(raw.removeprefix(codecs.BOM_UTF8)), start=1):
        location = f"{name}, line {number}"
        try:
            text = line.decode().removesuffix("\n")
        except UnicodeDecodeError:
            raise BadData(f"{location}: not UTF-8; save the file as UTF-8") from None
        if text.strip():
            yield location, text


def word(name: str) -> str:
    """Return the name, or raise if a format that separates by blanks cannot contain it."""
    if name.split() != [name]:
        raise BadData(f"the id {name!r} contains a blank; use a format with tabs, commas or JSON")
    return name


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
