"""Grades that a machine gave elsewhere, imported as its work through the log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import NamedTemporaryFile
from typing import Any

from sqlalchemy.orm import Session

from topkapi.analysis.data.exports import Label, read_qrels, read_umbrela
from topkapi.analysis.data.exports.files import numbered_lines
from topkapi.analysis.errors import AnalysisError
from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries import machines as queries
from topkapi.app.db.queries.results.exports import document_names, queries_in_order
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.domain.study import stored_plan
from topkapi.app.services import audit
from topkapi.app.services.importing.problems import counted
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.machines.assessors import machine_named
from topkapi.app.services.results.systems.runs import MOST_UNPACKED, unpacked

Graded = dict[str, dict[str, int]]  # query -> page -> grade


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


def read_sent(name: str, data: bytes) -> list[Label]:
    """Read an uploaded file like `read_grades`."""
    try:
        plain = unpacked(name, data, longest=MOST_UNPACKED)
    except ValueError as error:
        raise Invalid(f"{str(error).rstrip('.')}.", field="file") from None
    with NamedTemporaryFile() as stored:
        stored.write(plain)
        stored.flush()
        return read_grades(Path(stored.name), name)


def read_grades(path: Path, name: str = "") -> list[Label]:
    """Read `qid 0 docid grade` lines, or umbrela's JSON Lines; raise Invalid with file and line.

    ``name`` is that of an uploaded file, which is stored under another one.
    """
    try:
        first = next((line for _, line in numbered_lines(path)), "")
        return read_umbrela(path) if first.lstrip().startswith("{") else read_qrels(path)
    except (AnalysisError, OSError) as error:
        reason = str(error).replace(str(path), name or str(path))
        raise Invalid(f"{reason}.", field="file") from None


def import_grades(
    session: Session,
    study: Study,
    name: str,
    labels: Iterable[Label],
    *,
    actor_id: int | None = None,
) -> ImportedGrades:
    """Store grades as the finished work of a machine; pages without a grade are not part of it.

    Grades are numbers from 0, the worst grade of the study. Everything is imported, or nothing.
    """
    settings = study.settings
    if Tool.GRADES not in settings.tools:
        raise Conflict(f"{study.slug} does not use the tool grades; add it to its settings first.")
    given = _by_query(labels, len(settings.grades))
    machine = machine_named(session, name, actor_id=actor_id)
    known = {query: number for number, query, _ in queries_in_order(session, study.id)}
    fresh = set(queries.queries_without(session, study.id, machine.id, Tool.GRADES))
    graded = judgments = left_out = 0
    for query, grades in given.items():
        pages = document_names(session, known[query]) if query in known else {}
        wanted = {
            page: grades[page_name] for page, page_name in pages.items() if page_name in grades
        }
        left_out += len(grades) - len(wanted)
        if not wanted:
            continue
        if known[query] not in fresh:
            raise Conflict(f"{machine.name} has work on {query} already; give another name.")
        plan = stored_plan(settings, Tool.GRADES, list(wanted), token_hex(16))
        work = Assignment(user_id=machine.id, query_id=known[query], tool=Tool.GRADES, plan=plan)
        session.add(work)
        session.flush()
        _judge(session, work, {page: settings.grades[grade].name for page, grade in wanted.items()})
        graded, judgments = graded + 1, judgments + len(wanted)
    if not judgments:
        raise Invalid("No judgment is about a query and a page of this study.", field="file")
    found = ImportedGrades(machine.name, graded, judgments, left_out)
    audit.record(
        session, actor_id, "study.machine_grades", study.slug, machine=name, number=judgments
    )
    return found


def _by_query(labels: Iterable[Label], n_grades: int) -> Graded:
    found: Graded = {}
    for query, page, grade in labels:
        if not 0 <= grade < n_grades:
            raise Invalid(
                f"{query}, {page}: the grade {grade} is not one of 0 to {n_grades - 1}, the grades "
                "of this study.",
                field="file",
            )
        if found.setdefault(query, {}).setdefault(page, grade) != grade:
            raise Invalid(f"{query}, {page} has two different grades.", field="file")
    return found


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
