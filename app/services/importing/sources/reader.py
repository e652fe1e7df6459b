"""Lines and whole files of a source: unpacked if gzip, decoded, bounded in size."""

import codecs
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any, BinaryIO, cast

from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.media import Media
from topkapi.app.services.importing.problems import Location, NullProblems, Problems, refusal
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.zipped import DAMAGE, damaged
from topkapi.app.services.values import ProblemKind

Progress = Callable[[str, int, int], None]  # what is being done, bytes done, bytes in all
_BUFFER = 1 << 18
_HEAD = 4096
_AS_UTF8 = "Save the file as UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8."
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
        self,
        source: Source,
        problems: Problems,
        *,
        doing: str,
        progress: Progress = no_progress,
        media: Media | None = None,
    ) -> None:
        self.source = source
        self.media = media or Media()
        self.problems = problems
        self._doing = doing
        self._progress = progress
        self.unread: dict[str, Counter[str]] = {}  # fields that are not read, by file
        self._total = sum(source.files.values())
        self._done = 0

    def quiet(self) -> "Reader":
        """Return a reader of the same source that reports neither problems nor progress."""
        return Reader(self.source, NullProblems(), doing=self._doing, media=self.media)

    def note_unread(self, path: str, names: Iterable[str]) -> None:
        """Count fields of a file that are not read."""
        if names:
            self.unread.setdefault(path, Counter()).update(names)

    def head(self, path: str) -> bytes:
        """Return the first bytes of a file, to detect what it is."""
        with self.quiet().stream(path) as stream:
            return stream.read(_HEAD)

    def pieces(self, path: str, size: int) -> Iterator[str]:
        """Yield the text of a file in pieces; raise StudyRefused if it is not UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.stream(path) as stream:
            while raw := stream.read(size):
                try:
                    yield decoder.decode(raw).removeprefix("\ufeff")
                except UnicodeDecodeError as error:
                    raise refusal(
                        Location(path),
                        None,
                        f"The file is not UTF-8: {error.reason}.",
                        _AS_UTF8,
                        ProblemKind.NOT_UTF8,
                    ) from None

    def first_line(self, path: str) -> str:
        """Return the first line that is neither blank nor a comment, to detect the format."""
        with closing(self.quiet().lines(path)) as lines:
            for _, line in lines:
                if not line.lstrip().startswith("#"):
                    return line.strip()
        return ""

    def lines(self, path: str) -> Generator[tuple[Location, str]]:
        """Yield nonblank lines with their locations; a line that is not UTF-8 is a problem."""
        with self.stream(path) as stream:
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
        with self.stream(path) as stream:
            raw = stream.read(limits.MAX_LINE + 1)
        if len(raw) > limits.MAX_LINE:
            raise refusal(
                Location(path),
                None,
                f"The file is larger than {format_size(limits.MAX_LINE)}.",
                "Shorten it.",
            )
        numbered = enumerate(raw.splitlines(keepends=True), start=1)
        lines = (self._decoded(line, Location(path, number)) for number, line in numbered)
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
                _AS_UTF8,
                ProblemKind.NOT_UTF8,
            )
            return ""
        return text.removeprefix("\ufeff") if location.line == 1 else text

    def stream(self, path: str) -> "io.BufferedReader[Any]":
        """Open a file: unpacked if gzip, in UTF-8, bounded; raise StudyRefused if it is empty."""
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
            return _in_utf8(plain, path)
        most = min(limits.MAX_UNPACKED, max(limits.RATIO_FREE, limits.MAX_RATIO * size))
        unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=plain))
        both: list[BinaryIO] = [unpacked, plain]
        counted = _Counted(both, path, most, lambda _: None)
        return _in_utf8(io.BufferedReader(counted, _BUFFER), path)

    def _count(self, size: int) -> None:
        self._done += size
        self._progress(self._doing, min(self._done, self._total), self._total)


class _Transcoded(io.RawIOBase):
    """A stream in UTF-16, read as UTF-8."""

    def __init__(self, inner: "io.BufferedReader[Any]", name: str, encoding: str) -> None:
        self._inner, self._name, self._left = inner, name, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        assert isinstance(buffer, memoryview)
        while not self._left:
            raw = self._inner.read(_BUFFER)
            try:
                self._left = self._decoder.decode(raw, final=not raw).encode("utf-8")
            except UnicodeError as error:
                raise refusal(
                    Location(self._name), None, f"The file is not valid UTF-16: {error}.", _AS_UTF8
                ) from None
            if not raw:
                break
        data, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._inner.close()
        super().close()


def _in_utf8(stream: "io.BufferedReader[Any]", path: str) -> "io.BufferedReader[Any]":
    """Return a stream in UTF-8; a mark or the NULs of the first letters tell UTF-16."""
    try:
        start = stream.peek(4)[:4]
    except BaseException:
        stream.close()
        raise
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.BufferedReader(_Transcoded(stream, path, "utf-16"), _BUFFER)
    zeros = "".join("0" if byte == 0 else "x" for byte in start)
    encoding = {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros)
    return io.BufferedReader(_Transcoded(stream, path, encoding), _BUFFER) if encoding else stream
