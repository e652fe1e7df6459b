"""The whole report of a study."""

from dataclasses import dataclass, field

from topkapi.analysis.data.exports import ConsensusList
from topkapi.analysis.data.exports.codec import InRound
from topkapi.analysis.report.schema.figures import (
    OPTIONAL,
    Agreement,
    Answers,
    Effort,
    Figure,
    NoEffort,
    PairRow,
    Person,
    QueryAgreement,
    Reason,
    key,
)
from topkapi.analysis.report.schema.machines import MachinesSection
from topkapi.analysis.report.study import Options


@dataclass(frozen=True, slots=True)
class StudySummary:
    """Name and size of the study; ``k`` is None where it has no lists."""

    name: str
    k: int | None
    assessors: int
    queries: int
    documents: int


@dataclass(frozen=True, slots=True)
class Departure:
    """Share of an assessor's preferences that the consensus lists reverse."""

    assessor: str
    queries: int
    mean: Figure
    most: float
    most_query: str


@dataclass(frozen=True, slots=True)
class ToolConsensus:
    """Consensus list of each query, and how far each assessor departs from them."""

    k: int
    queries: tuple[ConsensusList, ...]
    departures: tuple[Departure, ...]


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
class Compared:
    """Tests of the difference in agreement between two tools."""

    agreed: tuple[int, ...]
    votes: tuple[int, ...]
    shares: tuple[Figure, ...]
    difference: Figure
    chi_square: Figure
    chi_square_yates: Figure
    df: int
    p: Figure
    p_yates: Figure
    phi: Figure
    p_queries: Figure
    exchanges: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two tools, named by ``tools``, compared with and without ties."""

    tools: tuple[str, str]
    all_pairs: Compared
    without_ties: Compared


@dataclass(frozen=True, slots=True)
class NoComparison:
    """Stand-in for the comparison of fewer than two tools."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class ConfidenceRow(InRound):
    """Expected measures of one finished list, and the error rate estimated from its answers.

    ``expected_quality`` is the expected kappa-NDCG and ``overlap`` the expected overlap at k, each
    with the ends of its central 90 % interval.
    """

    assessor: str
    query: str
    round: int
    sorter: str
    answers: int
    expected_quality: float = field(metadata=key("quality"))
    quality_low: float
    quality_high: float
    overlap: float
    overlap_low: float
    overlap_high: float
    probable_quality: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class MeanConfidence:
    """Means over the lists of one assessor."""

    assessor: str
    lists: int
    expected_quality: float = field(metadata=key("quality"))
    overlap: float
    probable_quality: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class MemberErrors:
    """How a member of teams errs, with 90 % intervals, as in ``reliability.jsonl``."""

    assessor: str
    answers: int
    error_rate: float
    random: bool
    lapse: tuple[float, ...]
    width: tuple[float, ...]
    tie_width: tuple[float, ...]
    side: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ConfidenceSection:
    """Confidence in every finished list, and its mean by assessor; the errors of team members."""

    lists: tuple[ConfidenceRow, ...]
    people: tuple[MeanConfidence, ...]
    members: tuple[MemberErrors, ...] | None = field(default=None, metadata=OPTIONAL)


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
