"""Tar archives: repacked into a temporary zip archive, which can be read in any order.

The headers are parsed here because the standard library reads extended ones of any size into
memory, and some versions of it never end on a harmful archive.
"""

import re
import stat
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from tempfile import TemporaryFile
from typing import BinaryIO
from weakref import finalize

from topkapi.app.services.fence import limits
from topkapi.app.services.importing.sources.zipped import ZipSource, damaged

_BLOCK, _COPY = 512, 1 << 20
_OCTAL = re.compile(rb"[0-7]{1,12}")
_PAX_PATH = re.compile(rb"(?:^|\n)[0-9]{1,6} path=([^\n]+)\n")
_LONGEST_HEADER = 1 << 16
_HEADERS, _FILES, _FOLDER = (b"L", b"x", b"g", b"K"), (b"0", b"\0", b"7"), b"5"


def repacked(stream: BinaryIO, *, name: str) -> ZipSource:
    """Return a tar archive as a zip archive, which checks paths and sizes."""
    file = TemporaryFile()  # noqa: SIM115 (the archive that is returned reads it)
    try:
        with zipfile.ZipFile(file, "w") as archive:
            for info in _members(stream):
                if info.filename in archive.NameToInfo:
                    raise ValueError("it has a path twice")
                if len(archive.NameToInfo) > limits.MAX_FILES:
                    break
                with archive.open(info, "w") as target:
                    for block in _blocks(stream, info.file_size):
                        target.write(block)
        found = ZipSource(file, name=name)
    except ValueError as error:
        file.close()
        raise damaged(name, error) from None
    except BaseException:
        file.close()
        raise
    finalize(found, file.close)
    return found


def _members(stream: BinaryIO) -> Iterator[zipfile.ZipInfo]:
    """Yield the files of an archive, whose bytes are to be read next; raise ValueError."""
    long_name = b""
    while (head := stream.read(_BLOCK)).strip(b"\0"):
        size, kind = _size(head), head[156:157]
        if kind in _HEADERS:
            if size > _LONGEST_HEADER:
                raise ValueError("a header is too long")
            extra = b"".join(_blocks(stream, size))
            found = _PAX_PATH.search(extra) if kind == b"x" else None
            long_name = extra.rstrip(b"\0") if kind == b"L" else found[1] if found else long_name
            continue
        name = (long_name or _name(head)).decode("utf-8", "replace")
        long_name = b""
        if kind != _FOLDER:
            info = zipfile.ZipInfo(name if name.startswith("/") else str(PurePosixPath(name)))
            info.file_size = size
            info.external_attr = (stat.S_IFREG if kind in _FILES else stat.S_IFLNK) << 16
            yield info


def _blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield ``size`` bytes, and skip those that fill up the last block."""
    left = size
    while left:
        data = stream.read(min(left, _COPY))
        if not data:
            raise ValueError("it is cut off")
        left -= len(data)
        yield data
    stream.read(-size % _BLOCK)


def _size(head: bytes) -> int:
    """Return the size of the member; raise ValueError if this is no header."""
    size, check = (field.strip(b" \0") for field in (head[124:136], head[148:156]))
    octal = len(head) == _BLOCK and _OCTAL.fullmatch(size) and _OCTAL.fullmatch(check)
    if not octal or sum(head) - sum(head[148:156]) + 8 * ord(" ") != int(check, 8):
        raise ValueError("a header is broken")
    return int(size, 8)


def _name(head: bytes) -> bytes:
    name, prefix = (field.partition(b"\0")[0] for field in (head[:100], head[345:500]))
    return prefix + b"/" + name if prefix and head[257:263] == b"ustar\0" else name
