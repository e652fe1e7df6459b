"""The formats of exports, by name.

A new format is a line in `EXPORTS`: a function from a `StudySource` to lines (or bytes), made of a
pure writer in `analysis` and the queries it needs.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import PurePath
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from topkapi.analysis.data.exports import (
    CallRecord,
    ClockEvent,
    ConsensusList,
    LoggedEntry,
    PairAnswer,
    PreferenceLevel,
    PreferencePair,
    TopK,
    beir_qrels_lines,
    conversation_lines,
    crowdkit_lines,
    json_lines,
    levels_of,
    pair_lines,
    parquet_chunks,
    pref_lines,
    prefs_lines,
    qrels_lines,
    qrels_prefs_lines,
    timer_lines,
    triplet_lines,
)
from topkapi.analysis.errors import BadData
from topkapi.app.db.models import Assignment, Content, Document, MachineCall, Query, TimerEvent
from topkapi.app.db.queries.results.exports import features_of_study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.results.exports.confidence import confidence_records, reliability_records
from topkapi.app.services.results.exports.consensus import consensus_lists
from topkapi.app.services.results.exports.dataset import dataset_zip
from topkapi.app.services.results.exports.labels import (
    grade_labels,
    grades_umbrela,
    letor,
    list_labels,
)
from topkapi.app.services.results.exports.lists import list_answers
from topkapi.app.services.results.exports.records import (
    clock_record,
    log_records,
    pair_records,
    preferences_in,
    topk_record,
)
from topkapi.app.services.results.exports.source import AssignmentRecord, StudySource

_BATCH = 200

_TEXT = "text/plain; charset=utf-8"
_MEDIA_TYPES = {
    ".jsonl": "application/jsonl; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".zip": "application/zip",
}
_TEXTS = 40  # preferences whose pages are in memory at once
_ALL = frozenset(Tool)


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format: its content, writer and tools.

    ``write`` may refuse a study before it yields the first line, not later.
    """

    name: str
    description: str
    write: Callable[[StudySource], Iterator[str | bytes]]
    tools: frozenset[Tool] = frozenset({Tool.PAIRS})
    needs_features: bool = False
    suffix: str = ""  # of the file, after the name

    @property
    def media_type(self) -> str:
        """Media type by the ending of the file, plain text if it is none of the known ones."""
        return _MEDIA_TYPES.get(PurePath(self.name + self.suffix).suffix, _TEXT)


def _topk(source: StudySource) -> Iterator[TopK]:
    logs = source.list_logs()
    return (topk_record(work, rows) for work, rows in logs)


def _judgments(source: StudySource) -> Iterator[LoggedEntry]:
    logs = source.all_logs(withdrawn=True)
    return (entry for work, rows in logs for entry in log_records(work, rows))


def _pair_answers(source: StudySource) -> Iterator[PairAnswer]:
    """Yield preferences of assessors; an adjudicator saw chosen pairs of a query, and is none."""
    for work, rows in source.all_logs(tool=Tool.PAIRS):
        if not work.adjudicates:
            yield from pair_records(work, rows)


def _judgments_without_notes(source: StudySource) -> Iterator[str]:
    return json_lines(replace(each, note=None) for each in _judgments(source))


def _dataset(source: StudySource) -> Iterator[bytes]:
    names = ("topk.jsonl", "consensus.jsonl", "qrels", "grades.qrels")
    files = {name: EXPORTS[name].write for name in names}
    files["pairs.jsonl"] = lambda each: json_lines(_pair_answers(each))
    files["judgments.jsonl"] = _judgments_without_notes
    kinds = {
        "topk.jsonl": TopK,
        "consensus.jsonl": ConsensusList,
        "pairs.jsonl": PairAnswer,
        "judgments.jsonl": LoggedEntry,
    }
    return dataset_zip(source, files, kinds)


def preference_levels(source: StudySource) -> Iterator[PreferenceLevel]:
    """Yield the levels of every finished list, each list a judgment group."""
    for work, rows in source.list_logs():
        record = topk_record(work, rows)
        if record.complete:
            yield from levels_of(record)


def _parquet(records: Iterator[Any], kind: type[Any]) -> Iterator[bytes]:
    try:
        return parquet_chunks(records, kind)
    except BadData as error:
        raise Invalid(str(error)) from None


