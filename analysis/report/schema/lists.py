"""The report on preferences between lists."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from topkapi.analysis.report.schema.figures import Figure
from topkapi.analysis.report.schema.keys import OPTIONAL

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
