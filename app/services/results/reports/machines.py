"""A study with its machines: what the report on them, and certificates, are computed from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from topkapi.analysis.agreement import Judgments
from topkapi.analysis.data.exports import ListJudgment
from topkapi.analysis.dcglearn import ANSWERS
from topkapi.analysis.report import StudyData, ToolData
from topkapi.analysis.report.sections.machines import MachineData
from topkapi.analysis.typing import FloatArray
from topkapi.app.db.queries.machines import machines_at_work
from topkapi.app.db.queries.results.exports import text_lengths
from topkapi.app.domain.enums import Tool
from topkapi.app.services.results.exports import ExportOptions, StudySource
from topkapi.app.services.results.exports.gathering import JUDGED, gather
from topkapi.app.services.results.exports.lists import list_answers

Sides = tuple[FloatArray, FloatArray]


def machine_data(source: StudySource, people: Mapping[int, str] | None) -> MachineData | None:
    """Return people and machines of a study; None if no machine has judged.

    ``people`` are names to show; otherwise people have those of exports. Machines have their own.
    """
    session, study_id = source.session, source.study.id
    machines = machines_at_work(session, study_id)
    if not machines:
        return None
    everyone = StudySource(session, source.study.slug, ExportOptions(machines=True))
    found = gather(everyone, tools=JUDGED)  # assessors are named by their e-mails
    compared = list(list_answers(everyone))
    systems = sorted({name for each in compared for name in (each.left_system, each.right_system)})
    lengths = text_lengths(session, study_id, {page for each in found.documents for page in each})
    names = {
        each.email: machines.get(each.email)
        or (people or {}).get(each.user_id, source.assessors.name(each.user_id))
        for each in everyone.assessors.people
    }
    lists = [_lists(found, compared, systems)] if compared else []
    return MachineData(
        replace(
            found,
            assessors=tuple(names[email] for email in found.assessors),
            tools=(*found.tools, *lists),
        ),
        {at for at, email in enumerate(found.assessors) if email in machines},
        {
            Tool.PAIRS.value: _page_lengths(found, lengths),
            Tool.LISTS.value: list_lengths(compared, lengths),
        },
        tuple(systems),
    )


def _lists(study: StudyData, compared: list[ListJudgment], systems: list[str]) -> ToolData:
    """Return the answers about lists as answers about their systems."""
    judgments = Judgments.of(
        assessor=[study.assessors.index(each.assessor) for each in compared],
        query=[study.queries.index(each.query) for each in compared],
        left=[systems.index(each.left_system) for each in compared],
        right=[systems.index(each.right_system) for each in compared],
        answer=[np.sign(ANSWERS[each.answer]) for each in compared],
    )
    return ToolData(Tool.LISTS.value, Tool.LISTS.label, judgments=judgments)


def _page_lengths(study: StudyData, lengths: Mapping[str, int]) -> Sides:
    asked = study.tools[JUDGED.index(Tool.PAIRS)].judgments
    assert asked is not None
    of_query = [np.array([lengths[page] for page in pages]) for pages in study.documents]
    return _sides(
        [of_query[query][page] for query, page in zip(asked.query, side, strict=True)]
        for side in (asked.left, asked.right)
    )


def list_lengths(compared: Sequence[ListJudgment], lengths: Mapping[str, int]) -> Sides:
    """Return the characters of the pages in both lists of each answer."""
    return _sides(
        [sum(lengths.get(page, 0) for page in getattr(each, side)) for each in compared]
        for side in ("left", "right")
    )


def _sides(found: Iterable[list[int]]) -> Sides:
    left, right = (np.array(side, dtype=float) for side in found)
    return left, right
