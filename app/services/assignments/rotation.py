"""Assignment by rotation or one by one; refusals state which rule would be broken."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from secrets import token_hex
from statistics import fmean
from typing import Literal

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, CrowdWorker, GoldPair, Query, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.studies.studies import hold_settings
from topkapi.app.domain.assignment.growth import GrowthStep, grow
from topkapi.app.domain.assignment.rotation import ADJUDICATION, AssignmentSpec, refuse_breach
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.domain.sessions import asks_nothing
from topkapi.app.domain.study import StudySettings, stored_plan
from topkapi.app.services import audit
from topkapi.app.services.assignments.priors import prior_scores
from topkapi.app.services.assignments.steps import (
    Spec,
    described,
    existing_work,
    remember,
    spec_of,
    steps_of,
)
from topkapi.app.services.judging.lists.work import ListPlans, Prepared
from topkapi.app.services.promise import (
    promised_queries,
    promised_rounds,
    tools_under_rule,
)

Part = Literal["gaps", "new"]  # of what is missing: work on known queries, or on new ones
_SEEN = ADJUDICATION  # withdrawn work blocks no round either, but its assessor has seen the query


@dataclass(frozen=True, slots=True)
class Origin:
    """Ids from which seeds of draws count people and queries, to be equal in every database."""

    person: int = 0
    query: int = 0


_ABSOLUTE = Origin()


@dataclass(frozen=True, slots=True)
class RotationPlan:
    """What a rotation would add, and the steps of the study with it.

    ``missing`` are the slots (query, tool, round) that nobody has, ``short`` says why some of them
    stay open. ``fresh`` are the queries that nobody has met.
    """

    rounds: int
    missing: Sequence[tuple[int, Tool, int]]
    added: Sequence[Spec]
    short: Invalid | None
    steps: Sequence[GrowthStep[int, int]]
    existing: Set[Spec]
    fresh: Set[int]

    def only(self, part: Part | None) -> "RotationPlan":
        """Return what fills gaps alone, or what is for new queries alone."""
        if part is None:
            return self
        added = [each for each in self.added if (each.query in self.fresh) is (part == "new")]
        keep = part == "new"
        steps = [step for step in self.steps if keep or self.fresh.isdisjoint(step.queries)]
        return replace(self, added=added, steps=steps)


def plan_rotation(
    session: Session,
    study: Study,
    user_ids: Sequence[int],
    *,
    rounds: int | None = None,
    seed: str | None = None,
    lists: bool = False,
    strict: bool = True,
) -> RotationPlan:
    """Return what a rotation would add to the existing assignments.

    ``rounds`` is what was promised by default, the seed of the order of queries the study's slug.
    With ``lists`` the tool `lists` is rotated on its own. Unless ``strict``, work for which nobody
    is free stays open.
    """
    tools = rotated_tools(study, lists=lists)
    query_ids = promised_queries(session, study)
    work = queries.assignments_of_study(session, study.id)
    promised = promised_rounds(session, study)
    by_hand = [tool for tool in tools if promised.get(tool, 0) is None]
    wanted = rounds or max((promised.get(tool) or 1 for tool in tools), default=1)
    existing = existing_work(work, tools)
    known = [number for number in query_ids if number in existing.met]
    earlier = steps_of(study, lists=lists, known=known)
    grown = grow(
        query_ids,
        list(user_ids),
        tools,
        rounds=wanted,
        seed=study.slug if seed is None else seed,
        earlier=earlier,
        existing=existing,
        also=[
            (row.query_id, row.tool, row.round)
            for row in work
            if row.tool in by_hand and row.round >= 0
        ],
        strict=strict,
    )
    _refuse_breaches(session, study, grown.added)
    _refuse_lists(session, study, grown.added)
    steps = [*earlier, grown.step] if grown.step else earlier
    fresh = {number for number in query_ids if not existing.met.get(number)}
    found = grown.missing, grown.added, grown.short
    return RotationPlan(wanted, *found, steps, existing.work, fresh)


def rotated_tools(study: Study, *, lists: bool = False) -> tuple[Tool, ...]:
    """Return the tools that are rotated together: those under the rule, or the one outside it."""
    settings = study.settings
    ruled = tools_under_rule(study)
    outside = tuple(tool for tool in settings.tools if tool not in ruled)
    if lists and not outside:
        why = "is already rotated with the other tools" if Tool.LISTS in ruled else "is not used"
        raise Invalid(f"The tool 'lists' {why} in this study.", field="lists")
    return outside if lists or not ruled else ruled


def assign_rotation(
    session: Session,
    study: Study,
    user_ids: Sequence[int],
    *,
    rounds: int | None = None,
    seed: str | None = None,
    lists: bool = False,
    strict: bool = True,
    part: Part | None = None,
    actor_id: int | None = None,
    at: datetime | None = None,
    origin: Origin = _ABSOLUTE,
) -> list[Assignment]:
    """Assign what is missing of all rounds up to ``rounds``, or a ``part`` of it."""
    plan = plan_rotation(
        session, study, user_ids, rounds=rounds, seed=seed, lists=lists, strict=strict
    ).only(part)
    if plan.short and not plan.added:
        raise plan.short
    named = study.slug if seed is None else seed
    made = assign(
        session,
        study,
        plan.added,
        seed=seed,
        actor_id=actor_id,
        at=at,
        origin=origin,
        rotated={"seed": named, "lists": lists},
    )
    remember(study, people=user_ids, seed=named, rounds=plan.rounds, lists=lists, steps=plan.steps)
    return made


def assign(
    session: Session,
    study: Study,
    wanted: Sequence[Spec],
    *,
    seed: str | None = None,
    actor_id: int | None = None,
    at: datetime | None = None,
    origin: Origin = _ABSOLUTE,
    rotated: Mapping[str, object] | None = None,
) -> list[Assignment]:
    """Make assignments with their plans, all or none; ``seed`` makes their draws reproducible.

    ``rotated`` describes the rotation for the audit log.
    """
    hold_settings(session, study)
    settings = study.settings
    refuse_unknown(session, study, settings, wanted)
    _refuse_breaches(session, study, wanted)
    created_at = at or now()
    made = [
        Assignment(
            user_id=work.assessor,
            query_id=work.query,
            tool=work.tool,
            round=work.round,
            plan=prepared.plan,
            pending_question=prepared.pending_question,
            created_at=created_at,
            finished_at=created_at if asks_nothing(work.tool, prepared.plan) else None,
        )
        for work, prepared in zip(
            wanted, _prepared(session, study, settings, wanted, seed, origin), strict=True
        )
    ]
    session.add_all(made)
    try:
        session.flush()
    except IntegrityError as error:
        raise Conflict(
            "Someone else assigned some of this work at the same time, or it was withdrawn from "
            "the same assessor before. Nothing was assigned; reload and try again."
        ) from error
    _record(session, study, wanted, actor_id, rotated or {})
    return made


def _prepared(
    session: Session,
    study: Study,
    settings: StudySettings,
    wanted: Sequence[Spec],
    seed: str | None,
    origin: Origin,
) -> list[Prepared]:
    """Return the plan of each assignment, or refuse lists that cannot be compared.

    The members of a team have the same plan. A machine judges alone.
    """
    pages = queries.candidates_of_study(session, study.id)
    compared = {work.query for work in wanted if work.tool is Tool.LISTS}
    gold = _gold_of_study(session, study.id) if settings.attention_every else {}
    lists = ListPlans(session, study, settings.list_rules, compared)
    people = queries.users_by_id(session, (work.assessor for work in wanted))
    asked = any(not people[work.assessor].machine for work in wanted)
    priors = prior_scores(session, study, settings) if asked else {}

    def plan(work: Spec) -> Prepared:
        documents, is_machine = pages.get(work.query, ()), people[work.assessor].machine
        if work.tool is Tool.LISTS:
            return lists.make(work.query, _seed(seed, work, origin), machine=is_machine)
        if settings.together and work.tool is Tool.PAIRS and not is_machine:
            shared = AssignmentSpec(origin.person, work.query, work.tool, 0)
            made = stored_plan(
                settings, work.tool, documents, _seed(seed or study.slug, shared, origin)
            )
        else:
            alone = replace(settings, together=False)
            made = stored_plan(alone, work.tool, documents, _seed(seed, work, origin))
        if work.query in gold:
            made["gold"] = gold[work.query]
        if work.tool is Tool.PAIRS and work.query in priors and not is_machine:
            known = priors[work.query]
            usual = fmean(known.values())  # a page without a score is neither good nor bad
            made["guide"] = [known.get(document, usual) for document in made["order"]]
        return Prepared(made, None)

    return [plan(work) for work in wanted]


def _refuse_lists(session: Session, study: Study, wanted: Sequence[Spec]) -> None:
    """Refuse lists of which no two can be compared, without choosing pairs."""
    compared = [work.query for work in wanted if work.tool is Tool.LISTS]
    if compared:
        rules = study.settings.list_rules
        lists = ListPlans(session, study, rules, compared, preview=True)
        sizes = [lists.make(query, "").plan["size"] for query in compared]
        if not any(sizes):
            raise Conflict(
                "There is nothing to compare: no query has rankings by at least two systems that "
                f"differ in their first {rules.depth} pages. Import such rankings first."
            )


def _record(
    session: Session,
    study: Study,
    wanted: Sequence[Spec],
    actor_id: int | None,
    rotated: Mapping[str, object],
) -> None:
    people = queries.users_by_id(session, (work.assessor for work in wanted))
    names = {query.id: query.external_id for query in queries.queries_of_study(session, study.id)}
    found = described(
        [(names[each.query], each.tool, each.round, people[each.assessor].email) for each in wanted]
    )
    rounds = sorted({work.round + 1 for work in wanted})
    audit.record(
        session, actor_id, "study.assign", study.slug, **found, round_numbers=rounds, **rotated
    )


def _seed(base: str | None, work: Spec, origin: Origin) -> str:
    if base is None:
        return token_hex(16)
    assessor, query = work.assessor - origin.person, work.query - origin.query
    name = f"{base}/{assessor}/{query}/{work.tool.value}/{work.round}"
    return blake2b(name.encode(), digest_size=16).hexdigest()


def refuse_archived(study: Study) -> None:
    """Refuse new work in an archived study."""
    if study.archived_at is not None:
        raise Conflict(f"The study {study.slug!r} is archived; unarchive it first.")


def refuse_unknown(
    session: Session, study: Study, settings: StudySettings, wanted: Iterable[Spec]
) -> None:
    """Refuse an archived study, and people, queries, tools and rounds that it does not have."""
    refuse_archived(study)
    users = queries.users_by_id(session, (work.assessor for work in wanted))
    known = {query.id for query in queries.queries_of_study(session, study.id)}
    workers = session.scalars(select(CrowdWorker).where(CrowdWorker.user_id.in_(set(users))))
    crowd = {worker.user_id: worker for worker in workers}
    for work in wanted:
        user = users.get(work.assessor)
        if user is None:
            raise NotFound(f"There is no user with the id {work.assessor}.")
        if user.disabled_at is not None:
            raise Conflict(
                f"{user.email} is disabled; enable the account before you assign work to it."
            )
        if user.id in crowd and crowd[user.id].study_id != study.id:
            raise Conflict(f"{user.name} joined through another study's entry link.")
        if work.query not in known:
            raise NotFound(f"There is no query with the id {work.query} in {study.slug!r}.")
        if work.tool not in settings.tools:
            allowed = ", ".join(tool.value for tool in Tool if tool in settings.tools)
            raise Invalid(
                f"The tool {work.tool.value!r} cannot be assigned in this study; its tools are "
                f"{allowed}.",
                field="tool",
            )
        if work.round < 0:
            raise Invalid(
                f"There is no round {work.round + 1}; rounds count from 1.", field="round"
            )


def _refuse_breaches(session: Session, study: Study, wanted: Sequence[Spec]) -> None:
    """Check each assignment against the existing ones and against those before it."""
    taken, ruled = taken_work(session, study), tools_under_rule(study)
    users = queries.users_by_id(session, (work.assessor for work in wanted))
    for work in wanted:
        if users[work.assessor].machine:  # it remembers nothing, and takes nobody's place
            continue
        refuse_breach(work, taken[work.query], ruled)
        taken[work.query].append(work)


def taken_work(session: Session, study: Study) -> defaultdict[int, list[Spec]]:
    """Return the assignments by query; withdrawn ones count if their assessor saw the query."""
    taken: defaultdict[int, list[Spec]] = defaultdict(list)
    for row in queries.assignments_of_study(session, study.id):
        if row.withdrawn_at is None:
            taken[row.query_id].append(spec_of(row))
        elif row.last_entry_at is not None:
            taken[row.query_id].append(AssignmentSpec(row.user_id, row.query_id, row.tool, _SEEN))
    return taken


def _gold_of_study(session: Session, study_id: int) -> dict[int, list[list[int]]]:
    """Return the gold pairs of each query of the study that has any."""
    statement = (
        select(GoldPair.query_id, GoldPair.left_id, GoldPair.right_id)
        .join(Query, Query.id == GoldPair.query_id)
        .where(Query.study_id == study_id)
        .order_by(GoldPair.id)
    )
    found: dict[int, list[list[int]]] = {}
    for query, left, right in session.execute(statement):
        found.setdefault(query, []).append([left, right])
    return found
