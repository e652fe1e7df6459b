"""Making the report of a study from the database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from topkapi.analysis.aggregation import Method
from topkapi.analysis.report import Options, Report, StudyData, build_report
from topkapi.analysis.report.methods import StudyFacts
from topkapi.analysis.report.serialise import restored
from topkapi.analysis.report.subjects.confidence import ConfidenceSection
from topkapi.analysis.report.subjects.machines import MachineData, machines_section
from topkapi.app.db.models import Assignment, Query, User
from topkapi.app.db.queries.assignments.assignments import adjudications_of_study
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.assignment.rotation import ADJUDICATION
from topkapi.app.domain.enums import Tool
from topkapi.app.services import guideline_history
from topkapi.app.services.promise import missing_work, promised_rounds
from topkapi.app.services.results.exports import StudySource, completeness
from topkapi.app.services.results.exports.gathering import JUDGED, gather
from topkapi.app.services.results.reports.confidence import confidence_section, stored_section
from topkapi.app.services.results.reports.machines import machine_data
from topkapi.app.services.results.reports.notes import (
    StoredResult,
    names_of,
    notes_on,
)

Note = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class GatheredStudy:
    """Everything that a report is computed from, read from the database."""

    study: StudyData
    notes: tuple[str, ...]
    method: Method | None
    machines: MachineData | None


def make_report(
    source: StudySource,
    *,
    pseudonyms: bool = False,
    confidence: bool | StoredResult = False,
    options: Options | None = None,
) -> Report:
    """Make the report of a study; its ``notes`` say what is missing.

    ``confidence`` adds the confidence in each list; unless it is stored, that takes a third of a
    second per session.
    """
    people = None if pseudonyms else names_of(source)
    return replace(
        report_on(gathered(source, people), options),
        confidence=_confidence(source, people, confidence),
    )


def facts_of(source: StudySource) -> StudyFacts:
    """Return how the study was run, for the methods section of its report."""
    everything = _answered_work(source.session, source.study.id)
    void = [row for row in everything if row.withdrawn]
    kept = [row for row in everything if not row.withdrawn]
    judged = [row for row in kept if row.tool in JUDGED and row.round != ADJUDICATION]
    pairs = [row for row in judged if row.tool is Tool.PAIRS]
    adjudicated = [row for row in kept if row.round == ADJUDICATION]
    compared = [row for row in kept if row.tool is Tool.LISTS]
    names = names_of(source)
    return StudyFacts(
        sorters=tuple(sorted({row.sorter for row in pairs})),
        ties=any(row.ties for row in pairs),
        assessors=len({row.user_id for row in judged}),
        queries=len({row.query_id for row in judged}),
        sessions=len(judged),
        finished=sum(row.finished for row in judged),
        promised=_promised(source),
        rounds=_rounds(source),
        guidelines=len(source.study.guidelines.split()),
        revisions=max(0, len(guideline_history.versions(source.session, source.study)) - 1),
        known=sum(row.known_answers for row in judged),
        known_right=sum(row.known_right for row in judged),
        machines=tuple(_machine_work(source.session, source.study.id)),
        voided=len(void),
        voided_answers=sum(row.answered for row in void),
        adjudications=len(adjudicated),
        adjudicated=sum(row.answered for row in adjudicated),
        comparers=len({row.user_id for row in compared}),
        compared_queries=len({row.query_id for row in compared}),
        compared=sum(row.answered for row in compared),
        pseudonyms={names[each.user_id]: each.pseudonym for each in source.assessors.people}
        | {each.pseudonym: each.pseudonym for each in source.assessors.people},
    )


def _promised(source: StudySource) -> int:
    """Return how many sessions with pairs and grades there are to be."""
    session, study = source.session, source.study
    assigned = completeness(source).of(JUDGED).assigned
    adjudications = len(adjudications_of_study(session, study.id))
    missing = missing_work(session, study)
    return assigned - adjudications + sum(sum(missing.get(tool, {}).values()) for tool in JUDGED)


def _rounds(source: StudySource) -> int:
    """Return how many assessors are to judge a query with each tool; 0 if assigned by hand."""
    found = promised_rounds(source.session, source.study)
    return max((found.get(tool) or 0 for tool in JUDGED), default=0)


def gathered(source: StudySource, people: dict[int, str] | None) -> GatheredStudy:
    """Read what the report is computed from; ``people`` are names to show instead of e-mails."""
    study = gather(source, tools=_tools(source), people=people, by_id=True)
    state = completeness(source)
    notes = notes_on(study, state.of(JUDGED), state.of({Tool.LISTS}))
    return GatheredStudy(study, tuple(notes), source.consensus, machine_data(source, people))


def report_on(
    gathered: GatheredStudy,
    options: Options | None = None,
    *,
    note: Note = lambda _share, _step: None,
) -> Report:
    """Compute the report; ``note`` is called before each step with the share done and its name."""
    steps, total = count(1), 1 + 2 * len(gathered.study.tools)  # the first is reading
    report = build_report(
        gathered.study,
        options,
        method=gathered.method,
        note=lambda step: note(next(steps) / total, step),
    )
    machines = None if gathered.machines is None else machines_section(gathered.machines)
    return replace(report, notes=gathered.notes, machines=machines)


def stored_as_report(
    source: StudySource,
    stored: StoredResult,
    *,
    pseudonyms: bool = False,
    confidence: StoredResult | None = None,
) -> Report:
    """Return a report that a job has computed, with current names of the assessors."""
    people = None if pseudonyms else names_of(source)
    everyone = source.assessors.people if people else ()
    names = {each.pseudonym: (people or {})[each.user_id] for each in everyone}
    section = stored_section(source, people, confidence) if confidence else None
    return replace(restored(stored.content, names), confidence=section)


def _confidence(
    source: StudySource, people: dict[int, str] | None, wanted: bool | StoredResult
) -> ConfidenceSection | None:
    if isinstance(wanted, StoredResult):
        return stored_section(source, people, wanted)
    return confidence_section(source, people) if wanted else None


def _tools(source: StudySource) -> list[Tool]:
    """Return the tools that are configured or were used, pairs first."""
    wanted = set(source.study.settings.tools)
    used = {each.tool for each in completeness(source).tools if each.assigned}
    return [tool for tool in JUDGED if tool in wanted | used]


def _machine_work(session: Session, study_id: int) -> list[tuple[str, int, int]]:
    """Return name, sessions and answers of each machine that judged in a study."""
    statement = (
        select(User.name, func.count(), func.sum(Assignment.answered))
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            User.machine,
            Assignment.answered > 0,
            Assignment.withdrawn_at.is_(None),
        )
        .group_by(User.id, User.name)
        .order_by(User.name)
    )
    return [(name, count, int(answers)) for name, count, answers in session.execute(statement)]


def _answered_work(session: Session, study_id: int) -> Sequence[Row[Any]]:
    """Return all work with an answer in effect, without its logs.

    A row has tool, round, answered, user_id, query_id, known_answers, known_right, withdrawn,
    finished, and of pairs the sorter and whether ties are allowed.
    """
    statement = (
        select(
            Assignment.tool,
            Assignment.round,
            Assignment.answered,
            Assignment.user_id,
            Assignment.query_id,
            Assignment.known_answers,
            Assignment.known_right,
            Assignment.withdrawn_at.is_not(None).label("withdrawn"),
            Assignment.finished_at.is_not(None).label("finished"),
            Assignment.plan["sorter"].as_string().label("sorter"),
            Assignment.plan["allow_ties"].as_boolean().label("ties"),
        )
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id, Assignment.answered > 0, by_people())
    )
    return session.execute(statement).all()
