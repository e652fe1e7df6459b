"""Roles of files whose names say nothing, or too little: decided by what the files contain."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from topkapi.app.services.importing.kinds.candidates import candidate_format, read_candidates
from topkapi.app.services.importing.kinds.documents import read_documents
from topkapi.app.services.importing.kinds.queries import read_queries
from topkapi.app.services.importing.layout.naming import NOT_DATA
from topkapi.app.services.importing.problems import Location, Problems, StudyRefused
from topkapi.app.services.importing.records.letor import read_rows
from topkapi.app.services.importing.sources.reader import Reader

_SAMPLE = 20  # records of a file
_CANDIDATES = 20_000  # from which ids of queries and documents are known
_MOST_FILES = 20  # more are pages, not files of records
Records = Iterator[tuple[Location, Any]]


def fits(reader: Reader, role: str, path: str) -> bool:
    """Return whether most of the first records of a file are valid in a role."""
    return bool(_records(reader, role, path, _SAMPLE))


def unnamed_files(reader: Reader, named: Collection[str]) -> list[str]:
    """Return the files that may have any role: not ``named``, at the top, and not known as others.

    A folder with many of them is no collection, and none is looked into.
    """
    unnamed = [
        path
        for path in reader.source.files
        if path not in named
        and "/" not in path
        and PurePosixPath(path).suffix.lower() not in NOT_DATA
    ]
    return unnamed if len(unnamed) <= _MOST_FILES else []


def find_candidates(reader: Reader, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the files that look like candidates."""
    return tuple(path for path in paths if fits(reader, "candidates", path))


def find_texts(
    reader: Reader, paths: Sequence[str], missing: Sequence[str], candidates: str
) -> dict[str, tuple[str, ...]]:
    """Return the files that look like queries and documents, for the roles that are ``missing``.

    Both may be ids with texts; the ids in the candidates file tell them apart. What is left can
    be the documents of a large collection, whose first ids are candidates of no query.
    """
    rows = [row for _, row in islice(_candidates(reader.quiet(), candidates), _CANDIDATES)]
    known = {"queries": {row.query for row in rows}, "documents": {row.document for row in rows}}
    by_role: dict[str, list[str]] = {"queries": [], "documents": []}
    unknown = []
    for path in paths:
        ids = {role: _ids(reader, role, path) for role in by_role}
        hits = {role: len(ids[role] & known[role]) for role in by_role}
        if hits["documents"] and "queries" not in missing:
            by_role["documents"].append(path)
        elif hits["queries"] != hits["documents"]:
            by_role[max(hits, key=hits.__getitem__)].append(path)
        elif ids["documents"] and not fits(reader, "candidates", path):
            unknown.append(path)
    if not by_role["documents"]:
        by_role["documents"] = unknown
    return {role: tuple(by_role[role]) for role in missing}


def _ids(reader: Reader, role: str, path: str) -> set[str]:
    return {row.id for row in _records(reader, role, path, _SAMPLE)}


def _records(reader: Reader, role: str, path: str, count: int) -> list[Any]:
    """Return the first valid records of a file, or nothing if most of them are not valid."""
    problems = Problems()
    trial = Reader(reader.source, problems, doing="", media=reader.media)
    rows: list[Any] = []
    with suppress(StudyRefused):
        rows.extend(record for _, record in islice(_READ[role](trial, path), count))
    return rows if len(rows) > len(problems) else []


def _candidates(reader: Reader, path: str) -> Records:
    format = candidate_format(reader, path)
    if format is None or (format == "run" and not _is_ranked(reader.first_line(path))):
        return iter(())
    if format == "letor":  # whose documents may be named by their rows
        return read_rows(reader, (path,), name_rows=True)
    return read_candidates(reader, (path,), format)


def _is_ranked(line: str) -> bool:
    """Return whether the fourth column of a line is a rank; a text may have six words."""
    return line.split()[3].isdigit()


_READ: Mapping[str, Callable[[Reader, str], Records]] = {
    "queries": read_queries,
    "documents": read_documents,
    "candidates": _candidates,
}
