"""`confidence.jsonl` and `reliability.jsonl`: how far lists and members of teams can be trusted."""

from collections.abc import Iterator, Sequence

from topkapi.analysis.data.exports import ConfidenceList, MemberReliability
from topkapi.app.db.models import JudgmentRow
from topkapi.app.domain.outcome import team_end
from topkapi.app.domain.pairs.confidence import Expected
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Finished, PairSession
from topkapi.app.domain.sessions import read_log
from topkapi.app.services.judging.teams import reliabilities
from topkapi.app.services.results.exports.source import AssignmentRecord, StudySource


def confidence_records(source: StudySource) -> Iterator[tuple[AssignmentRecord, ConfidenceList]]:
    """Yield every finished session with pairs and its confidence record.

    This takes about two milliseconds per answer, unless the sorter is `robust`.
    """
    for work, rows in source.list_logs():
        record = confidence_record(work, rows) if work.assignment.finished_at else None
        if record is not None:
            yield work, record


def confidence_record(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> ConfidenceList | None:
    """Return the session as a record, or None if it is not finished.

    The list of the session is never replaced by the most probable one.
    """
    from topkapi.app.domain.pairs.list_confidence import confidence_in

    plan, stored = Plan.from_json(work.assignment.plan), work.assignment.pending_question
    if plan.together:
        state, estimate = team_end(plan, stored), None
    else:
        session = PairSession(plan, read_log(work.assignment.tool, rows), stored)
        state = session.state if isinstance(session.state, Finished) else None
        estimate = None if state is None else confidence_in(session)
    if state is None:
        return None
    estimate, names = estimate or state.confidence, work.names
    assert estimate is not None
    quality = estimate.concluded_quality
    return ConfidenceList(
        study=work.study,
        query=work.query.name,
        assessor=work.assessor,
        round=work.assignment.round,
        k=plan.k,
        sorter=plan.sorter,
        answers=estimate.answers,
        error_rate=estimate.error_rate,
        ranking=tuple(names[item] for item in state.result.ranking),
        ranking_quality=estimate.quality if quality is None else quality,
        probable=tuple(names[item] for item in estimate.ranking),
        probable_quality=estimate.quality,
        documents=tuple(names[page.item] for page in estimate.pages),
        in_top=tuple(page.in_top for page in estimate.pages),
        low=tuple(page.low for page in estimate.pages),
        high=tuple(page.high for page in estimate.pages),
        expected_kappa_ndcg=_triple(estimate.kappa_ndcg),
        expected_overlap=_triple(estimate.overlap),
        expected_without_prior=_triple(estimate.without_prior),
    )


def _triple(value: Expected | None) -> tuple[float, ...]:
    return () if value is None else (value.mean, value.low, value.high)


def reliability_records(source: StudySource) -> Iterator[tuple[int, MemberReliability]]:
    """Yield the members of teams with their user ids, in the order of assessors."""
    found = reliabilities(source.session, source.study.id)
    for user_id in sorted(found, key=source.assessors.position):
        member = found[user_id]
        if source.only in (None, user_id):
            yield (
                user_id,
                MemberReliability(
                    study=source.study.slug,
                    assessor=source.assessors.name(user_id),
                    answers=member.answers,
                    error_rate=member.error_rate,
                    random=member.is_random,
                    lapse=_triple(member.lapse),
                    width=_triple(member.width),
                    tie_width=_triple(member.tie_width),
                ),
            )
