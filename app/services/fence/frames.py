"""Frames between the server and a fenced child: a name and bytes, each with its length."""

import struct
from typing import IO

_HEAD = struct.Struct(">HQ")
_MAX_NAME = 4000

Frame = tuple[str, bytes]


class BadFrame(Exception):
    """The stream ended, or what it holds is not a frame of the allowed size."""


def write_head(stream: IO[bytes], name: str, size: int) -> None:
    """Write name and size of a frame whose bytes follow."""
    encoded = name.encode()
    stream.write(_HEAD.pack(len(encoded), size) + encoded)


def write_frame(stream: IO[bytes], name: str, data: bytes) -> None:
    """Write a whole frame."""
    write_head(stream, name, len(data))
    stream.write(data)
    stream.flush()


def read_head(stream: IO[bytes], most: int) -> tuple[str, int]:
    """Read name and size of the next frame."""
    length, size = _HEAD.unpack(_exactly(stream, _HEAD.size))
    if length > _MAX_NAME or size > most:
        raise BadFrame
    return _exactly(stream, length).decode("utf-8", "replace"), size


def read_frame(stream: IO[bytes], most: int) -> Frame:
    """Read a whole frame of at most ``most`` bytes."""
    name, size = read_head(stream, most)
    return name, _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise BadFrame
    return data
