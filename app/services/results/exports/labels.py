"""Labels by query, and their join with the study's features: content of `qrels` and `letor`."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from statistics import median_low

from topkapi.analysis.data.exports import (
    Label,
    LetorRow,
    letor_lines,
    umbrela_lines,
)
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.results.exports.consensus import consensus_lists
from topkapi.app.services.results.exports.records import grades_of, topk_record
from topkapi.app.services.results.exports.source import ExportedQuery, StudySource

Labels = Mapping[str, int]
_MOST_QID = 2**31 - 1


def labels_by_query(source: StudySource) -> Iterator[tuple[ExportedQuery, Labels]]:
    """Yield labels k + 1 - rank per finished query, of one assessor or the consensus."""
    return _of_consensus(source) if source.only is None else _of_assessor(source)


def _of_consensus(source: StudySource) -> Iterator[tuple[ExportedQuery, Labels]]:
    labels = {found.query: found.labels() for found in consensus_lists(source)}
    for query in source.queries():
        if query.name in labels:
            yield query, labels[query.name]


def _of_assessor(source: StudySource) -> Iterator[tuple[ExportedQuery, Labels]]:
    """Yield the labels of one assessor; of several rounds, the last finished one counts."""
    for query in source.queries():
        logs = source.with_logs(source.list_works(query))
        records = [topk_record(work, rows) for work, rows in logs]
        finished = [record for record in records if record.complete]
        if finished:
            yield query, max(finished, key=lambda record: record.round).labels()


def list_labels(source: StudySource) -> Iterator[Label]:
    """Yield the same labels one by one."""
    for query, labels in labels_by_query(source):
        for document, label in labels.items():
            yield Label(query.name, document, label)


def grades_umbrela(source: StudySource) -> Iterator[str]:
    """Return the lines of `umbrela.jsonl`."""
    texts = {query.name: query.text for query in source.queries()}
    return umbrela_lines(grade_labels(source), texts)


def grade_labels(source: StudySource) -> Iterator[Label]:
    """Yield the grades of all finished queries, query by query: the lower median of assessors."""
    for query, group in groupby(source.all_logs(tool=Tool.GRADES), key=lambda pair: pair[0].query):
        names: Mapping[int, str] = {}
        given: dict[str, list[int]] = {}
        for work, rows in group:
            names = work.names
            for document, grade in (grades_of(work, rows) or {}).items():
                given.setdefault(document, []).append(grade)
        for document in names.values():
            if document in given:
                yield Label(query.name, document, median_low(given[document]))


@dataclass(frozen=True, slots=True)
class Numbering:
    """Mapping of feature and query names to the numbers that LETOR requires.

    Numeric names are kept. Other feature names are numbered in sorted order; if any query name is
    not a number, all queries are numbered by their position in the study.
    """

    features: Mapping[str, int]
    by_position: bool

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, unless they are just numbers."""
        named = any(name != str(number) for name, number in self.features.items())
        return sorted(self.features) if named else []

    def qid(self, query: ExportedQuery) -> int:
        """Return the number of a query."""
        return query.position if self.by_position else int(query.name)


def numbering_of(source: StudySource) -> Numbering:
    """Return the numbering of a study; raise Invalid if it has no features."""
    names: set[str] = set()
    for features in queries.features_of_study(source.session, source.study.id):
        names.update(features)
    if not names:
        raise Invalid(
            "This study has no features to join the labels with; use qrels instead.", field="format"
        )
    if all(_is_number(name) for name in names):
        numbers = {name: int(name) for name in names}
    else:
        numbers = {name: number for number, name in enumerate(sorted(names), start=1)}
    with closing(queries.queries_in_order(source.session, source.study.id)) as rows:
        return Numbering(numbers, by_position=not all(_is_number(row[1]) for row in rows))


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and name[0] != "0" and int(name) <= _MOST_QID


def letor(source: StudySource) -> Iterator[str]:
    """Return the lines of `letor`."""
    numbering = numbering_of(source)
    return letor_lines(_letor_rows(source, numbering), numbering.feature_names)


def _letor_rows(source: StudySource, numbering: Numbering) -> Iterator[LetorRow]:
    for query, labels in labels_by_query(source):
        qid = numbering.qid(query)
        for document, values in queries.features_of_query(source.session, query.number).items():
            if document in labels:
                pairs = sorted((numbering.features[name], values[name]) for name in values)
                yield LetorRow(query.name, qid, document, labels[document], tuple(pairs))
