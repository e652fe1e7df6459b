"""Types of a report, from computation to page.

The fields of each dataclass are in the order of the keys in ``report.json``;
``topkapi.analysis.report.serialise`` turns them into JSON.
"""

from topkapi.analysis.efficiency import Course
from topkapi.analysis.report.schema.agreement import Agreement, Matrix, PairRow, QueryAgreement
from topkapi.analysis.report.schema.answers import (
    Answers,
    ConsistencyThird,
    IntransitiveTriads,
    LeftShare,
    Person,
    SelfConsistency,
)
from topkapi.analysis.report.schema.effort import AssessorTimes, Effort, NoEffort, Spread
from topkapi.analysis.report.schema.figures import Figure, Interval, Reason
from topkapi.analysis.report.schema.lists import LeftPreference, ListReport, StudyName, SystemRow
from topkapi.analysis.report.schema.report import (
    Compared,
    Comparison,
    ConfidenceRow,
    ConfidenceSection,
    Departure,
    MeanConfidence,
    MemberErrors,
    NoComparison,
    Report,
    StudySummary,
    ToolConsensus,
    ToolReport,
)
from topkapi.analysis.report.schema.systems import (
    Difference,
    Leaderboard,
    LeaderRow,
    ListAgreement,
    PoweredScores,
    ScoredSystem,
    SystemReport,
    SystemScore,
    SystemScores,
)

__all__ = [
    "Agreement",
    "Answers",
    "AssessorTimes",
    "Compared",
    "Comparison",
    "ConfidenceRow",
    "ConfidenceSection",
    "ConsistencyThird",
    "Course",
    "Departure",
    "Difference",
    "Effort",
    "Figure",
    "Interval",
    "IntransitiveTriads",
    "LeaderRow",
    "Leaderboard",
    "LeftPreference",
    "LeftShare",
    "ListAgreement",
    "ListReport",
    "Matrix",
    "MeanConfidence",
    "MemberErrors",
    "NoComparison",
    "NoEffort",
    "PairRow",
    "Person",
    "PoweredScores",
    "QueryAgreement",
    "Reason",
    "Report",
    "ScoredSystem",
    "SelfConsistency",
    "Spread",
    "StudyName",
    "StudySummary",
    "SystemReport",
    "SystemRow",
    "SystemScore",
    "SystemScores",
    "ToolConsensus",
    "ToolReport",
]
