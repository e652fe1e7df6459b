"""How sure the lists of a study are: rows for its report, and their means by assessor."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from app.services.exports import StudySource
from app.services.exports.sureness import sure_lists

Json = dict[str, Any]
_FIGURES = ("quality", "probable_quality", "error_rate")


def confidence_section(source: StudySource, people: Mapping[int, str] | None) -> Json:
    """Every finished list with its expected quality and the estimated error rate behind it.

    Answers of sorters other than `robust` are weighed for it: a third of a second a session of 140.
    """
    lists = [
        {
            "assessor": (people or {}).get(work.assignment.user_id, record.assessor),
            "query": record.query,
            "round": record.round,
            "sorter": record.sorter,
            "answers": record.answers,
            "quality": record.ranking_quality,
            "probable_quality": record.probable_quality,
            "error_rate": record.error_rate,
        }
        for work, record in sure_lists(source)
    ]
    names = sorted({str(row["assessor"]) for row in lists})
    return {"lists": lists, "people": [_person(name, lists) for name in names]}


def _person(name: str, lists: list[Json]) -> Json:
    mine = [row for row in lists if row["assessor"] == name]
    means = {figure: round(fmean(row[figure] for row in mine), 4) for figure in _FIGURES}
    return {"assessor": name, "lists": len(mine), **means}
