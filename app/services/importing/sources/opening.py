"""Opening a study from a folder, an archive or a single file."""

from pathlib import Path

from topkapi.app.domain.errors import NotFound
from topkapi.app.services.importing.sources.folders import FileSource, FolderSource, Source
from topkapi.app.services.importing.sources.tarred import with_archives
from topkapi.app.services.importing.sources.zipped import ZipSource


def open_source(path: Path, *, name: str | None = None) -> Source:
    """Open the source at ``path``: a folder, a zip or tar archive, or a single file.

    ``name`` is the original name of an uploaded file, which is stored under another one.
    """
    if not path.exists():
        raise NotFound(f"There is no file or folder {path}.")
    if path.is_dir():
        return with_archives(FolderSource(path))
    name = name or path.name
    with path.open("rb") as stream:
        packed = stream.read(2) == b"PK"
    if packed or name.lower().endswith(".zip"):
        return with_archives(ZipSource(path, name=name))
    return with_archives(FileSource(path, name=name))
