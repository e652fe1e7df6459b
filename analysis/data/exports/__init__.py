"""Exports of Topkapi: records, their lines, and the readers of those lines.

Every format has a record (a frozen dataclass), a function from records to lines (a generator, so
that a study of any size passes through), and a reader that gives the same records back.

>>> from topkapi.analysis.data.exports import Label, qrels_lines
>>> "".join(qrels_lines([Label("q1", "d3", 2), Label("q1", "d8", 1)]))
'q1 0 d3 2\\nq1 0 d8 1\\n'
"""

from topkapi.analysis.data.exports.confidence import (
    ConfidenceList,
    confidence_lines,
    read_confidence,
)
from topkapi.analysis.data.exports.consensus import ConsensusList, consensus_lines, read_consensus
from topkapi.analysis.data.exports.judgments import LoggedEntry, judgment_lines, read_judgments
from topkapi.analysis.data.exports.labels import (
    Label,
    LetorRow,
    beir_qrels_lines,
    letor_lines,
    qrels_lines,
    read_letor_export,
    read_qrels,
)
from topkapi.analysis.data.exports.lists import ListJudgment, list_lines, read_list_answers
from topkapi.analysis.data.exports.machine_calls import CallRecord, call_lines, read_calls
from topkapi.analysis.data.exports.pairs import PairAnswer, pair_lines, read_pairs
from topkapi.analysis.data.exports.parquet import parquet_chunks
from topkapi.analysis.data.exports.preferences import (
    PreferencePair,
    preference_lines,
    read_preferences,
)
from topkapi.analysis.data.exports.reliability import (
    MemberReliability,
    read_reliability,
    reliability_lines,
)
from topkapi.analysis.data.exports.timers import ClockEvent, read_timers, timer_lines
from topkapi.analysis.data.exports.topk import TopK, read_topk, topk_lines
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
    "call_lines",
    "confidence_lines",
    "consensus_lines",
    "conversation_lines",
    "crowdkit_lines",
    "judgment_lines",
    "letor_lines",
    "levels_of",
    "list_lines",
    "pair_lines",
    "parquet_chunks",
    "pref_lines",
    "preference_lines",
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
    "reliability_lines",
    "timer_lines",
    "topk_lines",
    "triplet_lines",
    "umbrela_lines",
]
