"""What a report is made from beside the study: notes on what is missing, and stored results.

The sentences of notes are part of the report's bytes.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from topkapi.analysis.report import StudyData, ToolData
from topkapi.app.services.results.exports import Completeness, StudySource


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What a job has computed, or a part of it: people have pseudonyms in it.

    ``digest`` is the `state_digest` of the study at that time.
    """

    job_id: int
    at: datetime
    digest: str
    content: Any


def notes_on(study: StudyData, state: Completeness, lists: Completeness) -> list[str]:
    """Return sentences for the head of a report; none if everything is finished and shared.

    ``lists`` is the work with the tool T3, which has a report of its own.
    """
    if not state.assigned and lists.assigned:
        return [
            f"This study compares lists only ({lists}). Which system wins, and the gains learned "
            "from the preferences, are in the report on lists."
        ]
    if not state.assigned:
        return [
            "Nothing is assigned yet. Assign queries to assessors; the report fills as they finish."
        ]
    if not state.finished:
        return [
            f"No session is finished yet ({state}). Lists, grades and agreement appear once the "
            "first ones are."
        ]
    found = _sharing(study)
    if not state.complete:
        found.append(f"The study is running ({state}): every figure may still change.")
    return found


def _sharing(study: StudyData) -> list[str]:
    people = {
        int(each) for tool in study.tools for scores in tool.scores for each in scores.assessors
    }
    if len(people) == 1:
        name = study.assessors[people.pop()]
        return [
            f"Only {name} has finished anything so far. Agreement needs two assessors who judge "
            "the same query with the same tool: assign the queries to a second person."
        ]
    alone = [tool.title for tool in study.tools if tool.scores and not _is_shared(tool)]
    return [
        f"{title}: no query was finished by two assessors, so agreement cannot be measured. Add a "
        "round, or wait for the open sessions."
        for title in alone
    ]


def _is_shared(tool: ToolData) -> bool:
    return any(scores.assessors.size > 1 for scores in tool.scores)


def names_of(source: StudySource) -> dict[int, str]:
    """Return the name per user, with the e-mail where two share a name."""
    everyone = source.assessors.people
    shared = Counter(person.name for person in everyone)
    return {
        person.user_id: f"{person.name} ({person.email})"
        if shared[person.name] > 1
        else person.name
        for person in everyone
    }
