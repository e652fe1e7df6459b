"""Grades that a machine gave elsewhere, imported as its work through the log."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from sqlalchemy.orm import Session

from topkapi.analysis.data.exports import Label
from topkapi.analysis.data.exports.files import lines_of
from topkapi.analysis.data.exports.labels import qrels_label
from topkapi.analysis.data.exports.umbrela import umbrela_labels
from topkapi.analysis.errors import AnalysisError
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries import machines as queries
from topkapi.app.db.queries.results.exports import document_names, queries_in_order
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.domain.study import stored_plan
from topkapi.app.services import audit
from topkapi.app.services.assignments.rotation import refuse_archived
from topkapi.app.services.fence.limits import MAX_LINE
from topkapi.app.services.importing.problems import counted
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.machines.assessors import machine_named
from topkapi.app.services.results.systems.runs import MOST_LINES, unpacked

Graded = dict[int, tuple[str, dict[int, str]]]  # query -> its external id, page -> grade


@dataclass(frozen=True, slots=True)
class ImportedGrades:
    """What was imported; ``left_out`` are judgments of queries or pages not in the study."""

    machine: str
    queries: int
    judgments: int
    left_out: int

    def __str__(self) -> str:
        grades, queries = (
            counted(self.judgments, "grade"),
            counted(self.queries, "query", "queries"),
        )
        left = f", {self.left_out:,} about other queries or pages left out" if self.left_out else ""
        return f"{self.machine}: {grades} of {queries} imported{left}"


def read_grades(name: str, data: bytes) -> Iterator[Label]:
    """Read `qid 0 docid grade` lines, or umbrela's JSON Lines; raise Invalid with file and line."""
    try:
        plain = unpacked(name, data, longest=MAX_LINE)
        if plain.count(b"\n") > MOST_LINES:
            raise ValueError(f"{name}: more than {MOST_LINES:,} lines; leave out other queries")
        is_json = None
        for location, line in lines_of(name, plain):
            if is_json is None:
                is_json = line.lstrip().startswith("{")
            if len(line) > MAX_LINE:
                raise ValueError(f"{location}: more than {MAX_LINE:,} characters")
            if is_json:
                yield from umbrela_labels(line, location)
            else:
                yield qrels_label(line, location)
    except (AnalysisError, ValueError) as error:
        raise Invalid(f"{str(error).rstrip('.')}.", field="file") from None


def import_grades(
    sessions: Sessions,
    slug: str,
    name: str,
    labels: Iterable[Label],
    *,
    actor_id: int | None = None,
) -> ImportedGrades:
    """Store grades as the finished work of a machine; pages without a grade are not part of it.

    Grades are numbers from 0, the worst grade of the study. Everything is imported, or nothing.
    ``labels`` are read and checked before the transaction that writes.
    """
    with sessions.read() as session:
        given, left_out = _of_study(session, required_study(session, slug), labels)
    with sessions.write.begin() as session:
        study = required_study(session, slug)
        refuse_archived(study)
        machine = machine_named(session, name, actor_id=actor_id)
        fresh = set(queries.queries_without(session, study.id, machine.id, Tool.GRADES))
        for query_id, (query, grades) in given.items():
            if query_id not in fresh:
                raise Conflict(f"{machine.name} has work on {query} already; give another name.")
            plan = stored_plan(study.settings, Tool.GRADES, list(grades), token_hex(16))
            work = Assignment(user_id=machine.id, query_id=query_id, tool=Tool.GRADES, plan=plan)
            session.add(work)
            session.flush()
            _judge(session, work, grades)
        number = sum(len(grades) for _, grades in given.values())
        found = ImportedGrades(machine.name, len(given), number, left_out)
        audit.record(
            session, actor_id, "study.machine_grades", slug, machine=found.machine, number=number
        )
    return found


def _of_study(session: Session, study: Study, labels: Iterable[Label]) -> tuple[Graded, int]:
    """Return the grades of the study's pages, and the number of labels of others."""
    if Tool.GRADES not in study.settings.tools:
        raise Conflict(f"{study.slug} does not use the tool grades; add it to its settings first.")
    names = [grade.name for grade in study.settings.grades]
    known = {query: number for number, query, _ in queries_in_order(session, study.id)}
    pages: dict[str, dict[str, int]] = {}
    given: dict[str, dict[str, str]] = {}
    left_out = 0
    for query, page, grade in labels:
        if query in known and query not in pages:
            in_order = document_names(session, known[query])
            pages[query] = {external: number for number, external in in_order.items()}
        if page not in pages.get(query, ()):
            left_out += 1
            continue
        if not 0 <= grade < len(names):
            raise Invalid(
                f"{query}, {page}: the grade {grade} is not one of 0 to {len(names) - 1}, the "
                "grades of this study.",
                field="file",
            )
        if given.setdefault(query, {}).setdefault(page, names[grade]) != names[grade]:
            raise Invalid(f"{query}, {page} has two different grades.", field="file")
    if not given:
        raise Invalid("No judgment is about a query and a page of this study.", field="file")
    found = {
        known[query]: (
            query,
            {pages[query][page]: grades[page] for page in pages[query] if page in grades},
        )
        for query, grades in given.items()
    }
    return found, left_out


def _judge(session: Session, work: Assignment, grades: Mapping[int, str]) -> None:
    """Write the log of an assignment through the service that people's answers go through."""
    live = LiveSessions()
    ids: dict[str, Any] = {"assignment_id": work.id, "user_id": work.user_id}
    state = labeling.assignment_state(session, live, **ids)
    while not state.finished:
        (page,) = state.state.shown
        answer = SubmittedAnswer(grades[page], document=state.documents[page].name)
        submission = Submission(state.position, answer=answer)
        state = labeling.submit(session, live, **ids, submission=submission)
