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
    letor_lines,
    qrels_lines,
    read_letor_export,
    read_qrels,
)
from topkapi.analysis.data.exports.lists import ListAnswer, list_lines, read_list_answers
from topkapi.analysis.data.exports.pairs import PairAnswer, pair_lines, read_pairs
from topkapi.analysis.data.exports.preferences import Preference, preference_lines, read_preferences
from topkapi.analysis.data.exports.timers import ClockEvent, read_timers, timer_lines
from topkapi.analysis.data.exports.topk import TopK, read_topk, topk_lines

__all__ = [
    "ClockEvent",
    "ConfidenceList",
    "ConsensusList",
    "Label",
    "LetorRow",
    "ListAnswer",
    "LoggedEntry",
    "PairAnswer",
    "Preference",
    "TopK",
    "confidence_lines",
    "consensus_lines",
    "judgment_lines",
    "letor_lines",
    "list_lines",
    "pair_lines",
    "preference_lines",
    "qrels_lines",
    "read_confidence",
    "read_consensus",
    "read_judgments",
    "read_letor_export",
    "read_list_answers",
    "read_pairs",
    "read_preferences",
    "read_qrels",
    "read_timers",
    "read_topk",
    "timer_lines",
    "topk_lines",
]
