"""Preferences between lists of a study, to learn the worth of grades at positions."""

from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from topkapi.analysis.dcglearn import ListPreferences
from topkapi.analysis.typing import IntArray
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.judging.lists.evidence import answers_in_study, as_preferences, grades_of
from topkapi.app.services.studies.lifecycle import required_study


@dataclass(frozen=True, slots=True)
class StudyPreferences:
    """Answers about graded lists, and for each the number of its query."""

    preferences: ListPreferences
    queries: IntArray


def preferences_of(session: Session, slug: str, k: int | None = None) -> StudyPreferences:
    """Return every effective answer with the grades of the study; raise Invalid if none.

    Lists are cut to depth ``k``, by default the depth that the study showed; a larger one is
    refused, because nobody saw what comes after it.
    """
    study = required_study(session, slug)
    shown = study.settings.k
    depth = shown if k is None else k
    if depth > shown:
        raise Invalid(
            f"{slug}: its lists were shown to position {shown}, so nothing can be learned about "
            f"position {depth}. Use --k {shown} or less.",
            field="k",
        )
    answers = answers_in_study(session, study.id, depth)
    if not answers:
        raise Invalid(f"{slug}: nobody has compared two lists yet.", field="study")
    grades = grades_of(session, answers)
    if not grades.of:
        raise Invalid(
            f"{slug}: no page of its lists has a grade. Have them graded with the tool 'grades', "
            "or import grades with the candidates.",
            field="study",
        )
    queries = np.array([each.query_id for each in answers], dtype=np.int64)
    return StudyPreferences(as_preferences(answers, grades, depth), queries)
