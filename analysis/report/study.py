"""Input of a report: plain arrays from any source."""

from dataclasses import dataclass, field

import numpy as np

from topkapi.analysis.agreement import (
    Judgments,
    Preferences,
    Resamples,
    Scores,
    from_judgments,
    from_scores,
    resamples,
    same_assessors,
)
from topkapi.analysis.efficiency import Sessions, Timings
from topkapi.analysis.errors import BadData
from topkapi.analysis.resampling import IN_TAIL
from topkapi.analysis.typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class StudyName:
    """Name and slug of a study."""

    name: str
    slug: str


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a report.

    Attributes
    ----------
    draws
        Least number of resamples of queries; more are drawn for few queries.
    exchanges
        Number of random permutations of queries.
    seed
        Seed of both.
    level
        Level of the intervals.
    persistence
        The p of rank-biased overlap.
    depth
        Depth of rank-biased overlap where the study has no k.
    """

    draws: int = 2000
    exchanges: int = 9999
    seed: int = 0
    level: float = 0.95
    persistence: float = 0.9
    depth: int = 10

    def resamples(self, used: FloatArray | IntArray, strata: IntArray) -> Resamples:
        """Draw from the queries ``used`` within ``strata``, or take every resample of a few."""
        return resamples(
            used,
            strata=strata,
            draws=self.draws,
            in_tail=IN_TAIL,
            seed=self.seed,
            level=self.level,
        )

    def resamples_of(self, query: IntArray, assessor: IntArray, n_queries: int) -> Resamples:
        """Draw from the queries of some work, within those of the same assessors."""
        strata = same_assessors(query, assessor, n_queries)
        return self.resamples(np.bincount(query, minlength=n_queries), strata)


@dataclass(frozen=True, slots=True)
class ToolData:
    """Data that one tool collected.

    The votes that are compared come from ``scores``, or from ``judgments`` where a source has no
    labels.

    Attributes
    ----------
    name, title
        Key and title of the tool.
    scores
        Labels, one entry per query (finished sessions only).
    judgments
        Raw answers to pairs, for sides, checks and triads.
    sides
        Whether left and right are sides of the screen, drawn at random.
    timings
        Times of answers, which refer to rows of ``sessions``.
    sessions
        Assignments.
    adjudicated
        Answers of adjudicators, which count for the consensus only.
    teams
        Queries with the list of a team, which made it from the answers of all members.
    """

    name: str
    title: str
    scores: tuple[Scores, ...] = ()
    judgments: Judgments | None = None
    sides: bool = True
    timings: Timings | None = None
    sessions: Sessions | None = None
    adjudicated: Judgments | None = None
    teams: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class StudyData:
    """A study and its tools; the first two tools are compared.

    Attributes
    ----------
    name
        Name of the study.
    assessors, queries
        Names in index order.
    documents
        Document ids of each query in their fixed order.
    tools
        Data of each tool.
    k
        Length of the lists; None where there are none.
    texts
        Texts of the queries; may be empty.
    """

    name: str
    assessors: tuple[str, ...]
    queries: tuple[str, ...]
    documents: tuple[tuple[str, ...], ...]
    tools: tuple[ToolData, ...]
    k: int | None = None
    texts: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.documents) != len(self.queries):
            raise BadData(f"{len(self.queries)} queries but {len(self.documents)} document lists")
        if self.texts and len(self.texts) != len(self.queries):
            raise BadData(f"{len(self.queries)} queries but {len(self.texts)} texts")
        for tool in self.tools:
            _check(tool, self)

    def text(self, query: int) -> str:
        """Return the text of a query, empty where not known."""
        return self.texts[query] if self.texts else ""

    def preferences(self, tool: ToolData) -> Preferences:
        """Return the votes of a tool: from its labels, or else from its raw answers."""
        sizes = len(self.assessors), len(self.queries)
        if tool.scores or tool.judgments is None:
            return from_scores(tool.scores, *sizes)
        return from_judgments(tool.judgments, *sizes)


def _check(tool: ToolData, study: StudyData) -> None:
    for scores in tool.scores:
        wanted = (scores.assessors.size, len(study.documents[scores.query]))
        if scores.values.shape != wanted:
            raise BadData(
                f"{tool.name}, query {study.queries[scores.query]}: scores are "
                f"{scores.values.shape}, assessors and documents are {wanted}"
            )
    if (tool.timings is None) != (tool.sessions is None):
        raise BadData(f"{tool.name}: timings and sessions must be given together")
