"""Exports of Topkapi: records, their lines, and the readers of those lines.

Every format has a record (a frozen dataclass), a function from records to lines (a generator, so
that a study of any size passes through), and a reader that gives the same records back.

>>> from topkapi.analysis.data.exports import Label, qrels_lines
>>> "".join(qrels_lines([Label("q1", "d3", 2), Label("q1", "d8", 1)]))
'q1 0 d3 2\\nq1 0 d8 1\\n'
"""

from topkapi.analysis.data.exports.codec import json_lines
from topkapi.analysis.data.exports.labels import (
    Label,
    LetorRow,
    beir_qrels_lines,
    letor_lines,
    qrels_lines,
    read_letor_export,
    read_qrels,
)
from topkapi.analysis.data.exports.pairs import PairAnswer, pair_lines, read_pairs
from topkapi.analysis.data.exports.parquet import parquet_chunks
from topkapi.analysis.data.exports.records import (
    CallRecord,
    ConfidenceList,
    ConsensusList,
    ListJudgment,
    LoggedEntry,
    MemberReliability,
    PreferencePair,
    TopK,
    read_calls,
    read_confidence,
    read_consensus,
    read_judgments,
    read_list_answers,
    read_preferences,
    read_reliability,
    read_topk,
)
from topkapi.analysis.data.exports.timers import ClockEvent, read_timers, timer_lines
from topkapi.analysis.data.exports.training import conversation_lines, triplet_lines
from topkapi.analysis.data.exports.trec_prefs import (
    PreferenceLevel,
    levels_of,
    prefs_lines,
    qrels_prefs_lines,
    read_prefs,
    read_qrels_prefs,
)
from topkapi.analysis.data.exports.umbrela import read_umbrela, umbrela_lines
from topkapi.analysis.data.exports.winners import (
    crowdkit_lines,
    pref_lines,
    read_crowdkit,
    read_pref,
)

__all__ = [
    "CallRecord",
    "ClockEvent",
    "ConfidenceList",
    "ConsensusList",
    "Label",
    "LetorRow",
    "ListJudgment",
    "LoggedEntry",
    "MemberReliability",
    "PairAnswer",
    "PreferenceLevel",
    "PreferencePair",
    "TopK",
    "beir_qrels_lines",
    "conversation_lines",
    "crowdkit_lines",
    "json_lines",
    "letor_lines",
    "levels_of",
    "pair_lines",
    "parquet_chunks",
    "pref_lines",
    "prefs_lines",
    "qrels_lines",
    "qrels_prefs_lines",
    "read_calls",
    "read_confidence",
    "read_consensus",
    "read_crowdkit",
    "read_judgments",
    "read_letor_export",
    "read_list_answers",
    "read_pairs",
    "read_pref",
    "read_preferences",
    "read_prefs",
    "read_qrels",
    "read_qrels_prefs",
    "read_reliability",
    "read_timers",
    "read_topk",
    "read_umbrela",
    "timer_lines",
    "triplet_lines",
    "umbrela_lines",
]
