"""The state of a study in one record: progress against its promise, what it needs, what is next.

The study's home shows it, the API returns it, and the primary button of each of its pages leads to
its next step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Study, User
from topkapi.app.db.queries import progress as queries
from topkapi.app.db.queries.assignments.assignments import users_by_id
from topkapi.app.db.queries.assignments.manual_assignment import active_assessors
from topkapi.app.domain.training.rules import Step, rules_of
from topkapi.app.services.assignments.adjudication import disagreements
from topkapi.app.services.heads import PersonHead
from topkapi.app.services.judging.teams import reliabilities
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.attention import (
    Concern,
    Sign,
    concerns,
    most_pressing,
    unfinished_work,
)
from topkapi.app.services.progress.forecast import DAYS, Forecast, forecast
from topkapi.app.services.progress.snapshots import Snapshots
from topkapi.app.services.progress.study_progress import Line, Overview
from topkapi.app.services.promise import word_of
from topkapi.app.services.results.stored import stored_result
from topkapi.app.services.training.trainings import open_trainings_of, record_of

LARGEST_LOG = 50_000  # answers; in larger studies the sides are counted by the report only
MOST_NEEDS = 5


@dataclass(frozen=True, slots=True)
class StudyNeed:
    """What a study or a person in it needs: the reason in words, and where it is done.

    ``page`` is below the address of the study, ``label`` the name of the button that leads there.
    """

    slug: str
    study: str
    sign: Sign
    reason: str
    label: str
    page: str
    user: PersonHead | None = None


@dataclass(frozen=True, slots=True)
class Checklist:
    """What has been done on the way to the first answer; an account there is."""

    study: bool
    people: bool
    work: bool


@dataclass(frozen=True, slots=True)
class ToolAgreement:
    """Agreement with a tool and its 95 % interval; ``why`` says why there is no interval."""

    title: str
    value: float
    low: float | None = None
    high: float | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """Agreement per tool when the report was last computed; ``why`` says why there is none."""

    tools: Sequence[ToolAgreement]
    why: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """How far a study is, what it needs, most pressing first, and the next step."""

    slug: str
    name: str
    state: str
    promised: int
    missing: int
    begun: int
    finished: int
    answered: int
    last_entry_at: datetime | None
    forecast: Forecast | None
    agreement: StudyAgreement
    needs: Sequence[StudyNeed]
    next: StudyNeed
    checklist: Checklist | None


def study_state(
    session: Session,
    study: Study,
    snapshots: Snapshots | None = None,
    *,
    may_change: bool = True,
    at: datetime | None = None,
) -> StudyStatus:
    """Return the state of a study; what needs a change is left out unless you ``may_change``."""
    at = at or now()
    seen = study_progress.overview(session, study, snapshots)
    open_needs = list(needs(session, study, seen, at)) if may_change else []
    line, sums = seen.all, seen.all.sums
    days = queries.finished_per_day(session, at - timedelta(days=DAYS)).get(study.id, {})
    counts = [days.get(at.date() - timedelta(days=ago), 0) for ago in range(DAYS - 1, -1, -1)]
    left = line.promised - sums.finished
    return StudyStatus(
        slug=study.slug,
        name=study.name,
        state=word_of(study, line.promised, sums.begun, sums.finished),
        promised=line.promised,
        missing=line.missing,
        begun=sums.begun,
        finished=sums.finished,
        answered=sums.answered,
        last_entry_at=sums.last_entry_at,
        forecast=None if study.archived_at else forecast(counts, left, at.date()),
        agreement=agreement_of(session, study, sums.finished),
        needs=open_needs,
        next=open_needs[0] if open_needs else _rest(study, line, may_change=may_change),
        checklist=checklist(session, [line]) if may_change else None,
    )


def next_step(
    session: Session,
    study: Study,
    seen: Overview,
    known: Sequence[Concern] | None = None,
    *,
    may_change: bool,
) -> StudyNeed:
    """Return what is to be done next, without computing what comes after it."""
    rest = _rest(study, seen.all, may_change=may_change)
    return next(needs(session, study, seen, now(), known), rest) if may_change else rest


def needs(
    session: Session,
    study: Study,
    seen: Overview,
    at: datetime,
    known: Sequence[Concern] | None = None,
) -> Iterator[StudyNeed]:
    """Yield what a study and its people need, most pressing first; an archived one needs nothing.

    ``known`` are the concerns of the study, if they have been computed. Queries are disputed only
    once all work is finished, as far as the latest report says.
    """
    if study.archived_at is not None:
        return
    line = seen.all
    if not line.promised:
        yield _unassigned(session, study)
        return
    if missing := study_progress.why_missing(session, seen):
        gaps = f"Fill {line.missing} gap{'s' * (line.missing != 1)}"
        yield _need(study, Sign.GAPS, missing, gaps, "assign")
    known = concerns_of_study(session, study, seen, at) if known is None else known
    found = [
        *most_pressing(known),
        *_untrained(session, study, seen),
    ]
    users = users_by_id(session, [each.user_id for each in found])
    order = list(Sign)
    for each in sorted(found, key=lambda each: order.index(each.sign)):
        sums = seen.people[each.user_id].sums
        signs = (Sign.DISABLED, Sign.IDLE, Sign.SLOW)
        is_open = each.sign in signs and sums.finished < sums.assigned
        yield _about(study, each, PersonHead.of(users[each.user_id]), is_open=is_open)
    if line.sums.finished == line.promised and (count := _disputed(session, study)):
        many = f"{count} queries" if count > 1 else "one query"
        reason = f"one more person can decide the lists of {many}"
        yield _need(study, Sign.DISPUTED, reason, f"Adjudicate {count}", "adjudication")


def concerns_of_study(
    session: Session, study: Study, seen: Overview, at: datetime | None = None
) -> list[Concern]:
    """Return all reasons for attention in a study; they stay when its work is finished."""
    sums = seen.all.sums
    counted = 0 < sums.answered <= LARGEST_LOG
    sides = seen.work.sides(session) if counted else {}
    members = reliabilities(session, study.id) if study.settings.together else {}
    why = concerns(seen, sides, members, begun_at=study.created_at, at=at or now())
    return [*_disabled(session, seen), *why]


@dataclass(frozen=True, slots=True)
class PersonInStudy:
    """A person's work in a study, and all reasons for attention."""

    slug: str
    name: str
    line: Line
    concerns: Sequence[Concern]


