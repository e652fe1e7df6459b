"""`topkapi rank score` by trec_eval's preference measures."""

from collections.abc import Sequence
from pathlib import Path

from topkapi.analysis.data.exports import PreferenceLevel, read_prefs, read_qrels_prefs
from topkapi.analysis.data.exports.files import numbered_lines
from topkapi.analysis.data.runs import read_run
from topkapi.analysis.metrics import evaluate_prefs
from topkapi.app.cli.common import open_sessions
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.rank.sources import one_source
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.exports.formats import preference_levels

_PREFS_COLUMNS = 5


def are_prefs(names: Sequence[str]) -> bool:
    """Return whether all measures are of preferences; refuse a mixture with measures of labels."""
    of_preferences = [name for name in names if name.startswith("prefs_")]
    if of_preferences and len(of_preferences) < len(names):
        raise Refused(
            f"--measures: {of_preferences[0]} is a measure of preferences; "
            "score measures of labels with a separate command"
        )
    return bool(of_preferences)


def prefs_scores(
    data: Path | None, study: str | None, assessor: str | None, run: Path | None, names: list[str]
) -> dict[str, dict[str, float]]:
    """Return the values of a run by measure and query, on a file's or a study's preferences."""
    if run is None:
        raise Refused(f"{names[0]} needs --run: preferences have no features to rank by")
    one_source(data, study, assessor)
    levels = _of_study(study, assessor) if data is None else _of_file(data)
    return evaluate_prefs(levels, read_run(run), names)


def _of_file(path: Path) -> list[PreferenceLevel]:
    """Read ``prefs`` with five columns, or ``qrels_prefs`` (any qrels) with four."""
    first = next((line for _, line in numbered_lines(path)), "")
    return (read_prefs if len(first.split()) == _PREFS_COLUMNS else read_qrels_prefs)(path)


def _of_study(slug: str | None, assessor: str | None) -> list[PreferenceLevel]:
    assert slug is not None
    with open_sessions() as sessions, export_session(sessions) as session:
        found = list(
            preference_levels(StudySource(session, slug, ExportOptions(assessor=assessor)))
        )
    if not found:
        raise Refused(f"{slug}: no query is finished with pairs, so there are no preferences")
    return found
