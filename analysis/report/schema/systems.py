"""Types of the reports on systems and on preferences between lists."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from topkapi.analysis.machines import LengthBoard, PoweredSystem
from topkapi.analysis.report.schema.figures import OPTIONAL, Figure

if TYPE_CHECKING:
    from topkapi.analysis.dcglearn import Learned


@dataclass(frozen=True, slots=True)
class StudyName:
    """Name and slug of a study."""

    name: str
    slug: str


@dataclass(frozen=True, slots=True)
class LeftPreference:
    """Preferences for the left list among the ``decided`` ones; ``p`` is None without any."""

    left: int
    decided: int
    p: float | None


@dataclass(frozen=True, slots=True)
class SystemRow:
    """Comparisons of one system; ``share`` counts a tie as half a win."""

    system: str
    share: Figure
    compared: int
    wins: int
    losses: int
    same: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReport:
    """Which systems win, and the gains learned from preferences between their lists.

    ``duels[i][j]`` counts how often the system ``names[i]`` was preferred to ``names[j]``.
    ``why_not`` is the reason why ``learned`` is None, and is empty otherwise.
    """

    study: StudyName | None = field(default=None, metadata=OPTIONAL)
    format: str = "topkapi-lists"
    pairs: int
    queries: int
    counts: dict[str, int]
    left: LeftPreference
    systems: tuple[SystemRow, ...]
    names: tuple[str, ...]
    duels: tuple[tuple[int, ...], ...]
    learned: "Learned | None"
    why_not: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference from the baseline, with the p of a paired randomisation test.

    ``p_holm`` is corrected for the number of systems; ``verdict`` is ``better``, ``worse`` or
    ``not significant`` at the level .05, with a loss turned around.
    """

    figure: Figure
    p: float
    p_holm: float
    verdict: str


@dataclass(frozen=True, slots=True)
class SystemScore:
    """Mean of a measure over the judged queries; ``difference`` is None for the baseline."""

    measure: str
    mean: Figure
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class ScoredSystem:
    """A system: judged queries it answered, unjudged share of its first k, and its scores."""

    system: str
    queries: int
    unjudged: float | None
    scores: tuple[SystemScore, ...]

    def score(self, measure: str) -> SystemScore:
        """Return the score by a measure."""
        return next(each for each in self.scores if each.measure == measure)


@dataclass(frozen=True, slots=True)
class SystemScores:
    """Scores of all systems on one ground truth, best first by the first measure.

    ``truth`` is ``topk`` or ``graded``; ``k`` is the depth of measures that are cut; less is better
    in the measures of ``losses``.
    """

    truth: str
    k: int
    queries: int
    baseline: str | None
    measures: tuple[str, ...]
    losses: tuple[str, ...]
    systems: tuple[ScoredSystem, ...]


@dataclass(frozen=True, slots=True)
class LeaderRow:
    """A system on the leaderboard.

    ``rank`` is 1 plus the number of systems that are better beyond chance; ``alike`` are the
    systems from which it does not differ beyond chance.
    """

    rank: int
    system: str
    worth: Figure
    wins: int
    losses: int
    same: int
    alike: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListAgreement:
    """Agreement of assessors on which of two lists is better, on pairs that two or more judged."""

    votes: int
    assessors: int
    overall: Figure
    without_ties: Figure
    krippendorff_alpha: Figure


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Systems by Bradley-Terry worth, best first, and how far assessors agree.

    ``at_equal_lengths`` has the strengths with the effect of the lists' lengths taken out; None
    where the lengths are not known.
    """

    comparisons: int
    queries: int
    assessors: int
    rows: tuple[LeaderRow, ...]
    agreement: ListAgreement
    at_equal_lengths: LengthBoard | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class PoweredScores:
    """Scores from few queries of people and many of a machine; ``reason`` is why there are none."""

    machine: str
    measure: str
    systems: tuple[PoweredSystem, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReport:
    """Everything about the systems of a study; None where there is nothing to report.

    ``truths`` are the ground truths on which systems can be scored.
    """

    study: StudyName | None = field(default=None, metadata=OPTIONAL)
    format: str = "topkapi-systems"
    truths: tuple[str, ...]
    scores: SystemScores | None
    leaderboard: Leaderboard | None
    powered: tuple[PoweredScores, ...] | None = field(default=None, metadata=OPTIONAL)
