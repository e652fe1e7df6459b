"""``qrels`` and ``letor``: labels in the two formats that evaluation and learning tools read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from topkapi.analysis.data.exports.files import numbered_lines, word
from topkapi.analysis.data.letor import parse_letor, read_bytes
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData

_QUERY = re.compile(r"#docid = \S+ query = (\S+)$")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # int() also takes the digits of other scripts


class Label(NamedTuple):
    """The label of a document for a query: k + 1 - rank in T and 0 in F, or a grade."""

    query: str
    document: str
    label: int


@dataclass(frozen=True, slots=True)
class LetorRow:
    """A labelled document with its features as (number, value), numbers rising from 1.

    ``qid`` replaces the query's id, which tools want to be a number.
    """

    query: str
    qid: int
    document: str
    label: int
    features: tuple[tuple[int, float], ...]


def qrels_lines(labels: Iterable[Label]) -> Iterator[str]:
    r"""Yield the lines of TREC qrels: query, 0, document, label.

    >>> list(qrels_lines([Label("q1", "d3", 10)]))
    ['q1 0 d3 10\n']
    """
    for query, document, label in labels:
        yield f"{word(query)} 0 {word(document)} {label}\n"


def beir_qrels_lines(labels: Iterable[Label]) -> Iterator[str]:
    r"""Yield qrels as BEIR has them: a header, then query, document and label between tabs.

    >>> list(beir_qrels_lines([Label("q1", "d3", 10)]))[1]
    'q1\td3\t10\n'
    """
    yield "query-id\tcorpus-id\tscore\n"
    for query, document, label in labels:
        yield f"{word(query)}\t{word(document)}\t{label}\n"


def read_qrels(path: str | Path) -> list[Label]:
    """Read TREC qrels, plain or gzip, of any origin; refuse two labels of a document."""
    found: dict[tuple[str, str], Label] = {}
    for location, line in numbered_lines(path):
        label = qrels_label(line, location)
        if found.setdefault(label[:2], label) != label:
            raise BadData(f"{location}: another line has another label of {label.document!r}")
    return list(found.values())


def qrels_label(line: str, location: str) -> Label:
    """Return the label of a line of TREC qrels; raise BadData with its location."""
    words = line.split()
    if len(words) != 4:
        raise BadData(f"{location}: {len(words)} columns, expected query, 0, document and label")
    if not _WHOLE.fullmatch(words[3]):
        raise BadData(f"{location}: the label {words[3]!r} is not a whole number")
    return Label(words[0], words[2], int(words[3]))


def letor_lines(rows: Iterable[LetorRow], names: Sequence[str] = ()) -> Iterator[str]:
    r"""Yield the lines of LETOR (SVMlight with ``qid``).

    Every digit is kept; names are in the comment.

    ``names`` of the features, where they are more than their numbers, come first, a comment each.

    >>> list(letor_lines([LetorRow("q1", 1, "d3", 10, ((1, 0.5),))], ["bm25"]))
    ['# feature 1: bm25\n', '10 qid:1 1:0.5 #docid = d3 query = q1\n']
    """
    for number, name in enumerate(names, start=1):
        yield f"# feature {number}: {' '.join(name.split())}\n"
    for row in rows:
        values = "".join(f" {number}:{float(value)!r}" for number, value in row.features)
        names_of = f"#docid = {word(row.document)} query = {word(row.query)}"
        yield f"{row.label} qid:{row.qid}{values} {names_of}\n"


def read_letor_export(path: str | Path, *, topk: int | None = None) -> RankingData:
    """Read an exported ``letor`` file: as ``read_letor``, with the study's own query ids.

    Parameters
    ----------
    path
        Plain or gzip file.
    topk
        k of a top-k ground truth; None where labels are grades.
    """
    raw = read_bytes(path)
    try:
        data = parse_letor(raw, topk=topk)
    except BadData as error:
        raise BadData(f"{path}: {error}") from None
    names: list[str] = []
    for location, line in numbered_lines(path):
        if line.startswith("#"):
            continue
        found = _QUERY.search(line)
        if found is None:
            raise BadData(f"{location}: no '#docid = NAME query = NAME' at the end: use read_letor")
        if not names or names[-1] != found[1]:
            names.append(found[1])
    return replace(data, query_ids=tuple(names))
