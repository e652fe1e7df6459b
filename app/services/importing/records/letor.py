"""LETOR lines (SVMlight with ``qid:`` and ``#docid``), and cards that show their features."""

import html
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from topkapi.app.services.fence import limits
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records.types import HTML, CandidateRecord, DocumentRecord
from topkapi.app.services.importing.records.values import (
    BadValue,
    Features,
    grade,
    identifier,
    number_of,
    shown,
)
from topkapi.app.services.importing.sources.reader import Reader

_DOCID = re.compile(r"\bdocid\s*=\s*(\S+)")


class Row(NamedTuple):
    """One line: a query, a document, its label and its features."""

    query: str
    document: str
    grade: int | None
    features: Features


def looks_like_letor(line: str) -> bool:
    """Return whether the second column of a line is ``qid:...``."""
    parts = line.split(None, 2)
    return len(parts) > 1 and parts[1].startswith("qid:")


def read_rows(reader: Reader, path: str, *, name_rows: bool) -> Iterator[tuple[Location, Row]]:
    """Yield the rows of a file.

    A document without ``#docid`` is a problem, or is named by its row if ``name_rows``.
    """
    done: set[str] = set()
    current, number = "", 0
    for location, line in reader.lines(path):
        if line.lstrip().startswith("#"):
            continue
        try:
            body, _, comment = line.partition("#")
            label, query, features = _parsed(body)
            number = number + 1 if query == current else 1
            if query != current:
                if query in done:
                    raise BadValue(
                        "qid",
                        f"Query {shown(query)} was interrupted by another query.",
                        "Put all lines of a query together.",
                    )
                done.add(query)
                current = query
            name = f"{query}-{number}" if name_rows else None
            yield location, Row(query, _document(comment, name), label, features)
        except BadValue as error:
            reader.problems.add(location, error.field, error.problem, error.fix)


def _parsed(body: str) -> tuple[int | None, str, Features]:
    parts = body.split()
    if len(parts) < 2 or not parts[1].startswith("qid:"):
        raise BadValue(
            "qid", "The line is not 'label qid:query number:value ...'.", "Use this format."
        )
    label = grade(parts[0], "label")
    return label, identifier(parts[1][4:], "qid"), _features(parts[2:])


def _features(columns: list[str]) -> Features:
    if len(columns) > limits.MAX_FEATURES:
        raise BadValue(
            "features",
            f"There are {len(columns):,} features.",
            f"Use at most {limits.MAX_FEATURES:,}.",
        )
    found: Features = {}
    last = 0
    for column in columns:
        name, _, text = column.partition(":")
        try:
            number, value = int(name), number_of(text)
        except ValueError:
            raise BadValue(
                "features", f"{shown(column)} is not number:value.", "Use this format."
            ) from None
        if not math.isfinite(value):
            raise BadValue("features", f"Feature {number} is {text}.", "Use a finite number.")
        if number <= last:
            raise BadValue(
                "features",
                f"Feature {number} follows feature {last}.",
                "List features in increasing order, from 1.",
            )
        found[str(number)] = value
        last = number
    return found


def _document(comment: str, name: str | None) -> str:
    found = _DOCID.search(comment)
    given = found[1] if found else name
    if given is None:
        raise BadValue("docid", "The line names no document.", "Add '#docid = NAME' at its end.")
    return identifier(given, "docid")


def read_candidates(
    reader: Reader, path: str, *, as_cards: bool
) -> Iterator[tuple[Location, CandidateRecord]]:
    """Yield the rows as candidates.

    With ``as_cards``, a document of several queries has one card per query.
    """
    names = _CardNames(reader, path) if as_cards else None
    for location, row in read_rows(reader, path, name_rows=as_cards):
        name = names.of(row) if names else row.document
        yield location, CandidateRecord(row.query, name, row.grade, row.features)


def read_cards(reader: Reader, path: str) -> Iterator[tuple[Location, DocumentRecord]]:
    """Yield a document per row: a card with a table of its features."""
    names = _CardNames(reader, path)
    for location, row in read_rows(reader, path, name_rows=True):
        data = _card(row).encode()
        yield location, DocumentRecord(names.of(row), row.document, "", HTML, data)


class _CardNames:
    """Ids of cards: a document of several queries has a card per query, named with the query."""

    def __init__(self, reader: Reader, path: str) -> None:
        seen: set[str] = set()
        self._shared: set[str] = set()
        quiet = reader.quiet()
        for _, row in read_rows(quiet, path, name_rows=True):
            (self._shared if row.document in seen else seen).add(row.document)

    def of(self, row: Row) -> str:
        """Return the id of the row's card."""
        return f"{row.document}@{row.query}" if row.document in self._shared else row.document


def _card(row: Row) -> str:
    rows = "".join(
        f"<tr><th>{number}</th><td>{value:.6g}</td></tr>" for number, value in row.features.items()
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
