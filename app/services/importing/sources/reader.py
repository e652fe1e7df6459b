"""Lines and whole files of a source: unpacked if gzip, decoded, and never more than fits."""

import gzip
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import BinaryIO, cast

from topkapi.app.services.importing.problems import NullProblems, Place, Problems, refusal
from topkapi.app.services.importing.sources import limits
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.zipped import DAMAGE, damaged

Progress = Callable[[str, int, int], None]  # what is being done, bytes done, bytes in all
_BUFFER = 1 << 18
_UNREADABLE = (*DAMAGE, gzip.BadGzipFile, zlib.error)


def no_progress(_doing: str, _done: int, _total: int) -> None:
    """Tell nobody."""


class _Counted(io.RawIOBase):
    """A stream that counts its bytes; unpacking a gzip file, it stops at a bomb."""

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
                Place(self._name),
                None,
                f"It unpacks to more than {limits.size_in_words(self._most)}.",
                "Such a file is taken for a bomb; store it unpacked, or divide it.",
            )
        self._on_read(len(data))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        for inner in self._inners:
            inner.close()
        super().close()


class Reader:
    """Reads a source's files; what is wrong with them goes to ``problems``."""

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
        """A reader of the same source that keeps problems and progress to itself."""
        return Reader(self.source, NullProblems(), doing=self._doing)

    def first_line(self, path: str) -> str:
        """The first line that says something, to tell formats by; a comment says nothing."""
        with closing(self.quiet().lines(path)) as lines:
            for _, line in lines:
                if not line.lstrip().startswith("#"):
                    return line.strip()
        return ""

    def lines(self, path: str) -> Generator[tuple[Place, str]]:
        """Lines that are not blank, with their places; a line that is no UTF-8 is a problem."""
        with self._stream(path) as stream:
            number = 0
            while raw := stream.readline(limits.MAX_LINE + 1):
                number += 1
                place = Place(path, number)
                if len(raw) > limits.MAX_LINE:
                    raise refusal(
                        place,
                        None,
                        f"The line is longer than {limits.size_in_words(limits.MAX_LINE)}.",
                        "Put long pages into files of their own, under pages/.",
                    )
                text = self._decoded(raw, place)
                if text and not text.isspace():
                    yield place, text.rstrip("\r\n")

    def text(self, path: str) -> str:
        """A whole file of text."""
        with self._stream(path) as stream:
            raw = stream.read(limits.MAX_LINE + 1)
        if len(raw) > limits.MAX_LINE:
            raise refusal(Place(path), None, "The file is too long for what it is.")
        lines = (self._decoded(line, Place(path, n)) for n, line in _numbered(raw))
        return "".join(lines).replace("\r\n", "\n")

    def content(self, path: str) -> bytes:
        """A whole file as it is; one that is too large for a page's file is refused."""
        size = self.source.files[path]
        if size > limits.MAX_FILE:
            raise refusal(
                Place(path),
                None,
                f"The file has {limits.size_in_words(size)}; "
                f"{limits.size_in_words(limits.MAX_FILE)} are the most.",
                "Make it smaller, or leave it out.",
            )
        try:
            with self.source.open(path) as stream:
                data = stream.read(limits.MAX_FILE + 1)
        except _UNREADABLE as error:
            raise damaged(path, error) from None
        self._count(len(data))
        return data

    def _decoded(self, raw: bytes, place: Place) -> str:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.problems.add(
                place,
                None,
                f"Byte {error.start + 1} of the line, 0x{raw[error.start]:02x}, is not UTF-8.",
                "Save the file as UTF-8.",
            )
            return ""
        return text.removeprefix("\ufeff") if place.line == 1 else text

    def _stream(self, path: str) -> "io.BufferedReader[_Counted]":
        size = self.source.files[path]
        if size == 0:
            raise refusal(Place(path), None, "The file is empty.", "Fill it, or leave it out.")
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
