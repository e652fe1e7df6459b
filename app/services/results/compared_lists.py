"""Two lists of one query side by side: of people, of their consensus, of systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Ranking
from topkapi.app.db.queries.results import systems as queries
from topkapi.app.db.queries.results.exports import names_of_documents
from topkapi.app.db.queries.results.query_results import QueryText, judged_documents
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.results.exports.source import StudySource
from topkapi.app.services.results.query_results import (
    QueryResults,
    rank_in,
    text_and_documents,
)
from topkapi.app.services.results.systems.runs import scores_in_run

CONSENSUS = "consensus"
Groups = Sequence[Sequence[str]]  # documents best first, ties together


@dataclass(frozen=True, slots=True)
class ListChoice:
    """A list that can be compared; ``key`` names it in links."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class ListChoices:
    """The lists of a query: the consensus and people's, and those of systems."""

    people: tuple[ListChoice, ...]
    systems: tuple[ListChoice, ...]

    def find(self, key: str) -> ListChoice:
        """Return the choice of a key; raise NotFound."""
        for each in (*self.people, *self.systems):
            if each.key == key:
                return each
        raise NotFound(f"This query has no list {key!r}. It may have been withdrawn or removed.")


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A document of a list, with its rank there and in the other list."""

    rank: int
    document: str
    other: int | None

    @property
    def rise(self) -> int | None:
        """Ranks by which the document is higher here than in the other list."""
        return None if self.other is None else self.other - self.rank


@dataclass(frozen=True, slots=True)
class ComparedLists:
    """Two lists to the depth k, row by row, and how far they agree.

    ``tau`` is Kendall's tau-b over all documents of the query, those outside a list tied at its
    end; None if one of the lists is empty.
    """

    first: ListChoice
    second: ListChoice
    k: int
    rows: tuple[tuple[ListEntry | None, ListEntry | None], ...]
    shared: int
    rbo: float
    tau: float | None


@dataclass(frozen=True, slots=True)
class UnjudgedPages:
    """The ``documents`` among the first ``listed`` of a system about which nobody was asked."""

    system: str
    listed: int
    documents: tuple[str, ...]


def list_choices(source: StudySource, results: QueryResults, names: Sequence[str]) -> ListChoices:
    """Return the lists of a query; ``names`` are those of the finished lists."""
    people = [
        ListChoice(_person_key(each.user_id, each.round), name)
        for each, name in zip(results.finished, names, strict=True)
    ]
    if results.consensus is not None:
        people.insert(0, ListChoice(CONSENSUS, "Consensus"))
    known = _systems(source, results.query.id)
    systems = tuple(ListChoice(f"system:{name}", name) for name in known)
    return ListChoices(tuple(people), systems)


def _systems(source: StudySource, query_id: int) -> list[str]:
    """Return the systems that have a run in the study, or a list of the query."""
    runs = {run.system for run in queries.runs_of_study(source.session, source.study.id)}
    return sorted(runs | _lists_of_query(source.session, query_id).keys())


def unjudged_by_system(source: StudySource, query_id: int) -> tuple[UnjudgedPages, ...]:
    """Return which of its first k pages nobody has judged, of each system, most first."""
    query, documents = text_and_documents(source, query_id)
    asked, k = judged_documents(source.session, query_id), source.study.settings.k
    judged = {name for name, each in documents.items() if each.id in asked}
    found = []
    for system in _systems(source, query_id):
        listed = _system_list(source, query, system, k)
        missing = tuple(name for name in listed if name not in judged)
        found.append(UnjudgedPages(system, len(listed), missing))
    return tuple(sorted(found, key=lambda each: -len(each.documents)))


def compare_lists(
    source: StudySource,
    results: QueryResults,
    choices: ListChoices,
    keys: tuple[str, str],
) -> ComparedLists:
    """Compare two lists of a query; raise NotFound for an unknown key."""
    k = results.k or source.study.settings.k
    first, second = map(choices.find, keys)
    one, two = (_groups(source, results, each, k) for each in (first, second))
    mine, theirs = _entries(one, two, k), _entries(two, one, k)
    length = max(len(mine), len(theirs))
    rows = zip(_padded(mine, length), _padded(theirs, length), strict=True)
    shared = sum(each.other is not None for each in mine)
    names = list(dict.fromkeys([*results.documents, *(x.document for x in (*mine, *theirs))]))
    rbo, tau = _similarity(one, two, names, k)
    return ComparedLists(first, second, k, tuple(rows), shared, rbo, tau)


def _person_key(user_id: int, round: int) -> str:
    return f"person:{user_id}.{round + 1}"


def _groups(source: StudySource, results: QueryResults, choice: ListChoice, k: int) -> Groups:
    if choice.key == CONSENSUS:
        assert results.consensus is not None
        return [[name] for name in results.consensus.documents]
    for person in results.finished:
        if choice.key == _person_key(person.user_id, person.round):
            return person.found.groups
    return [[name] for name in _system_list(source, results.query, choice.name, k)]


def _system_list(source: StudySource, query: QueryText, system: str, k: int) -> Sequence[str]:
    """Return the first k documents of a run, or of a list that the study came with."""
    # Imported here, so that a server starts without the numerical libraries.
    from topkapi.analysis.report.subjects.systems import first_documents

    for run in queries.runs_of_study(source.session, source.study.id):
        if run.system == system:
            scores = scores_in_run(queries.run_data(source.session, run.id), query.name)
            return first_documents(scores, k)
    return _names_of(source.session, _lists_of_query(source.session, query.id)[system][:k])


def _entries(groups: Groups, other: Groups, k: int) -> list[ListEntry]:
    names = [name for group in groups for name in group]
    ranked = [(rank_in(groups, k, name), name) for name in names]
    return [
        ListEntry(rank, name, rank_in(other, k, name)) for rank, name in ranked if rank is not None
    ]


def _padded(entries: Sequence[ListEntry], length: int) -> list[ListEntry | None]:
    return [*entries, *[None] * (length - len(entries))]


def _similarity(
    one: Groups, two: Groups, names: Sequence[str], k: int
) -> tuple[float, float | None]:
    """Return rank-biased overlap and Kendall's tau-b of two lists."""
    # Imported here, so that a server starts without the numerical libraries.
    import numpy as np

    from topkapi.analysis.agreement.lists import rbo_matrix
    from topkapi.analysis.lazy import stats

    ranks = [[rank_in(each, k, name) or k + 1 for name in names] for each in (one, two)]
    values = -np.array(ranks, dtype=float)
    if not one or not two:
        return 0.0, None
    tau = float(stats.kendalltau(*values).statistic)
    return float(rbo_matrix(values, depth=k)[0, 1]), None if np.isnan(tau) else tau


def _names_of(session: Session, document_ids: Sequence[int]) -> list[str]:
    """Return the file ids of documents, in the same order."""
    names = names_of_documents(session, document_ids)
    return [names[number] for number in document_ids]


def _lists_of_query(session: Session, query_id: int) -> Mapping[str, list[int]]:
    """Return the documents, best first, of each system's list for a query."""
    statement = select(Ranking.system, Ranking.documents).where(Ranking.query_id == query_id)
    return {row[0]: row[1] for row in session.execute(statement)}
