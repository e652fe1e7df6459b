"""The results of one query: what everybody says about each page, the consensus, the questions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from topkapi.analysis.data.exports import ConfidenceList, ConsensusList, ListJudgment, TopK
from topkapi.app.db.models import JudgmentRow
from topkapi.app.db.queries.assignments.manual_assignment import state_of
from topkapi.app.db.queries.progress import by_query
from topkapi.app.db.queries.results import query_results as queries
from topkapi.app.db.queries.results.query_results import QueryDocument, QueryText
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import NotFound
from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.log import Entry, EntryKind, effective, fold
from topkapi.app.domain.pairs.answers import QuestionKind
from topkapi.app.domain.sessions import answer_name, read_log
from topkapi.app.services.promise import missing_by_query, missing_work
from topkapi.app.services.results.exports.confidence import confidence_record
from topkapi.app.services.results.exports.consensus import consensus_lists
from topkapi.app.services.results.exports.labels import grade_labels
from topkapi.app.services.results.exports.lists import session_list_answers
from topkapi.app.services.results.exports.records import topk_record
from topkapi.app.services.results.exports.source import TEAM, AssignmentRecord, StudySource

DISPUTED = 3  # ranks between the best and the worst place of a disputed page


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

    def verdict(self, document: str) -> str:
        """Return what a comparison says about one of its two pages."""
        side, other = ("left", "right") if document == self.left else ("right", "left")
        comparison = {side: "Better than", other: "Worse than", "tie": "Tied with"}
        removal = {f"{side}_bad": "Bad, beside", f"{side}_unjudgeable": "Cannot be judged, beside"}
        return (comparison | removal).get(self.answer, "Shown with a page that was removed:")

    def other(self, document: str) -> str:
        """Return the other page of a comparison."""
        return self.right if document == self.left else self.left


@dataclass(frozen=True, slots=True)
class PersonResult:
    """One assessor's session with pairs: its list, finished or not."""

    assignment_id: int
    user_id: int
    assessor: str
    round: int
    found: TopK

    def rank(self, document: str) -> int | None:
        """Return the rank of a document from 1; tied documents share the best rank."""
        return rank_in(self.found.groups, self.found.k, document)


@dataclass(frozen=True, slots=True)
class SessionAnswers:
    """The answers of one session with pairs, and how far to trust its list if it is finished."""

    asked: tuple[Asked, ...]
    confidence: ConfidenceList | None


