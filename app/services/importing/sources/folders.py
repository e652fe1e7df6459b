"""Sources of a study: a folder or a single file, and the protocol that archives share.

A source lists its files before any is opened, and refuses what could read outside the study or
exhaust the machine: path traversal, links, decompression bombs.
"""

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol, Self

from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.problems import Location, Problems

GROUPS = (".query", ".group")  # suffixes of files beside a LETOR file: lines per query
_LITTER = frozenset({"Thumbs.db", "desktop.ini", "__MACOSX"})


class Source(Protocol):
    """A study's files by their paths, each with its size."""

    name: str
    single: bool

    @property
    def files(self) -> Mapping[str, int]:
        """Paths with sizes, in the order of the paths."""
        ...

    def open(self, path: str) -> BinaryIO:
        """Open one file as a stream of bytes."""
        ...

    def close(self) -> None:
        """Let go of the source."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_error: object) -> None: ...


class Closing:
    """What sources share: they can be used in a ``with`` statement."""

    def close(self) -> None:
        """Let go of the source."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class FolderSource(Closing):
    """A folder on disk; single outer folders are skipped."""

    single = False

    def __init__(self, folder: Path) -> None:
        problems = Problems()
        self.name = folder.resolve().name
        found = _files_of(folder, problems)
        shared = shared_folder(found)
        self._folder = folder / shared
        self.files = {path[len(shared) :]: size for path, size in found.items()}
        check_sizes(self.name, self.files, problems)
        problems.refuse_if_any()

    def open(self, path: str) -> BinaryIO:
        """Open one file; a link created since the listing is not followed."""
        handle = os.open(self._folder / path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        return os.fdopen(handle, "rb")


class FileSource(Closing):
    """One file as a whole study."""

    single = True

    def __init__(self, path: Path, *, name: str) -> None:
        self.name = name
        beside = {f"{name}{end}": path.with_name(path.name + end) for end in ("", *GROUPS)}
        self._paths = {each: file for each, file in beside.items() if file.is_file()}
        self.files = {each: file.stat().st_size for each, file in self._paths.items()}

    def open(self, path: str) -> BinaryIO:
        """Open the file, or the one that groups its lines."""
        return self._paths[path].open("rb")


def is_litter(path: str) -> bool:
    """Return whether the file belongs to a system or a tool, as ``.git`` or ``.DS_Store``."""
    return any(
        part in _LITTER or (part.startswith(".") and part != "..")
        for part in PurePosixPath(path).parts
    )


def shared_folder(paths: Collection[str]) -> str:
    """Return the folders that contain everything, with their slash; pages/ is not one of them."""
    folders: list[str] = []
    for parts in zip(*(path.split("/")[:-1] for path in paths), strict=False):
        if len(set(parts)) > 1 or parts[0] == "pages":
            break
        folders.append(f"{parts[0]}/")
    return "".join(folders)


def check_sizes(name: str, files: Mapping[str, int], problems: Problems) -> None:
    """Add problems for too many files and for too many bytes in total."""
    location = Location(name)
    if len(files) > limits.MAX_FILES:
        problems.add(
            location,
            None,
            f"There are {len(files):,} files; the limit is {limits.MAX_FILES:,}.",
            "Split the study, or put pages as text or html into documents.jsonl.",
        )
    total = sum(files.values())
    if total > limits.MAX_UNPACKED:
        problems.add(
            location,
            None,
            f"The files have {format_size(total)} in total; "
            f"the limit is {format_size(limits.MAX_UNPACKED)}.",
            "Split the study.",
        )


def _files_of(folder: Path, problems: Problems) -> dict[str, int]:
    """Return the regular files below ``folder``, sorted by path."""
    sizes: dict[str, int] = {}
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = f"{below}{entry.name}"
                mode = entry.stat(follow_symlinks=False).st_mode
                if is_litter(path):
                    continue
                if stat.S_ISDIR(mode):
                    waiting.append(f"{path}/")
                elif not stat.S_ISREG(mode):
                    _refuse_special(path, mode, problems)
                else:
                    sizes[path] = entry.stat(follow_symlinks=False).st_size
        if len(sizes) > limits.MAX_FILES:
            break
    return dict(sorted(sizes.items()))


def _refuse_special(path: str, mode: int, problems: Problems) -> None:
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"
    problems.add(Location(path), None, f"This is {kind}.", "Replace it with the file itself.")
