"""`confidence.jsonl`: beside the list of each finished session what its answers make probable."""

from collections.abc import Iterator, Sequence

from topkapi.analysis.data.exports import ConfidenceList, confidence_lines
from topkapi.app.db.models import Assignment, JudgmentRow
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Finished, PairSession
from topkapi.app.services.judging.tool_adapters import TOOL_ADAPTERS
from topkapi.app.services.results.exports.source import AssignmentRecord, StudySource


def confidence(source: StudySource) -> Iterator[str]:
    """The lines of `confidence.jsonl`."""
    return confidence_lines(record for _, record in sure_lists(source))


def sure_lists(source: StudySource) -> Iterator[tuple[AssignmentRecord, ConfidenceList]]:
    """Every finished session with pairs: some two milliseconds an answer, unless it is `robust`."""
    for work, rows in source.all_logs(tool=Tool.PAIRS):
        record = sure_list(work, rows) if work.assignment.finished_at else None
        if record is not None:
            yield work, record


def sure_list(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> ConfidenceList | None:
    """The session as a record; None if it is not finished. Its own list is never replaced."""
    from topkapi.app.domain.pairs.list_confidence import confidence_in

    session = _replayed(work.assignment, rows)
    state = session.state
    if not isinstance(state, Finished):
        return None
    sure, names = confidence_in(session), work.names
    quality = sure.concluded_quality
    return ConfidenceList(
        study=work.study,
        query=work.query.name,
        assessor=work.assessor,
        round=work.assignment.round,
        k=session.plan.k,
        sorter=session.plan.sorter,
        answers=sure.answers,
        error_rate=sure.error_rate,
        ranking=tuple(names[item] for item in state.result.ranking),
        ranking_quality=sure.quality if quality is None else quality,
        probable=tuple(names[item] for item in sure.ranking),
        probable_quality=sure.quality,
        documents=tuple(names[page.item] for page in sure.pages),
        in_top=tuple(page.in_top for page in sure.pages),
        low=tuple(page.low for page in sure.pages),
        high=tuple(page.high for page in sure.pages),
    )


def _replayed(assignment: Assignment, rows: Sequence[JudgmentRow]) -> PairSession:
    """The session where its log leaves it."""
    adapter = TOOL_ADAPTERS[Tool.PAIRS]
    log = (
        Entry(row.entry, adapter.from_row(row) if row.entry is EntryKind.ANSWER else None)
        for row in rows
    )
    return PairSession(Plan.from_json(assignment.plan), log, assignment.offered)
