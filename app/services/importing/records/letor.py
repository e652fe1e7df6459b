"""LETOR lines (SVMlight with ``qid:`` and ``#docid``), and cards that show their features."""

import html
import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain, repeat

from topkapi.app.services.fence import limits
from topkapi.app.services.importing.problems import Location, refusal
from topkapi.app.services.importing.records.types import HTML, CandidateRecord, DocumentRecord
from topkapi.app.services.importing.sources.folders import GROUPS
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import (
    BadValue,
    Features,
    grade,
    identifier,
    number_of,
    shown,
)

_COUNT = re.compile(r"[0-9]{1,9}")
_UNGROUPED = re.compile(r"\S+\s+[0-9]+:\S")
_DOCID = re.compile(r"\bdocid\s*=\s*(\S+)")


def looks_like_letor(line: str) -> bool:
    """Return whether the second column of a line is ``qid:...``."""
    parts = line.split(None, 2)
    return len(parts) > 1 and parts[1].startswith("qid:")


def group_file(reader: Reader, path: str) -> str | None:
    """Return the file beside ``path`` with the number of lines of each query, if it is needed."""
    beside = (f"{path.removesuffix('.gz')}{suffix}" for suffix in GROUPS)
    found = next((name for name in beside if name in reader.source.files), None)
    return found if found and _UNGROUPED.match(reader.first_line(path)) else None


def _groups(reader: Reader, path: str) -> Iterator[str]:
    """Yield the query of each line; queries are numbered from 1."""
    for number, (location, line) in enumerate(reader.lines(path), start=1):
        if not _COUNT.fullmatch(line.strip()):
            problem = f"{shown(line)} is not a number of lines."
            raise refusal(location, None, problem, "Write the number of lines of each query.")
        yield from repeat(str(number), int(line))


def _lines(reader: Reader, path: str) -> Iterator[tuple[Location, str]]:
    """Yield the lines with their queries; a file beside may say how many lines each query has."""
    group = group_file(reader, path)
    groups = _groups(reader, group) if group else iter(())
    fix = "Use the groups of this file."
    for location, line in reader.lines(path):
        if line.lstrip().startswith("#"):
            continue
        if group:
            label, rest = line.split(None, 1)
            query = next(groups, None)
            if query is None:
                raise refusal(location, None, "The groups end before this line.", fix)
            line = f"{label} qid:{query} {rest}"
        yield location, line
    if next(groups, None):
        problem = "The groups have more lines than the file."
        reader.problems.add(Location(group or path), None, problem, fix)


def read_rows(
    reader: Reader, paths: Sequence[str], *, name_rows: bool, ids_only: bool = False
) -> Iterator[tuple[Location, CandidateRecord]]:
    """Yield the rows of files; with ``ids_only`` without their features.

    A document without ``#docid`` is a problem, or is named by its row if ``name_rows``.
    """
    done: dict[str, str] = {}  # query -> file
    current, number = "", 0
    for location, line in chain.from_iterable(_lines(reader, path) for path in paths):
        path = location.file
        try:
            body, _, comment = line.partition("#")
            label, query, features = _parsed(body, ids_only)
            number = number + 1 if query == current else 1
            if query != current or done[query] != path:
                if query in done:
                    raise _repeated(query, path, done[query])
                done[query], current = path, query
            name = f"{query}-{number}" if name_rows else None
            yield location, CandidateRecord(query, _document(comment, name), label, features)
        except BadValue as error:
            reader.problems.add_value(location, error)


def _repeated(query: str, path: str, before: str) -> BadValue:
    if path != before:
        fix = f"Choose among the files with --split, such as --split '{before.split('.')[0]}'."
        return BadValue("qid", f"Query {shown(query)} is in {before} too.", fix)
    problem = f"Query {shown(query)} was interrupted by another query."
    return BadValue("qid", problem, "Put all lines of a query together.")


def _parsed(body: str, ids_only: bool) -> tuple[int | None, str, Features]:
    parts = body.split(None, 2)
    if len(parts) < 2 or not parts[1].startswith("qid:"):
        raise BadValue(
            "qid", "The line is not 'label qid:query number:value ...'.", "Use this format."
        )
    label = grade(parts[0], "label")
    features = {} if ids_only else _features("".join(parts[2:]).split())
    return label, identifier(parts[1][4:], "qid"), features


def _features(columns: list[str]) -> Features:
    if len(columns) > limits.MAX_FEATURES:
        raise BadValue(
            "features",
            f"There are {len(columns):,} features.",
            f"Use at most {limits.MAX_FEATURES:,}.",
        )
    values: dict[int, float] = {}
    for column in columns:
        name, _, text = column.partition(":")
        try:
            number, value = int(name), number_of(text)
        except ValueError:
            number, value = -1, math.nan
        if number < 0:
            raise BadValue("features", f"{shown(column)} is not number:value.", "Use this format.")
        if not math.isfinite(value):
            raise BadValue("features", f"Feature {number} is {text}.", "Use a finite number.")
        if number in values:
            raise BadValue("features", f"Feature {number} appears twice.", "Remove one of them.")
        values[number] = value
    return {str(number): values[number] for number in sorted(values)}


def _document(comment: str, name: str | None) -> str:
    found = _DOCID.search(comment)
    given = found[1] if found else name
    if given is None:
        raise BadValue("docid", "The line names no document.", "Add '#docid = NAME' at its end.")
    return identifier(given, "docid")


def read_candidates(
    reader: Reader, paths: Sequence[str], *, as_cards: bool
) -> Iterator[tuple[Location, CandidateRecord]]:
    """Yield the rows as candidates.

    With ``as_cards``, a document of several queries has one card per query.
    """
    names = _CardNames(reader, paths) if as_cards else None
    for location, row in read_rows(reader, paths, name_rows=as_cards):
        yield location, row._replace(document=names.of(row)) if names else row


def read_cards(reader: Reader, paths: Sequence[str]) -> Iterator[tuple[Location, DocumentRecord]]:
    """Yield a document per row: a card with a table of its features."""
    names = _CardNames(reader, paths)
    for location, row in read_rows(reader, paths, name_rows=True):
        data = _card(row).encode()
        yield location, DocumentRecord(names.of(row), row.document, "", HTML, data)


class _CardNames:
    """Ids of cards: a document of several queries has a card per query, named with the query."""

    def __init__(self, reader: Reader, paths: Sequence[str]) -> None:
        seen: set[str] = set()
        self._shared: set[str] = set()
        quiet = reader.quiet()
        for _, row in read_rows(quiet, paths, name_rows=True, ids_only=True):
            (self._shared if row.document in seen else seen).add(row.document)

    def of(self, row: CandidateRecord) -> str:
        """Return the id of the row's card."""
        return f"{row.document}@{row.query}" if row.document in self._shared else row.document


def _card(row: CandidateRecord) -> str:
    rows = "".join(
        f"<tr><th>{number}</th><td>{value:.6g}</td></tr>"
        for number, value in (row.features or {}).items()
    )
    title = html.escape(row.document)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>'
        "body{font:16px/1.5 system-ui,sans-serif;margin:1.5rem}"
        "table{border-collapse:collapse}th,td{padding:.2rem .8rem;border-bottom:1px solid #bbb}"
        "td{text-align:right;font-variant-numeric:tabular-nums}</style></head><body>"
        f"<h1>{title}</h1><table><thead><tr><th>Feature</th><th>Value</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></body></html>"
    )
