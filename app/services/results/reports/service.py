"""Making the report of a study from the database."""

from dataclasses import replace

from topkapi.analysis.report import Options, Report, build_report
from topkapi.analysis.report.schema import ConfidenceSection
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.results.exports import StudySource, completeness
from topkapi.app.services.results.exports.gathering import TITLES, gather
from topkapi.app.services.results.reports.confidence import confidence_section, stored_section
from topkapi.app.services.results.reports.names import names_of
from topkapi.app.services.results.reports.notes import notes_on
from topkapi.app.services.results.reports.stored import StoredConfidence


def make_report(
    source: StudySource,
    *,
    pseudonyms: bool = False,
    confidence: bool | StoredConfidence = False,
    options: Options | None = None,
) -> Report:
    """Make the report of a study; its ``notes`` say what is missing.

    ``confidence`` adds the confidence in each list; unless it is stored, that takes a third of a
    second per session.
    """
    people = None if pseudonyms else names_of(source)
    study = gather(source, tools=_tools(source), people=people)
    state = completeness(source)
    return replace(
        build_report(study, options, method=source.consensus),
        notes=tuple(notes_on(study, state.of(TITLES), state.of({Tool.LISTS}))),
        confidence=_confidence(source, people, confidence),
    )


def _confidence(
    source: StudySource, people: dict[int, str] | None, wanted: bool | StoredConfidence
) -> ConfidenceSection | None:
    if isinstance(wanted, StoredConfidence):
        return stored_section(source, people, wanted)
    return confidence_section(source, people) if wanted else None


def _tools(source: StudySource) -> list[Tool]:
    """Return the tools that are configured or were used, pairs first."""
    wanted = set(StudySettings.from_json(source.study.settings).tools)
    used = {each.tool for each in completeness(source).tools if each.assigned}
    return [tool for tool in TITLES if tool in wanted | used]