def _clock_events(source: StudySource) -> Iterator[ClockEvent]:
    for work in source.all_works(withdrawn=True):
        number = work.assignment.id
        for event in _clocks_of(source.session, [number])[number]:
            yield clock_record(work, event)


def call_records(source: StudySource) -> Iterator[CallRecord]:
    """Yield the requests of machines."""
    for call, query, user_id, tool, round in _calls_of_study(
        source.session, source.study.id, source.only
    ):
        own: dict[str, Any] = {
            each.name: getattr(call, each.name, None) for each in fields(CallRecord)
        }
        own |= {"query": query, "assessor": source.assessors.name(user_id), "tool": tool.value}
        yield CallRecord(**{**own, "round": round})


def _preference_records(source: StudySource) -> Iterator[PreferencePair]:
    for work, rows in source.all_logs(tool=Tool.PAIRS):
        won = [
            (left, right) if preference == "a" else (right, left)
            for left, right, preference in preferences_in(rows)
            if preference != "tie"
        ]
        for start in range(0, len(won), _TEXTS):
            yield from _with_texts(source, work, won[start : start + _TEXTS])


def _with_texts(
    source: StudySource, work: AssignmentRecord, won: list[tuple[int, int]]
) -> Iterator[PreferencePair]:
    shown = sorted({number for pair in won for number in pair})
    texts = _texts_of_documents(source.session, shown)
    for better, worse in won:
        yield PreferencePair(
            prompt=work.query.text,
            chosen=texts[better],
            rejected=texts[worse],
            query=work.query.name,
            chosen_id=work.names[better],
            rejected_id=work.names[worse],
            assessor=work.assessor,
        )


EXPORTS: Mapping[str, ExportFormat] = {
    each.name: each
    for each in (
        ExportFormat(
            "topk.jsonl",
            "Top-k ground truth of every assessor and query, with ties, bad pages and times.",
            lambda source: json_lines(_topk(source)),
        ),
        ExportFormat(
            "topk.parquet",
            "The same as a Parquet table.",
            lambda source: _parquet(_topk(source), TopK),
        ),
        ExportFormat(
            "consensus.jsonl",
            "One list per query from all who finished it, and how far each assessor departs.",
            lambda source: json_lines(consensus_lists(source)),
        ),
        ExportFormat(
            "confidence.jsonl",
            "Each finished list, the most probable one, and the confidence in every page's rank.",
            lambda source: json_lines(each for _, each in confidence_records(source)),
        ),
        ExportFormat(
            "reliability.jsonl",
            "How each member of a team errs: lapses, width and ties, with intervals.",
            lambda source: json_lines(each for _, each in reliability_records(source)),
        ),
        ExportFormat(
            "qrels",
            "TREC qrels of the consensus, or of one assessor: k for the best page, 0 outside.",
            lambda source: qrels_lines(list_labels(source)),
        ),
        ExportFormat(
            "beir.tsv",
            "The same labels as BEIR reads qrels.",
            lambda source: beir_qrels_lines(list_labels(source)),
        ),
        ExportFormat(
            "prefs",
            "Each finished list as a judgment group, for trec_eval -R prefs.",
            lambda source: prefs_lines(preference_levels(source)),
        ),
        ExportFormat(
            "qrels_prefs",
            "The same for trec_eval -R qrels_prefs.",
            lambda source: qrels_prefs_lines(preference_levels(source)),
        ),
        ExportFormat(
            "letor",
            "The same labels with the study's features, for learning to rank.",
            letor,
            needs_features=True,
        ),
        ExportFormat(
            "grades.qrels",
            "TREC qrels of the grades; the median grade if there are several assessors.",
            lambda source: qrels_lines(grade_labels(source)),
            tools=frozenset({Tool.GRADES}),
        ),
        ExportFormat(
            "judgments.jsonl",
            "The whole log: sides, times, notes, checks, undo and redo, including withdrawn work.",
            lambda source: json_lines(_judgments(source)),
            tools=_ALL,
        ),
        ExportFormat(
            "judgments.parquet",
            "The same as a Parquet table.",
            lambda source: _parquet(_judgments(source), LoggedEntry),
            tools=_ALL,
        ),
        ExportFormat(
            "pairs.tsv",
            "Every effective preference: query, two pages, which is better, and the assessor.",
            lambda source: pair_lines(_pair_answers(source)),
        ),
        ExportFormat(
            "pairs.parquet",
            "The same as a Parquet table.",
            lambda source: _parquet(_pair_answers(source), PairAnswer),
        ),
        ExportFormat(
            "pref",
            "Query, two pages and the better one, as Clarke's preference tools read it; no ties.",
            lambda source: pref_lines(_pair_answers(source)),
        ),
        ExportFormat(
            "crowdkit.csv",
            "Worker, left, right, label and query, for crowd-kit's pairwise aggregation; no ties.",
            lambda source: crowdkit_lines(_pair_answers(source)),
        ),
        ExportFormat(
            "lists.jsonl",
            "Every effective preference between two lists, as topkapi dcg learn reads it.",
            lambda source: json_lines(list_answers(source)),
            tools=frozenset({Tool.LISTS}),
        ),
        ExportFormat(
            "timers.csv",
            "Clock events: starts, pauses, heartbeats.",
            lambda source: timer_lines(_clock_events(source)),
            tools=_ALL,
        ),
        ExportFormat(
            "preferences.jsonl",
            "Prompt, chosen and rejected texts, as preference-tuning tools read them.",
            lambda source: json_lines(_preference_records(source)),
        ),
        ExportFormat(
            "conversations.jsonl",
            "The same in the conversational form of TRL.",
            lambda source: conversation_lines(_preference_records(source)),
        ),
        ExportFormat(
            "triplets.jsonl",
            "Query, better and worse text, as sentence-transformers reads triplets.",
            lambda source: triplet_lines(_preference_records(source)),
        ),
        ExportFormat(
            "umbrela.jsonl",
            "The grades, one line per query with its judged candidates, as umbrela keeps them.",
            grades_umbrela,
            tools=frozenset({Tool.GRADES}),
        ),
        ExportFormat(
            "calls.jsonl",
            "Every request of machine assessors: raw reply, tokens, time and version of the model.",
            lambda source: json_lines(call_records(source)),
            tools=_ALL,
        ),
        ExportFormat(
            "dataset",
            "A folder to publish, as a zip: lists, labels, pairs and log under pseudonyms, and a "
            "dataset card.",
            _dataset,
            tools=_ALL,
            suffix=".zip",
        ),
    )
}


