"""Make the report of a study from the database."""

from analysis.report import Options, build_report
from analysis.report.figures import Json
from app.domain.study import StudySettings
from app.domain.words import Tool
from app.services.exports import StudySource, completeness
from app.services.exports.gathering import TITLES, gather
from app.services.reports.names import names_of
from app.services.reports.notes import notes_on
from app.services.reports.sureness import confidence_section


def make_report(
    source: StudySource,
    *,
    pseudonyms: bool = False,
    confidence: bool = False,
    options: Options | None = None,
) -> Json:
    """The report of a study as JSON-ready records; ``notes`` say in words what it lacks.

    ``confidence`` adds how sure each list is, which takes a third of a second a session.
    """
    people = None if pseudonyms else names_of(source)
    study = gather(source, tools=_tools(source), people=people)
    figures = build_report(study, options)
    figures |= {"notes": notes_on(study, completeness(source).of(TITLES))}
    return figures | {"confidence": confidence_section(source, people)} if confidence else figures


def _tools(source: StudySource) -> list[Tool]:
    """The tools that the study wants or that somebody has used, pairs first."""
    wanted = set(StudySettings.from_json(source.study.settings).tools)
    used = {each.tool for each in completeness(source).tools if each.assigned}
    return [tool for tool in TITLES if tool in wanted | used]