def studies_of_person(
    session: Session, user_id: int, snapshots: Snapshots | None = None
) -> list[PersonInStudy]:
    """Return the work of a person in every study that is not archived."""
    work = []
    for study in queries.open_studies(session):
        seen = study_progress.overview(session, study, snapshots or Snapshots())
        if line := seen.people.get(user_id):
            why = concerns_of_study(session, study, seen)
            mine = [each for each in why if each.user_id == user_id]
            work.append(PersonInStudy(study.slug, study.name, line, mine))
    return work


def agreement_of(session: Session, study: Study, finished: int = 1) -> StudyAgreement:
    """Return the agreement of the latest report that a job has computed."""
    stored = stored_result(session, study.id, "report", "agreement")
    if stored is not None and stored.content:
        return StudyAgreement([ToolAgreement(*each) for each in stored.content], "", stored.at)
    if not finished or stored is not None:
        why = "no query has been finished by two people yet"
        return StudyAgreement((), why, stored.at if stored else None)
    return StudyAgreement((), "not computed yet", None)


def checklist(session: Session, lines: Sequence[Line]) -> Checklist | None:
    """Return what is done on the way to the first answer in these studies; None behind it."""
    if any(line.sums.answered for line in lines):
        return None
    work = any(line.promised for line in lines)
    return Checklist(bool(lines), work or bool(active_assessors(session)), work)


def _need(
    study: Study, sign: Sign, reason: str, label: str, page: str, user: PersonHead | None = None
) -> StudyNeed:
    return StudyNeed(study.slug, study.name, sign, reason, label, page, user)


def _unassigned(session: Session, study: Study) -> StudyNeed:
    if active_assessors(session):
        return _need(study, Sign.UNASSIGNED, "no one has work in this study", "Assign", "assign")
    reason = "there are no assessors yet"
    return _need(study, Sign.UNINVITED, reason, "Invite people", "assign")


def _about(study: Study, concern: Concern, person: PersonHead, *, is_open: bool) -> StudyNeed:
    if concern.sign is Sign.UNTRAINED:
        return _need(study, concern.sign, concern.reason, "Grant a try", "training", person)
    chosen = urlencode({"search": person.email, "state": "open" if is_open else "finished"})
    can_work = concern.sign not in (Sign.DISABLED, Sign.IDLE)
    label = f"Check {person.name}" if can_work else "Reassign work"
    return _need(study, concern.sign, concern.reason, label, f"work?{chosen}", person)


def _disabled(session: Session, seen: Overview) -> list[Concern]:
    """Return whose account is disabled and who has unfinished work, which only others can do."""
    disabled = session.scalars(select(User.id).where(User.disabled_at.is_not(None)))
    left = {each: unfinished_work(seen.people[each]) for each in disabled if each in seen.people}
    return [
        Concern(user_id, Sign.DISABLED, f"the account is disabled; {work}")
        for user_id, work in left.items()
        if work
    ]


def _untrained(session: Session, study: Study, seen: Overview) -> list[Concern]:
    """Return who has failed the training and waits; people whose work was withdrawn do not."""
    if not study.settings.training:
        return []
    rules = rules_of(study.settings)
    return [
        Concern(row.user_id, Sign.UNTRAINED, f"has used all {rules.tries + row.granted} tries")
        for row in open_trainings_of(session, study.id)
        if row.user_id in seen.people and record_of(row).step(rules) is Step.FAILED
    ]


def _disputed(session: Session, study: Study) -> int:
    stored = stored_result(session, study.id, "report", "disagreements")
    if stored is None:
        return 0
    return sum(each.is_assignable for each in disagreements(session, study, stored.content).queries)


def _rest(study: Study, line: Line, *, may_change: bool) -> StudyNeed:
    """Return what is next in a study that needs nothing."""
    finished, left = line.sums.finished, line.promised - line.sums.finished
    if (line.promised and not left) or study.archived_at is not None:
        reason = "the study is archived" if left or not finished else "all work is finished"
        return _need(study, Sign.FINISHED, reason, "Export", "exports")
    reason = f"{left} assignment{'' if left == 1 else 's'} left"
    if may_change and line.promised and not line.sums.answered:
        reason = f"{left} assignment{'s wait' if left > 1 else ' waits'} for a first answer"
        return _need(study, Sign.RUNNING, reason, "Tell people", "messages")
    if may_change:
        return _need(study, Sign.RUNNING, reason, "Remind people", "messages")
    page = ("Read the report", "report") if finished else ("See progress", "progress")
    return _need(study, Sign.RUNNING, reason, *page)
