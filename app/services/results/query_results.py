"""The results of one query: each assessor's list beside the consensus, and what was asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from topkapi.analysis.data.exports import ConsensusList, TopK
from topkapi.app.db.models import JudgmentRow
from topkapi.app.db.queries.results import query_results as queries
from topkapi.app.db.queries.results.query_results import QueryDocument, QueryText
from topkapi.app.domain.errors import NotFound
from topkapi.app.domain.log import EntryKind, fold
from topkapi.app.domain.pairs.answers import QuestionKind
from topkapi.app.services.results.exports.consensus import consensus_lists
from topkapi.app.services.results.exports.records import topk_record
from topkapi.app.services.results.exports.source import AssignmentRecord, StudySource


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer of a log in order; ``effective`` if it was not undone later."""

    number: int
    kind: QuestionKind | None
    left: str
    right: str
    answer: str
    note: str
    active_ms: int
    at: datetime
    effective: bool


@dataclass(frozen=True, slots=True)
class PersonResult:
    """One assessor's session with pairs: the list, finished or not, and the questions."""

    assessor: str
    round: int
    found: TopK
    asked: tuple[Asked, ...]

    def rank(self, document: str) -> int | None:
        """Return the rank of a document from 1; tied documents share the best rank."""
        return rank_in(self.found.groups, self.found.k, document)


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of anyone's list: its rank in the consensus and in each finished list.

    ``spread`` is the distance between its best and its worst rank, where outside a list is k + 1.
    """

    document: QueryDocument
    consensus: int | None
    ranks: tuple[int | None, ...]
    spread: int


@dataclass(frozen=True, slots=True)
class QueryResults:
    """Everything that people said about a query with pairs."""

    query: QueryText
    k: int
    consensus: ConsensusList | None
    finished: tuple[PersonResult, ...]
    unfinished: tuple[PersonResult, ...]
    documents: Mapping[str, QueryDocument]
    ranked: tuple[RankedDocument, ...]


def query_results(session: Session, source: StudySource, query_id: int) -> QueryResults:
    """Return the results of one query of the source's study.

    The cost grows with the answers to this query alone.
    """
    query = queries.query_text(session, source.study.id, query_id)
    if query is None:
        raise NotFound(f"The study {source.study.slug!r} has no query with the number {query_id}.")
    source.only_query = query_id
    names = {each.user_id: each.name for each in source.assessors.people}
    people = [
        _person(names[work.assignment.user_id], work, rows) for work, rows in source.list_logs()
    ]
    finished = tuple(each for each in people if each.found.complete)
    consensus = next(consensus_lists(source), None) if finished else None
    documents = {each.name: each for each in queries.documents_of_query(session, query_id)}
    k = max((each.found.k for each in finished), default=0)
    return QueryResults(
        query=query,
        k=k,
        consensus=consensus,
        finished=finished,
        unfinished=tuple(each for each in people if not each.found.complete),
        documents=documents,
        ranked=_ranked(documents, consensus, finished, k),
    )


def rank_in(groups: Sequence[Sequence[str]], k: int, document: str) -> int | None:
    """Return the rank of a document in a list with ties, or None if it is outside the first k."""
    rank = 1
    for group in groups:
        if document in group:
            return rank if rank <= k else None
        rank += len(group)
    return None


def _ranked(
    documents: Mapping[str, QueryDocument],
    consensus: ConsensusList | None,
    people: Sequence[PersonResult],
    k: int,
) -> tuple[RankedDocument, ...]:
    """Return the documents of anyone's list, the most disputed first."""
    order = [] if consensus is None else list(consensus.documents)
    found = []
    for name, document in documents.items():
        ranks = tuple(each.rank(name) for each in people)
        agreed = order.index(name) + 1 if name in order else None
        if agreed is not None or any(rank is not None for rank in ranks):
            found.append(RankedDocument(document, agreed, ranks, _spread(ranks, k)))
    return tuple(sorted(found, key=lambda each: (-each.spread, each.consensus or k + 1)))


def _spread(ranks: Iterable[int | None], k: int) -> int:
    known = [k + 1 if rank is None else rank for rank in ranks]
    return max(known, default=0) - min(known, default=0)


def _person(name: str, work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> PersonResult:
    effective = set(fold((row.entry, row.position) for row in rows).done)
    answers = [row for row in rows if row.entry is EntryKind.ANSWER]
    asked = tuple(
        Asked(
            number=number,
            kind=row.question_kind,
            left=_name(work, row.left_id),
            right=_name(work, row.right_id),
            answer=row.answer or "",
            note=row.note or "",
            active_ms=row.active_ms,
            at=row.created_at,
            effective=row.position in effective,
        )
        for number, row in enumerate(answers, start=1)
    )
    return PersonResult(name, work.assignment.round, topk_record(work, rows), asked)


def _name(work: AssignmentRecord, number: int | None) -> str:
    return "" if number is None else work.names[number]
