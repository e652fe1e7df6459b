"""The whole report of a study."""

from dataclasses import dataclass, field

from topkapi.analysis.report.figures import OPTIONAL
from topkapi.analysis.report.study import Options
from topkapi.analysis.report.subjects.agreement import Agreement
from topkapi.analysis.report.subjects.comparison import Comparison, NoComparison
from topkapi.analysis.report.subjects.confidence import ConfidenceSection
from topkapi.analysis.report.subjects.consensus import ToolConsensus
from topkapi.analysis.report.subjects.effort import Effort, NoEffort
from topkapi.analysis.report.subjects.machines import MachinesSection
from topkapi.analysis.report.subjects.pairs import PairRow
from topkapi.analysis.report.subjects.people import Person
from topkapi.analysis.report.subjects.queries import QueryAgreement
from topkapi.analysis.report.subjects.sides import Answers


@dataclass(frozen=True, slots=True)
class StudySummary:
    """Name and size of the study; ``k`` is None where it has no lists."""

    name: str
    k: int | None
    assessors: int
    queries: int
    documents: int


@dataclass(frozen=True, slots=True)
class ToolReport:
    """Every figure about one tool."""

    tool: str
    title: str
    assessors: int
    queries: int
    agreement: Agreement
    pairs: tuple[PairRow, ...]
    answers: Answers
    people: tuple[Person, ...]
    queries_by_disagreement: tuple[QueryAgreement, ...]
    effort: Effort | NoEffort
    consensus: ToolConsensus


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a study.

    ``notes`` are sentences about what is missing, ``confidence`` is there if it was asked for,
    ``machines`` if one judged; all are None in a report of files.
    """

    format: str
    version: int
    study: StudySummary
    settings: Options
    tools: tuple[ToolReport, ...]
    comparison: Comparison | NoComparison
    notes: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    confidence: ConfidenceSection | None = field(default=None, metadata=OPTIONAL)
    machines: MachinesSection | None = field(default=None, metadata=OPTIONAL)

    def tool(self, name: str) -> ToolReport:
        """Return the tool with this name."""
        return next(tool for tool in self.tools if tool.tool == name)

    @property
    def empty(self) -> bool:
        """Tell whether nobody has judged anything."""
        return not any(tool.people for tool in self.tools)
