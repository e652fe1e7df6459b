"""A study with its machines: what the report on them, and certificates, are computed from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from topkapi.analysis.agreement import Judgments
from topkapi.analysis.data.exports import ListJudgment
from topkapi.analysis.dcglearn import ANSWERS
from topkapi.analysis.report import StudyData, ToolData
from topkapi.analysis.report.subjects.machines import MachineData, StatedReply
from topkapi.analysis.typing import FloatArray
from topkapi.app.db.queries.machines import machines_at_work
from topkapi.app.db.queries.results.exports import text_lengths
from topkapi.app.domain.enums import Tool
from topkapi.app.services.results.exports import ExportOptions, StudySource
from topkapi.app.services.results.exports.formats import call_records
from topkapi.app.services.results.exports.gathering import JUDGED, gather
from topkapi.app.services.results.exports.lists import list_answers
from topkapi.app.services.results.exports.records import log_records

Sides = tuple[FloatArray, FloatArray]
_SIGNS = {"A": 1, "B": -1}  # how replies about sides begin


def machine_data(
    source: StudySource, people: Mapping[int, str] | None, *, stated: bool = True
) -> MachineData | None:
    """Return people and machines of a study; None if no machine has judged.

    ``people`` are names to show; otherwise people have those of exports. Machines have their own.
    ``stated``: with the replies that state a confidence.
    """
    session, study_id = source.session, source.study.id
    machines = machines_at_work(session, study_id)
    if not machines:
        return None
    everyone = StudySource(session, source.study.slug, ExportOptions(machines=True))
    study = gather(everyone, tools=JUDGED, by_id=True)  # assessors are named by their e-mails
    compared = list(list_answers(everyone))
    systems = sorted({name for each in compared for name in (each.left_system, each.right_system)})
    lengths = text_lengths(session, study_id, {page for each in study.documents for page in each})
    names = {
        each.email: machines.get(each.email)
        or (people or {}).get(each.user_id, source.assessors.name(each.user_id))
        for each in everyone.assessors.people
    }
    lists = [_lists(study, compared, systems)] if compared else []
    return MachineData(
        replace(
            study,
            assessors=tuple(names[email] for email in study.assessors),
            tools=(*study.tools, *lists),
        ),
        {at for at, email in enumerate(study.assessors) if email in machines},
        {
            Tool.PAIRS.value: _page_lengths(study, lengths),
            Tool.LISTS.value: list_lengths(compared, lengths),
        },
        tuple(systems),
        _stated(source, study, machines, systems) if stated else {},
    )


def _stated(
    source: StudySource, study: StudyData, machines: Iterable[str], systems: Sequence[str]
) -> Mapping[str, Sequence[StatedReply]]:
    """Return the replies that state a confidence, by tool; the log says what they are about."""
    grades = {grade.name: number for number, grade in enumerate(source.study.settings.grades)}
    stated: dict[str, list[StatedReply]] = defaultdict(list)
    for email in machines:
        own = StudySource(source.session, source.study.slug, ExportOptions(assessor=email))
        shown = {
            (each.query, each.tool, each.round, each.position): each
            for work, rows in own.all_logs()
            for each in log_records(work, rows)
        }
        machine = study.assessors.index(email)
        for call in call_records(own):
            entry = shown.get((call.query, call.tool, call.round, call.position))
            if entry is None or call.answer is None or call.confidence is None:
                continue
            query = study.queries.index(call.query)
            names = systems if call.tool == Tool.LISTS else study.documents[query]
            sides = (entry.left or entry.document, entry.right or entry.document)
            left, right = (names.index(name or "") for name in sides)
            swapped = -1 if call.order == "ba" else 1
            sign = _SIGNS.get(call.answer[0], 0) * swapped
            answer = grades[call.answer] if call.tool == Tool.GRADES else sign
            reply = StatedReply(machine, query, left, right, answer, call.confidence)
            stated[call.tool].append(reply)
    return stated


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
