"""Edits of a study in words: both values, and who changed the study when."""

import difflib
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.audit import last_event_about
from topkapi.app.services.importing.edits import GUIDELINES, NAME, Edit, Merged
from topkapi.app.services.importing.problems import Problems
from topkapi.app.services.importing.settings import ImportedHead

_DECIDE = (
    "Decide which one counts: import with --edits keep for the study's, or --edits replace for "
    "the file's; on the import page, choose there."
)


def refuse_undecided(
    session: Session, study: Study, head: ImportedHead, merged: Merged, problems: Problems
) -> None:
    """Add a problem for each edit that somebody must decide about."""
    for edit in merged.undecided:
        changed = last_change(session, study, edit.field)
        if edit.outcome == "fixed":
            text = f"{_values(edit)}, and work is assigned under that. {changed}"
            fix = (
                f"Write {edit.field} = {in_words(edit.study)} in study.toml, import with "
                "--edits keep, or import the study under another slug."
            )
        else:
            text, fix = f"{_values(edit)}. {changed}", _DECIDE
        problems.add(head.where(edit.field), edit.field, text, fix)


def described_edits(
    session: Session, study: Study | None, merged: Merged
) -> tuple[dict[str, Any], ...]:
    """Return the edits as JSON, each with its last change and, for guidelines, the difference."""
    if study is None:
        return ()
    return tuple(
        {
            **edit.as_json(),
            "study_text": in_words(edit.study),
            "files_text": in_words(edit.files),
            "changed": last_change(session, study, edit.field),
            "difference": difference(edit.study, edit.files) if edit.field == GUIDELINES else [],
        }
        for edit in merged.edits
    )


def last_change(session: Session, study: Study, field: str) -> str:
    """Return a sentence on who changed the field of the study last, where and when."""
    action = "study.guidelines" if field == GUIDELINES else "study.settings"
    about = None if field == GUIDELINES else field
    event = last_event_about(session, study.slug, action, since=study.created_at, field=about)
    if event is None:
        return "The study has it from its last import."
    page = "Guidelines" if field == GUIDELINES else "Settings"
    who = event.user.name if event.user is not None else "The command line"
    return f"{who} changed it on the page {page} on {event.at:%d %b %Y, %H:%M} UTC."


def difference(before: str, after: str) -> list[str]:
    """Return the lines that differ, each with ``-`` (study) or ``+`` (files), and some context."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    return list(lines)[2:]


def in_words(value: Any) -> str:
    """Return a value as it would be written in study.toml."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "not set"
    if isinstance(value, list):
        return "[" + ", ".join(in_words(each) for each in value) + "]"
    if isinstance(value, dict):
        described = f" ({value['description']})" if value.get("description") else ""
        return f'"{value["name"]}"{described}'
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _values(edit: Edit) -> str:
    if edit.field == GUIDELINES:
        return "The guidelines of this file differ from those of the study"
    name = "The name" if edit.field == NAME else edit.field
    return f"{name} is {in_words(edit.files)} here, but {in_words(edit.study)} in the study"
