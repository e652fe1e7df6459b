"""Zip archives, read in place; harmful ones are refused before anything is unpacked."""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.problems import Location, Problems, StudyRefused, refusal
from topkapi.app.services.importing.sources.folders import (
    Closing,
    check_sizes,
    is_litter,
    shared_folder,
)

DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error)
_END = struct.Struct("<4s4H2LH")  # the record at the end of every archive
_TAIL = 65_557 + 76  # that record, its comment and the record of large archives


class ZipSource(Closing):
    """A zip archive, from a path or an open file; single outer folders are skipped."""

    single = False

    def __init__(self, archive: Path | BinaryIO, *, name: str) -> None:
        self.name = name
        try:
            _check_directory(archive, name)
            self._zip = zipfile.ZipFile(archive)
        except DAMAGE as error:
            raise damaged(name, error) from None
        problems = Problems()
        try:
            self._members = _members(self._zip, name, problems)
            problems.refuse_if_any()
        except StudyRefused:
            self._zip.close()
            raise
        self.files = {path: member.file_size for path, member in self._members.items()}

    def open(self, path: str) -> BinaryIO:
        """Open one file as a stream of unpacked bytes."""
        try:
            return cast(BinaryIO, self._zip.open(self._members[path]))
        except DAMAGE as error:
            raise damaged(path, error) from None

    def close(self) -> None:
        """Close the archive."""
        self._zip.close()


def damaged(name: str, error: Exception) -> StudyRefused:
    """Return the error for an archive, or a file in it, that cannot be unpacked."""
    return refusal(
        Location(name),
        None,
        f"It is damaged, or compressed with an unsupported method ({error}).",
        "Create it again, and check that it was transferred completely.",
    )


def _check_directory(archive: Path | BinaryIO, name: str) -> None:
    """Raise StudyRefused if the central directory is too large to hold in memory."""
    stream = archive.open("rb") if isinstance(archive, Path) else archive
    try:
        size = _directory_size(stream)
    finally:
        if isinstance(archive, Path):
            stream.close()
    if size > limits.MAX_DIRECTORY:
        raise refusal(
            Location(name),
            None,
            f"The archive's list of files takes {format_size(size)}.",
            f"Use at most {limits.MAX_FILES:,} files.",
        )


def _directory_size(stream: BinaryIO) -> int:
    """Return the size of the central directory, as the end record of the archive declares it."""
    stream.seek(max(0, stream.seek(0, 2) - _TAIL))
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + _END.size:
        raise zipfile.BadZipFile("its end is missing")
    size: int = _END.unpack_from(tail, at)[5]
    large = tail.rfind(b"PK\x06\x06", 0, at)  # the record of archives with many or large files
    if large >= 0 and at >= large + 48:
        size = max(size % 0xFFFFFFFF, *struct.unpack_from("<Q", tail, large + 40))
    return size


def _members(archive: zipfile.ZipFile, name: str, problems: Problems) -> dict[str, zipfile.ZipInfo]:
    infos = [info for info in archive.infolist() if not info.is_dir()]
    check_sizes(name, {info.filename: info.file_size for info in infos}, problems)
    _check_ratio(name, infos, problems)
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        if is_litter(info.filename):
            continue
        for problem, fix in _faults(info, members):
            problems.add(Location(info.filename), None, problem, fix)
        members[info.filename] = info
    shared = shared_folder(members)
    return {path[len(shared) :]: members[path] for path in sorted(members)}


def _check_ratio(name: str, infos: list[zipfile.ZipInfo], problems: Problems) -> None:
    """Add a problem if the archive, or one larger member, unpacks like a bomb."""
    packed = sum(info.compress_size for info in infos)
    unpacked = sum(info.file_size for info in infos)
    sizes = [(name, packed, unpacked)]
    sizes += [(info.filename, info.compress_size, info.file_size) for info in infos]
    for file, before, after in sizes:
        if after > max(limits.RATIO_FREE, limits.MAX_RATIO * before):
            problems.add(
                Location(file),
                None,
                f"{format_size(before)} unpack to {format_size(after)}: more "
                f"than {limits.MAX_RATIO} to 1.",
                "It looks like a zip bomb; store the files uncompressed.",
            )


def _faults(
    info: zipfile.ZipInfo, members: dict[str, zipfile.ZipInfo]
) -> Iterator[tuple[str, str]]:
    path = info.filename
    parts = PurePosixPath(path).parts
    outside = not parts or path.startswith("/") or ".." in parts
    if outside or "\\" in path or ":" in parts[0] or "\0" in path:
        yield "This path leads out of the archive.", "Use plain relative paths."
    if len(path) > limits.MAX_PATH:
        yield f"The path has {len(path)} characters.", f"Use at most {limits.MAX_PATH}."
    if stat.S_ISLNK(info.external_attr >> 16):
        yield "This is a symbolic link.", "Replace it with the file itself."
    if info.flag_bits & 0x1:
        yield "This file is encrypted.", "Make the archive without a password."
    if path in members:
        yield "The archive contains this path twice.", "Remove one of the two."
