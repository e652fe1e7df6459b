"""Machine assessors beside people: biases, agreement by kind, and who may replace a person."""

from dataclasses import dataclass, field

from topkapi.analysis.machines import (
    AlternativeTest,
    AnswerEffect,
    Calibration,
    KindAgreement,
    LengthBoard,
)
from topkapi.analysis.report.schema.figures import OPTIONAL


@dataclass(frozen=True, slots=True)
class AssessorEffects:
    """Share of the left side and of the longer page among an assessor's decided answers."""

    assessor: str
    machine: bool
    side: AnswerEffect | None
    length: AnswerEffect | None


@dataclass(frozen=True, slots=True)
class QueryByKind:
    """Agreement on one query among people and between people and machines; None: nothing shared."""

    query: str
    text: str
    people_votes: int
    people: float | None
    machine_votes: int
    machine: float | None


@dataclass(frozen=True, slots=True)
class MachineTest:
    """Alternative annotator test of a machine; ``assessors`` are the people of ``test``, in order.

    ``test`` is None where nobody can be compared; then ``reason`` says why.
    """

    assessor: str
    test: AlternativeTest | None
    assessors: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MachineBoard:
    """Systems by the preferences of one machine, plain and at equal lengths."""

    assessor: str
    board: LengthBoard


@dataclass(frozen=True, slots=True)
class MachineCalibration:
    """What the stated confidence of one machine is worth."""

    assessor: str
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class ToolMachines:
    """Machines and people under one tool; ``queries`` with the least agreement come first.

    ``calibration`` has the machines that stated a confidence.
    """

    tool: str
    title: str
    effects: tuple[AssessorEffects, ...]
    agreement: tuple[KindAgreement, ...]
    queries: tuple[QueryByKind, ...]
    tests: tuple[MachineTest, ...]
    boards: tuple[MachineBoard, ...] | None = field(default=None, metadata=OPTIONAL)
    calibration: tuple[MachineCalibration, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class MachinesSection:
    """Everything about machine assessors, who are part of no other figure of a report."""

    assessors: tuple[str, ...]
    tools: tuple[ToolMachines, ...]
