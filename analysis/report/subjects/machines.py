"""Machines beside people: who prefers a side or length, who agrees, who may replace a person."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from topkapi.analysis.agreement import Preferences, Scores, agreement, pair_tables
from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import (
    AlternativeTest,
    AnswerEffect,
    Calibration,
    KindAgreement,
    LengthBoard,
    agreement_by_kind,
    alternative_annotator_test,
    calibration,
    length_board,
    length_effects,
    side_effects,
    votes_as_scores,
)
from topkapi.analysis.machines.alternative import EPSILON, Alignment
from topkapi.analysis.machines.kinds import machines_in
from topkapi.analysis.report.figures import OPTIONAL, number
from topkapi.analysis.report.study import StudyData, ToolData
from topkapi.analysis.typing import FloatArray


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


class StatedReply(NamedTuple):
    """A reply with its confidence: indices of machine, query, and two pages or systems.

    ``answer`` is 1, 0 or -1 for the left; of grades, which have the same page twice, the number.
    """

    machine: int
    query: int
    left: int
    right: int
    answer: int
    confidence: float


@dataclass(frozen=True, slots=True)
class MachineData:
    """A study with the machines among its assessors.

    Attributes
    ----------
    study
        People and machines; a tool ``lists`` has answers about ``systems``.
    machines
        Indices of the machines.
    lengths
        Lengths of what was on the left and right of each answer, by tool.
    systems
        Names of the systems that the answers of ``lists`` are about.
    stated
        Replies of machines that stated a confidence, by tool.
    """

    study: StudyData
    machines: Collection[int]
    lengths: Mapping[str, tuple[FloatArray, FloatArray]]
    systems: tuple[str, ...] = ()
    stated: Mapping[str, Sequence[StatedReply]] = field(default_factory=dict)

    def labels(self, tool: ToolData) -> Iterable[Scores]:
        """Return the labels of the alternative annotator test: grades, or votes on pairs."""
        if tool.name == "grades":
            return tool.scores
        return votes_as_scores(self.study.preferences(tool))

    def test(self, tool: ToolData, machine: int, epsilon: float = EPSILON) -> AlternativeTest:
        """Test whether a machine may replace a person; raise BadData if nobody can be compared."""
        people = set(range(len(self.study.assessors))) - set(self.machines)
        align: Alignment = "near" if tool.name == "grades" else "same"
        labels = self.labels(tool)
        return alternative_annotator_test(labels, machine, people, align=align, epsilon=epsilon)


def machines_section(data: MachineData) -> MachinesSection:
    """Compute every figure about machines.

    Parameters
    ----------
    data
        Labels and answers of people and machines.
    """
    names = data.study.assessors
    return MachinesSection(
        tuple(names[each] for each in sorted(data.machines)),
        tuple(_tool(data, tool) for tool in data.study.tools if machines_at_work(data, tool)),
    )


def machines_at_work(found: MachineData, tool: ToolData) -> list[int]:
    """Return the machines that have judged with a tool."""
    who = [each.assessors for each in tool.scores]
    who += [] if tool.judgments is None else [tool.judgments.assessor]
    judged = set(np.concatenate(who).tolist()) if who else set()
    return sorted(judged & set(found.machines))


def _tool(data: MachineData, tool: ToolData) -> ToolMachines:
    preferences = data.study.preferences(tool)
    return ToolMachines(
        tool=tool.name,
        title=tool.title,
        effects=_effects(data, tool),
        agreement=agreement_by_kind(preferences, data.machines),
        queries=_by_query(data, preferences),
        tests=tuple(_tested(data, tool, machine) for machine in machines_at_work(data, tool)),
        boards=_boards(data, tool) if tool.name == "lists" else None,
        calibration=_calibrated(data, tool) or None,
    )


def _effects(data: MachineData, tool: ToolData) -> tuple[AssessorEffects, ...]:
    """Return the effects of every assessor with a decided answer, machines first."""
    asked = tool.judgments
    if asked is None:
        return ()
    rows: dict[int, dict[str, AnswerEffect]] = {}
    lengths = data.lengths[tool.name]
    for each in (*side_effects(asked), *length_effects(asked, *lengths)):
        rows.setdefault(each.assessor, {})[each.effect] = each
    order = sorted(rows, key=lambda who: (who not in data.machines, who))
    names = data.study.assessors
    return tuple(
        AssessorEffects(
            names[who], who in data.machines, rows[who].get("side"), rows[who].get("length")
        )
        for who in order
    )


def _by_query(data: MachineData, preferences: Preferences) -> tuple[QueryByKind, ...]:
    """Return the queries on which people and machines share votes, least agreement first."""
    tables = pair_tables(preferences)
    kind = machines_in(tables, data.machines)
    sums = np.zeros((2, tables.n_queries, 3, 3))
    for each in (0, 1):
        np.add.at(sums[each], tables.query[kind == each], tables.counts[kind == each])
    votes, shares = sums.sum(axis=(2, 3)).astype(int), agreement(sums)
    study = data.study
    rows = [
        QueryByKind(
            query=study.queries[at],
            text=study.text(at),
            people_votes=int(votes[0, at]),
            people=number(shares[0, at]),
            machine_votes=int(votes[1, at]),
            machine=number(shares[1, at]),
        )
        for at in np.flatnonzero(votes[1]).tolist()
    ]
    return tuple(sorted(rows, key=lambda row: row.machine or 0.0))


def _tested(found: MachineData, tool: ToolData, machine: int) -> MachineTest:
    names = found.study.assessors
    try:
        test = found.test(tool, machine)
    except BadData as error:
        return MachineTest(names[machine], None, reason=str(error))
    people = tuple(names[each.assessor] for each in test.people)
    return MachineTest(names[machine], test, people)


def _boards(data: MachineData, tool: ToolData) -> tuple[MachineBoard, ...]:
    asked = tool.judgments
    assert asked is not None
    boards = []
    for machine in machines_at_work(data, tool):
        mine = asked.assessor == machine
        lengths = (each[mine] for each in data.lengths[tool.name])
        board = length_board(data.systems, asked.take(mine), *lengths)
        boards.append(MachineBoard(data.study.assessors[machine], board))
    return tuple(boards)


def _calibrated(found: MachineData, tool: ToolData) -> tuple[MachineCalibration, ...]:
    """Return what the stated confidence of each machine is worth, if people can be asked."""
    rows: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for reply, agreed in _agreed(found, tool):
        rows[reply.machine].append((reply.query, reply.confidence, agreed))
    names = found.study.assessors
    return tuple(
        MachineCalibration(names[machine], calibration(*map(np.array, zip(*mine, strict=True))))
        for machine, mine in sorted(rows.items())
    )


def _agreed(data: MachineData, tool: ToolData) -> Iterator[tuple[StatedReply, float]]:
    """Yield replies with the share of people who gave the same answer, where anybody answered."""
    replies: dict[int, list[StatedReply]] = defaultdict(list)
    for reply in data.stated.get(tool.name, ()):
        replies[reply.query].append(reply)
    graded = tool.name == "grades"
    blocks = () if graded else data.study.preferences(tool).blocks
    pairs = {each.query: np.stack([each.first, each.second], axis=1).tolist() for each in blocks}
    for each in data.labels(tool):
        people = each.values[~np.isin(each.assessors, list(data.machines))]
        items = pairs.get(each.query) or [(page, page) for page in range(people.shape[1])]
        column = {tuple(pair): at for at, pair in enumerate(items)}
        for reply in replies[each.query]:
            left, right = sorted((reply.left, reply.right))
            code = reply.answer if graded else 1 - reply.answer * (1 if left == reply.left else -1)
            theirs = people[:, column[left, right]] if (left, right) in column else people[:, :0]
            known = theirs[~np.isnan(theirs)]
            if known.size:
                yield reply, float((known == code).mean())
