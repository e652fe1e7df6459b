"""Quality of raw answers to pairs: repeats, sides and intransitive triads, by assessor too."""

from dataclasses import dataclass, field

from topkapi.analysis.report.schema.agreement import Counts
from topkapi.analysis.report.schema.figures import Figure
from topkapi.analysis.report.schema.keys import INLINE, OPTIONAL, key


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Share of repeated pairs with the same answer; ``counts`` cross-tabulates the answers."""

    figure: Figure = field(metadata=INLINE)
    asked: int
    counts: Counts | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class LeftShare:
    """Share of answers for the left page, with two tests against one half."""

    figure: Figure = field(metadata=INLINE)
    left: int | None = field(default=None, metadata=OPTIONAL)
    answers: int | None = field(default=None, metadata=OPTIONAL)
    p: Figure | None = field(default=None, metadata=OPTIONAL)
    p_queries: Figure | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class IntransitiveTriads:
    """Share of compared triples of pages whose answers fit no order.

    ``cycles`` counts the strict cycles among the ``broken`` triples.
    """

    figure: Figure = field(metadata=INLINE)
    broken: int | None = field(default=None, metadata=OPTIONAL)
    cycles: int | None = field(default=None, metadata=OPTIONAL)
    triples: int = 0


@dataclass(frozen=True, slots=True)
class ConsistencyThird:
    """Self-consistency in one third of the sessions."""

    part: str
    asked: int
    figure: Figure = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class Answers:
    """Quality of the raw answers of a tool, and self-consistency over a session.

    ``given`` is False for a tool without raw answers.
    """

    self_consistency: SelfConsistency
    left: LeftShare
    triads: IntransitiveTriads = field(metadata=key("circles"))
    course: tuple[ConsistencyThird, ...]
    given: bool = field(metadata={"internal": True})


@dataclass(frozen=True, slots=True)
class Person:
    """One assessor: agreement with the rest, estimated error rate, quality of raw answers."""

    assessor: str
    shared_queries: int
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    error_rate: Figure
    self_consistency: SelfConsistency
    left: LeftShare
    triads: IntransitiveTriads = field(metadata=key("circles"))
