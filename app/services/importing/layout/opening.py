"""Opening a study from a folder, an archive or a single file."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO
from weakref import finalize

from topkapi.app.domain.errors import NotFound
from topkapi.app.services.importing.kinds import SIDE_FILES
from topkapi.app.services.importing.kinds.base import SideFile
from topkapi.app.services.importing.layout.naming import files_of_role
from topkapi.app.services.importing.problems import NullProblems, Problems
from topkapi.app.services.importing.records.pages import PAGES
from topkapi.app.services.importing.sources.folders import (
    Closing,
    FileSource,
    FolderSource,
    Source,
    check_sizes,
)
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.importing.sources.tarred import repacked
from topkapi.app.services.importing.sources.zipped import ZipSource

_ZIP = ".zip"
_ARCHIVES = (".tar", ".tar.gz", ".tgz", _ZIP)


def open_source(
    path: Path, *, name: str | None = None, beside: Mapping[str, Path] | None = None
) -> Source:
    """Open the source at ``path``: a folder, a zip or tar archive, or a single file.

    ``name`` is the original name of an uploaded file, which is stored under another one. Files
    ``beside`` it, by role, count instead of those among the study's files.
    """
    added = beside or {}
    for each in (path, *added.values()):
        if not each.exists():
            raise NotFound(f"There is no file or folder {each}.")
    source = _opened(path, name)
    for kind in SIDE_FILES:
        if kind.role in added:
            source = _WithFile(source, kind, added[kind.role])
    return source


def _opened(path: Path, name: str | None) -> Source:
    if path.is_dir():
        return _unpacked(FolderSource(path))
    name = name or path.name
    with path.open("rb") as stream:
        packed = stream.read(2) == b"PK"
    if packed or name.lower().endswith(".zip"):
        return _unpacked(ZipSource(path, name=name))
    return _unpacked(FileSource(path, name=name))


class _WithPages(Closing):
    """A source whose pages are in an archive among its files."""

    single = False

    def __init__(self, source: Source, archive: str, inside: ZipSource) -> None:
        self._source, self._pages, self.name = source, inside, source.name
        pages = {f"{PAGES}{path}": size for path, size in self._pages.files.items()}
        self.files = {path: size for path, size in source.files.items() if path != archive} | pages
        problems = Problems()
        check_sizes(self.name, self.files, problems)
        problems.refuse_if_any()

    def open(self, path: str) -> BinaryIO:
        """Open a page of the archive, or another file."""
        inside = path.startswith(PAGES)
        return self._pages.open(path.removeprefix(PAGES)) if inside else self._source.open(path)

    def close(self) -> None:
        """Let go of both."""
        self._pages.close()
        self._source.close()


class _WithFile(Closing):
    """A source with one more file, in place of its own of that kind."""

    def __init__(self, source: Source, kind: SideFile, path: Path) -> None:
        self._source, self._path = source, path
        self.name, self.single = source.name, source.single
        self._added, files = kind.added_as, source.files.items()
        kept = {name: size for name, size in files if name.split(".")[0] not in kind.names}
        self.files = {**kept, self._added: path.stat().st_size}

    def open(self, path: str) -> BinaryIO:
        """Open the added file, or another one."""
        return self._path.open("rb") if path == self._added else self._source.open(path)

    def close(self) -> None:
        """Let go of the source."""
        self._source.close()


def _unpacked(source: Source) -> Source:
    """Return the source, or what the archive among its files contains: all of it, or the pages."""
    files, reader = tuple(source.files), Reader(source, NullProblems(), doing="")
    if source.single:
        is_tar = source.files[source.name] and reader.head(source.name)[257:262] == b"ustar"
        return _inner(reader, source.name) if is_tar else source
    archives = [path for path in files if "/" not in path and path.lower().endswith(_ARCHIVES)]
    if files == tuple(archives) and len(archives) == 1:  # an archive in an archive
        with closing(source):
            return _inner(reader, archives[0])
    has_pages = any(path.startswith(PAGES) for path in files)
    if len(archives) != 1 or has_pages or files_of_role("documents", files):
        return source
    try:
        return _WithPages(source, archives[0], _inner(reader, archives[0]))
    except BaseException:
        source.close()
        raise


def _inner(reader: Reader, path: str) -> ZipSource:
    """Return an archive among the files as a zip archive, which can be read in any order."""
    with reader.stream(path) as stream:
        if not path.lower().endswith(_ZIP):
            return repacked(stream, name=path)
        file = TemporaryFile()  # noqa: SIM115 (the archive that is returned reads it)
        try:
            copyfileobj(stream, file)
            found = ZipSource(file, name=path)
        except BaseException:
            file.close()
            raise
    finalize(found, file.close)
    return found