@dataclass(frozen=True, slots=True)
class AnswersAbout:
    """What the answers that count in one session say about a page, with the answers to each."""

    assignment_id: int
    assessor: str
    tool: Tool
    round: int
    said: Mapping[str, Sequence[Asked]]


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The answers of an adjudicator to pairs on which the assessors disagreed."""

    assessor: str
    state: str
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """What a person, or a team, says about the pages of a query with one tool.

    ``said`` has ranks or grades by page; ``state`` is ``finished``, ``begun`` or ``waiting``.
    """

    assessor: str
    tool: Tool
    round: int
    state: str
    said: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A candidate: its rank in the consensus and in each finished list, and its grades.

    ``spread`` is the distance between its best and its worst rank, where outside a list is k + 1;
    a list whose assessor could not judge it has no rank.
    ``grade`` is the lower median of the grades given, ``known`` the imported one. ``notes`` are
    what people noted about it, with their names; ``answers`` counts those about it that count.
    """

    document: QueryDocument
    consensus: int | None
    ranks: tuple[int | None, ...]
    spread: int
    grade: str | None
    known: int | None
    notes: tuple[tuple[str, str], ...]
    answers: int

    @property
    def is_listed(self) -> bool:
        """Whether the document is in the consensus or in anyone's list."""
        return self.consensus is not None or any(rank is not None for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class QueryResults:
    """Everything that people said about a query, with each tool.

    ``assigned`` and ``finished_work`` count assignments, ``missing`` what was promised and nobody
    has.
    """

    query: QueryText
    k: int
    consensus: ConsensusList | None
    finished: tuple[PersonResult, ...]
    unfinished: tuple[PersonResult, ...]
    adjudications: tuple[Adjudication, ...]
    documents: Mapping[str, QueryDocument]
    ranked: tuple[RankedDocument, ...]
    judged_by: tuple[JudgedBy, ...]
    compared: tuple[ListJudgment, ...]
    assigned: int
    finished_work: int
    missing: int

    @property
    def disputed(self) -> int:
        """Number of pages whose ranks are far apart."""
        return sum(each.spread >= DISPUTED for each in self.ranked)


def query_results(source: StudySource, query_id: int) -> QueryResults:
    """Return the results of one query of the source's study.

    The cost grows with the answers to this query alone.
    """
    query = _query(source, query_id)
    people, adjudications, judged_by = [], [], []
    compared: list[ListJudgment] = []
    about: Counter[str] = Counter()
    notes: dict[str, list[tuple[str, str]]] = {}
    for work, rows in _logs(source):
        name = _person_name(source, work)
        for page, note in _notes(work, rows):
            notes.setdefault(page, []).append((name, note))
        for row in effective(Entry(row.entry, row) for row in rows):
            about.update(_name(work, page) for page in (row.left_id, row.right_id) if page)
        if work.adjudicates:
            state = state_of(work.assignment)
            adjudications.append(Adjudication(name, state, _asked(work, rows)))
        elif work.assignment.tool is Tool.GRADES:
            judged_by.append(_judged_by(name, work, _grades(work, rows)))
        elif work.assignment.tool is Tool.LISTS:
            answers = session_list_answers(source, work, rows)
            compared += [replace(each, assessor=name) for each in answers]
            judged_by.append(_judged_by(name, work, {}))
        else:
            people.append(_person(name, work, rows))
            judged_by.append(_judged_by(name, work, _ranks(people[-1])))
    finished = tuple(each for each in people if each.found.complete)
    consensus = next(consensus_lists(source), None) if finished else None
    documents = {each.name: each for each in queries.documents_of_query(source.session, query_id)}
    k = max((each.found.k for each in finished), default=0)
    known = queries.known_grades(source.session, query_id)
    names = [each.name for each in source.study.settings.grades]
    graded = {each.document: each.label for each in grade_labels(source)}
    order = [] if consensus is None else list(consensus.documents)
    judged = [each.found.labels() for each in finished]
    ranked = [
        RankedDocument(
            document=document,
            consensus=order.index(name) + 1 if name in order else None,
            ranks=(ranks := tuple(each.rank(name) for each in finished)),
            spread=_spread(
                rank or k + 1 for rank, known in zip(ranks, judged, strict=True) if name in known
            ),
            grade=names[graded[name]] if graded.get(name, len(names)) < len(names) else None,
            known=known.get(name),
            notes=tuple(notes.get(name, ())),
            answers=about[name],
        )
        for name, document in documents.items()
    ]
    ranked.sort(key=lambda each: (each.consensus or k + 1, -graded.get(each.document.name, -1)))
    sums = by_query(source.session, source.study.id, [query_id]).get(query_id, {}).values()
    return QueryResults(
        query=query,
        k=k,
        consensus=consensus,
        finished=finished,
        unfinished=tuple(each for each in people if not each.found.complete),
        adjudications=tuple(adjudications),
        documents=documents,
        ranked=tuple(ranked),
        judged_by=tuple(judged_by),
        compared=tuple(compared),
        assigned=sum(each.assigned for each in sums),
        finished_work=sum(each.finished for each in sums),
        missing=missing_by_query(missing_work(source.session, source.study))[query_id],
    )


def _judged_by(name: str, work: AssignmentRecord, said: Mapping[str, str]) -> JudgedBy:
    row = work.assignment
    return JudgedBy(name, row.tool, row.round, state_of(row), said)


def _ranks(person: PersonResult) -> dict[str, str]:
    """Return the ranks of a finished list, and the pages that were removed."""
    found = person.found
    ranks = {page: person.rank(page) for group in found.groups for page in group}
    return {
        **{page: str(rank) for page, rank in ranks.items() if rank is not None},
        **dict.fromkeys(found.bad, "bad"),
        **dict.fromkeys(found.unjudgeable, UNJUDGEABLE),
    }


def _grades(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> dict[str, str]:
    """Return the grades given so far."""
    given = effective(read_log(Tool.GRADES, rows))
    return {work.names[each.document]: each.grade for each in given}


def _notes(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> Iterator[tuple[str, str]]:
    """Yield the page and the text of every note; one on a pair is about both pages."""
    for row in rows:
        for page in (row.left_id, row.right_id):
            if row.note and page is not None:
                yield work.names[page], row.note


def session_answers(source: StudySource, query_id: int, assignment_id: int) -> SessionAnswers:
    """Return the answers of one session with pairs of the query, in order.

    The confidence takes about two milliseconds per answer, unless the sorter is `robust`.
    """
    work, rows = _session(source, query_id, assignment_id)
    is_list = work.assignment.tool is Tool.PAIRS and not work.adjudicates
    confidence = None if not is_list else confidence_record(work, rows)
    return SessionAnswers(_asked(work, rows), confidence)


def question_shown(
    source: StudySource, query_id: int, assignment_id: int, number: int
) -> tuple[str, Asked, int]:
    """Return the assessor, the question ``number`` of a session and how many it has."""
    work, rows = _session(source, query_id, assignment_id)
    asked = _asked(work, rows)
    if not 1 <= number <= len(asked) or not asked[number - 1].left:
        raise NotFound(f"This session has no question {number} about pages.")
    return _person_name(source, work), asked[number - 1], len(asked)


def answers_about(source: StudySource, query_id: int, document: str) -> list[AnswersAbout]:
    """Return the answers that count about a page, by session and by what they say."""
    _query(source, query_id)
    answers = []
    for work, rows in _logs(source):
        row, said = work.assignment, dict[str, list[Asked]]()
        for each in _asked(work, rows):
            if each.effective and document in (each.left, each.right):
                is_pair = row.tool is Tool.PAIRS
                verdict = each.verdict(document) if is_pair else answer_name(row.tool, each.answer)
                said.setdefault(verdict, []).append(each)
        if said:
            name = _person_name(source, work)
            answers.append(AnswersAbout(row.id, name, row.tool, row.round, said))
    return answers


def _session(
    source: StudySource, query_id: int, assignment_id: int
) -> tuple[AssignmentRecord, list[JudgmentRow]]:
    _query(source, query_id)
    for found in _logs(source, assignment_id):
        return found
    raise NotFound("There are no such questions. The work may have been withdrawn.")


def text_and_documents(
    source: StudySource, query_id: int
) -> tuple[QueryText, Mapping[str, QueryDocument]]:
    """Return a query and its documents by name."""
    query = _query(source, query_id)
    found = queries.documents_of_query(source.session, query_id)
    return query, {each.name: each for each in found}


def rank_in(groups: Sequence[Sequence[str]], k: int, document: str) -> int | None:
    """Return the rank of a document in a list with ties, or None if it is outside the first k."""
    rank = 1
    for group in groups:
        if document in group:
            return rank if rank <= k else None
        rank += len(group)
    return None


def _spread(ranks: Iterable[int]) -> int:
    known = list(ranks)
    return max(known, default=0) - min(known, default=0)


def _query(source: StudySource, query_id: int) -> QueryText:
    """Return a query of the source's study, and restrict the source to it."""
    query = queries.query_text(source.session, source.study.id, query_id)
    if query is None:
        raise NotFound(f"The study {source.study.slug!r} has no query with the number {query_id}.")
    source.only_query = query_id
    return query


def _logs(
    source: StudySource, assignment_id: int | None = None
) -> Iterator[tuple[AssignmentRecord, list[JudgmentRow]]]:
    """Yield the sessions of all tools and their logs, all or one of them."""
    for query in source.queries():
        works = source.works(query, withdrawn=False, tool=None)
        others = [work for work in works if work.assignment.tool is not Tool.PAIRS]
        found = [*source.list_works(query), *others, *(work for work in works if work.adjudicates)]
        yield from source.with_logs(
            [work for work in found if assignment_id in (None, work.assignment.id)]
        )


def _person_name(source: StudySource, work: AssignmentRecord) -> str:
    names = {each.user_id: each.name for each in source.assessors.people}
    return TEAM.join(names[user_id] for user_id in work.user_ids)


def _person(name: str, work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> PersonResult:
    assignment = work.assignment
    record = topk_record(work, rows)
    return PersonResult(assignment.id, assignment.user_id, name, assignment.round, record)


def _asked(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> tuple[Asked, ...]:
    effective = set(fold((row.entry, row.id) for row in rows).done)
    answers = sorted((row for row in rows if row.entry is EntryKind.ANSWER), key=lambda row: row.id)
    return tuple(
        Asked(
            number=number,
            kind=row.question_kind,
            left=_name(work, row.left_id),
            right=_name(work, row.right_id),
            answer=row.answer or "",
            note=row.note or "",
            active_ms=row.active_ms,
            at=row.created_at,
            effective=row.id in effective,
        )
        for number, row in enumerate(answers, start=1)
    )


def _name(work: AssignmentRecord, number: int | None) -> str:
    return "" if number is None else work.names[number]
