"""The shape of a file of records, detected from its first bytes and its first line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from topkapi.app.services.importing.problems import Location, StudyRefused, refusal
from topkapi.app.services.importing.records.names import Aliases, is_header
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.extras import install_command

Kind = Literal["jsonl", "json", "table", "parquet", "lines"]
PARQUET = b"PAR1"
_DELIMITERS = ("\t", ",", ";", "|")
_TO_TEXT = "Save it as CSV with a header line, or as JSON Lines."
_FOREIGN: Sequence[tuple[bytes, str, str]] = (
    (b"PK\x03\x04", "This looks like an Excel workbook or a zip archive.", _TO_TEXT),
    (b"\xd0\xcf\x11\xe0", "This looks like an old Excel or Word file.", _TO_TEXT),
    (b"%PDF", "This looks like a PDF file.", "Extract its text into a .txt file under pages/."),
    (b"SQLite format 3", "This looks like an SQLite database.", _TO_TEXT),
    (b"ARROW1", "This looks like an Arrow file.", "Save it as Parquet or as JSON Lines."),
    (b"\x93NUMPY", "This looks like a NumPy array.", _TO_TEXT),
    (b"\x80\x04", "This looks like a Python pickle.", _TO_TEXT),
    (b"\x80\x05", "This looks like a Python pickle.", _TO_TEXT),
    (b"BZh", "This is compressed with bzip2.", "Unpack it, or compress it with gzip."),
    (b"\xfd7zXZ", "This is compressed with xz.", "Unpack it, or compress it with gzip."),
    (b"\x28\xb5\x2f\xfd", "This is compressed with zstd.", "Unpack it, or compress it with gzip."),
    (b"version https://git-lfs", "This is a Git LFS pointer, not the file.", "Run: git lfs pull."),
    (
        b"<!doctype html",
        "This is a web page, perhaps an error or sign-in page instead of the file.",
        "Download the file again, and open it before you import it.",
    ),
    (
        b"<html",
        "This is a web page, perhaps an error or sign-in page instead of the file.",
        "Download the file again, and open it before you import it.",
    ),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How the records of a file are written; ``header`` names the columns of a table."""

    kind: Kind
    delimiter: str = ""
    header: tuple[str, ...] = ()

    @property
    def has_fields(self) -> bool:
        """Whether records have named fields."""
        return self.kind != "lines"


def shape_of(reader: Reader, path: str, aliases: Aliases, required: Sequence[str]) -> Shape:
    """Return the shape of a file; raise StudyRefused if it is something else entirely."""
    head = reader.head(path)
    if head.startswith(PARQUET):
        return Shape("parquet")
    _refuse_foreign(path, head)
    line = reader.first_line(path)
    if line.startswith("["):
        return Shape("json")
    if line.startswith("{"):
        return Shape("jsonl")
    for delimiter in _DELIMITERS:
        cells = tuple(line.split(delimiter))
        if is_header(cells, aliases, required):
            return Shape("table", delimiter, cells)
    return Shape("lines")


def _refuse_foreign(path: str, head: bytes) -> None:
    start = head.lstrip()[:40]
    for magic, problem, fix in _FOREIGN:
        if start.lower().startswith(magic.lower()):
            raise refusal(Location(path), None, problem, fix)
    if b"\0" in head[:16]:
        raise refusal(Location(path), None, "This is a binary file, not text.", _TO_TEXT)


def parquet_missing(path: str) -> StudyRefused:
    """Return the error for a Parquet file where no reader is installed."""
    return refusal(
        Location(path),
        None,
        "This looks like Parquet, and no reader for it is installed.",
        f"Install it with: {install_command('parquet')}. Or save the file as JSON Lines.",
    )
