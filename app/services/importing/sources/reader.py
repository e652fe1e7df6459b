"""Lines and whole files of a source: unpacked if gzip, decoded, bounded in size."""

import gzip
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import BinaryIO, cast

from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.importing.problems import Location, NullProblems, Problems, refusal
from topkapi.app.services.importing.sources import limits
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.zipped import DAMAGE, damaged

Progress = Callable[[str, int, int], None]  # what is being done, bytes done, bytes in all
_BUFFER = 1 << 18
_UNREADABLE = (*DAMAGE, gzip.BadGzipFile, zlib.error)


def no_progress(_doing: str, _done: int, _total: int) -> None:
    """Ignore progress."""


class _Counted(io.RawIOBase):
    """A stream that counts its bytes and refuses a gzip bomb."""

    def __init__(
        self, inners: list[BinaryIO], name: str, most: int, on_read: Callable[[int], None]
    ) -> None:
        self._inners, self._name, self._most, self._on_read = inners, name, most, on_read
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        assert isinstance(buffer, memoryview)
        try:
            data = self._inners[0].read(len(buffer))
        except _UNREADABLE as error:
            raise damaged(self._name, error) from None
        self._read += len(data)
        if self._read > self._most:
            raise refusal(
                Location(self._name),
                None,
                f"The file unpacks to more than {format_size(self._most)}.",
                "It looks like a gzip bomb; store it uncompressed, or split it.",
            )
        self._on_read(len(data))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        for inner in self._inners:
            inner.close()
        super().close()


class Reader:
    """Reads the files of a source; adds to ``problems`` what is wrong with them."""

    def __init__(
        self, source: Source, problems: Problems, *, doing: str, progress: Progress = no_progress
    ) -> None:
        self.source = source
        self.problems = problems
        self._doing = doing
        self._progress = progress
        self._total = sum(source.files.values())
        self._done = 0

    def quiet(self) -> "Reader":
        """Return a reader of the same source that reports neither problems nor progress."""
        return Reader(self.source, NullProblems(), doing=self._doing)

    def first_line(self, path: str) -> str:
        """Return the first line that is neither blank nor a comment, to detect the format."""
        with closing(self.quiet().lines(path)) as lines:
            for _, line in lines:
                if not line.lstrip().startswith("#"):
                    return line.strip()
        return ""

    def lines(self, path: str) -> Generator[tuple[Location, str]]:
        """Yield nonblank lines with their locations; a line that is not UTF-8 is a problem."""
        with self._stream(path) as stream:
            number = 0
            while raw := stream.readline(limits.MAX_LINE + 1):
                number += 1
                location = Location(path, number)
                if len(raw) > limits.MAX_LINE:
                    raise refusal(
                        location,
                        None,
                        f"The line is longer than {format_size(limits.MAX_LINE)}.",
                        "Put long pages into files of their own, under pages/.",
                    )
                text = self._decoded(raw, location)
                if text and not text.isspace():
                    yield location, text.rstrip("\r\n")

    def text(self, path: str) -> str:
        """Return a whole text file."""
        with self._stream(path) as stream:
            raw = stream.read(limits.MAX_LINE + 1)
        if len(raw) > limits.MAX_LINE:
            raise refusal(
                Location(path),
                None,
                f"The file is larger than {format_size(limits.MAX_LINE)}.",
                "Shorten it.",
            )
        lines = (self._decoded(line, Location(path, n)) for n, line in _numbered(raw))
        return "".join(lines).replace("\r\n", "\n")

    def content(self, path: str) -> bytes:
        """Return the bytes of a whole file; raise StudyRefused if it is too large."""
        size = self.source.files[path]
        if size > limits.MAX_FILE:
            raise refusal(
                Location(path),
                None,
                f"The file has {format_size(size)}; the limit is {format_size(limits.MAX_FILE)}.",
                "Make it smaller, or remove it.",
            )
        try:
            with self.source.open(path) as stream:
                data = stream.read(limits.MAX_FILE + 1)
        except _UNREADABLE as error:
            raise damaged(path, error) from None
        self._count(len(data))
        return data

    def _decoded(self, raw: bytes, location: Location) -> str:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.problems.add(
                location,
                None,
                f"Byte {error.start + 1} of the line, 0x{raw[error.start]:02x}, is not UTF-8.",
                "Save the file as UTF-8.",
            )
            return ""
        return text.removeprefix("\ufeff") if location.line == 1 else text

    def _stream(self, path: str) -> "io.BufferedReader[_Counted]":
        size = self.source.files[path]
        if size == 0:
            raise refusal(Location(path), None, "The file is empty.", "Add content, or remove it.")
        raw = self.source.open(path)
        plain = io.BufferedReader(_Counted([raw], path, limits.MAX_UNPACKED, self._count), _BUFFER)
        try:
            packed = plain.peek(2).startswith(b"\x1f\x8b")
        except BaseException:
            plain.close()
            raise
        if not packed:
            return plain
        most = min(limits.MAX_UNPACKED, max(limits.RATIO_FREE, limits.MAX_RATIO * size))
        unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=plain))
        both: list[BinaryIO] = [unpacked, plain]
        return io.BufferedReader(_Counted(both, path, most, lambda _: None), _BUFFER)

    def _count(self, size: int) -> None:
        self._done += size
        self._progress(self._doing, min(self._done, self._total), self._total)


def _numbered(raw: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(raw.splitlines(keepends=True), start=1)
