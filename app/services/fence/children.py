"""Child processes that parse untrusted bytes, each step limited in memory and time.

A child gets bytes and returns frames of bytes; it has neither the settings nor the database. If it
crashes or exceeds a limit, it is ended, and the file is refused like any other bad file.
"""

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import IO

from topkapi.app.services.fence import limits

_HEAD = struct.Struct(">HQ")
_MAX_NAME = 4000

Frame = tuple[str, bytes]
END, REFUSED, MISSING = "", "refused", "missing"  # names of the last frame of an answer
_CHUNK = 1 << 20
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")
# Memory that allocators only reserve counts towards the limit, too.
_SMALL = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


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


class UnreadableBytes(ValueError):
    """The bytes cannot be read, or reading them exceeds a limit; the message says which."""


class LibraryMissing(UnreadableBytes):
    """The library that the task needs is not installed."""


class Fence:
    """A pool of child processes, ended with the context.

    There is more than one child only if an answer is read while another one is.
    """

    def __init__(self) -> None:
        self._idle: list[_Child] = []

    def __enter__(self) -> "Fence":
        return self

    def __exit__(self, *_error: object) -> None:
        while self._idle:
            self._idle.pop().end()

    def ask(self, task: str, argument: str, data: IO[bytes], size: int) -> Generator[Frame]:
        """Yield the answer to a task of `fenced_child`; raise UnreadableBytes.

        ``size`` is the number of bytes in ``data``.
        """
        child = self._idle.pop() if self._idle else _Child()
        try:
            child.send(task, argument, data, size)
            yield from child.answer()
        except BaseException:  # also if the answer is not read to its end
            child.end()
            raise
        if child.tasks < limits.TASKS_PER_CHILD:
            self._idle.append(child)
        else:
            child.end()


class _Child:
    def __init__(self) -> None:
        self.tasks = 0
        self._late = False
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "topkapi.app.services.fenced_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_SMALL | {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,  # Ctrl-C is for the server, which ends its children
        )
        with suppress(OSError):  # people's answers come first
            priority = os.getpriority(os.PRIO_PROCESS, 0) + 10
            os.setpriority(os.PRIO_PROCESS, self._process.pid, priority)

    def send(self, task: str, argument: str, data: IO[bytes], size: int) -> None:
        self.tasks += 1
        stream = self._process.stdin
        assert stream is not None
        with self._limited():
            write_frame(stream, task, argument.encode())
            write_head(stream, "", size)
            while piece := data.read(_CHUNK):
                stream.write(piece)
            stream.flush()

    def answer(self) -> Iterator[Frame]:
        stream = self._process.stdout
        assert stream is not None
        while True:
            with self._limited():
                name, data = read_frame(stream, limits.MAX_FILE)
            if name == REFUSED:
                raise UnreadableBytes(data.decode("utf-8", "replace"))
            if name == MISSING:
                raise LibraryMissing
            if name == END:
                return
            yield name, data

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent cannot be sent any more
                if stream is not None:
                    stream.close()

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Kill the child if the step takes too long; raise UnreadableBytes if it is gone."""
        timer = Timer(limits.STEP_WALL_SECONDS, self._expire)
        timer.start()
        try:
            yield
        except (BadFrame, OSError):
            raise UnreadableBytes(self._cause()) from None
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._late = True
        self._process.kill()

    def _cause(self) -> str:
        self._process.kill()
        if self._late or self._process.wait() == -signal.SIGXCPU:
            return f"a part of it takes more than {limits.STEP_SECONDS} seconds to read"
        return f"it is damaged, or {limits.TOO_LARGE}"