def offered_exports(source: StudySource) -> list[ExportFormat]:
    """Return the formats that this study can be written in."""
    featured = _has_features(source.session, source.study.id)
    return [each for each in EXPORTS.values() if featured or not each.needs_features]


def _calls_of_study(
    session: Session, study_id: int, user_id: int | None
) -> Generator[Row[MachineCall, str, int, Tool, int], None, None]:
    """Yield the calls of a study, or of one machine, with query, user, tool and round."""
    statement = (
        select(
            MachineCall, Query.external_id, Assignment.user_id, Assignment.tool, Assignment.round
        )
        .join(Assignment, Assignment.id == MachineCall.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
        .order_by(MachineCall.id)
    )
    if user_id is not None:
        statement = statement.where(Assignment.user_id == user_id)
    with session.execute(statement.execution_options(yield_per=_BATCH)) as rows:
        yield from rows


def _clocks_of(session: Session, assignment_ids: Sequence[int]) -> dict[int, list[TimerEvent]]:
    """Return the clock events of assignments, each in chronological order."""
    events: dict[int, list[TimerEvent]] = {number: [] for number in assignment_ids}
    statement = (
        select(TimerEvent)
        .where(TimerEvent.assignment_id.in_(assignment_ids))
        .order_by(TimerEvent.assignment_id, TimerEvent.created_at, TimerEvent.id)
    )
    for row in session.scalars(statement):
        events[row.assignment_id].append(row)
    return events


def _has_features(session: Session, study_id: int) -> bool:
    """Whether any candidate of the study has features."""
    with closing(features_of_study(session, study_id)) as found:
        return any(found)


def _texts_of_documents(session: Session, document_ids: Sequence[int]) -> dict[int, str]:
    """Return the plain texts of documents by id."""
    statement = (
        select(Document.id, Content.text)
        .join(Content, Content.hash == Document.content_hash)
        .where(Document.id.in_(document_ids))
    )
    return {number: text or "" for number, text in session.execute(statement)}
