"""Make the report of a study from the database."""

from analysis.report import Options, build_report
from analysis.report.figures import Json
from app.domain.study import StudySettings
from app.domain.words import Tool
from app.services.exports import StudySource, completeness
from app.services.exports.gathering import TITLES, gather
from app.services.reports.names import names_of
from app.services.reports.notes import notes_on


def make_report(
    source: StudySource, *, pseudonyms: bool = False, options: Options | None = None
) -> Json:
    """The report of a study as JSON-ready records; ``notes`` say in words what it lacks."""
    people = None if pseudonyms else names_of(source)
    study = gather(source, tools=_tools(source), people=people)
    figures = build_report(study, options)
    return figures | {"notes": notes_on(study, completeness(source).of(TITLES))}


def _tools(source: StudySource) -> list[Tool]:
    """The tools that the study wants or that somebody has used, pairs first."""
    wanted = set(StudySettings.from_json(source.study.settings).tools)
    used = {each.tool for each in completeness(source).tools if each.assigned}
    return [tool for tool in TITLES if tool in wanted | used]
