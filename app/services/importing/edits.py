"""Edits of a study between two imports: keep them, replace them, or ask.

Three versions of name, guidelines and every setting are compared: what the latest import had
(``imported``), what the study has now, and what the files have. What only the study changed is an
edit and is kept. What only the files changed is taken. What both changed needs a decision.
"""

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from topkapi.app.db.models import AuditEvent, Study
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.bundle import ImportedHead
from topkapi.app.services.importing.problems import Problems

Fields = Mapping[str, Any]
Outcome = Literal["kept", "replaced", "undecided", "fixed"]
NAME, GUIDELINES = "name", "guidelines"
_UNKNOWN = object()  # the value at the latest import, of a study that was imported long ago
_DECIDE = (
    "Decide which one counts: import with --edits keep for the study's, or --edits replace for "
    "the file's; on the import page, choose there."
)


@dataclass(frozen=True, slots=True)
class EditPolicy:
    """What an import does with edits.

    ``default`` is ``keep`` or ``replace`` for all of them, ``ask`` to list them without refusing,
    or None to keep plain edits and refuse where study and files both changed. ``replace`` names
    fields for which the files win anyway.
    """

    default: Literal["keep", "replace", "ask"] | None = None
    replace: frozenset[str] = field(default_factory=frozenset)

    def replaces(self, name: str) -> bool:
        """Return whether the files win for this field."""
        return self.default == "replace" or name in self.replace


KEEP_EDITS = EditPolicy()


@dataclass(frozen=True, slots=True)
class Edit:
    """A field in which the study and the files differ, and what the import does with it.

    ``both`` says that the files have changed too, or that this is unknown; ``outcome`` is
    ``undecided`` where somebody must choose, and ``fixed`` where work depends on the study's value.
    """

    field: str
    study: Any
    files: Any
    both: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class DescribedEdit(Edit):
    """An edit in words: both values, who changed the study last, and how guidelines differ."""

    study_text: str
    files_text: str
    changed: str
    difference: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """Name, guidelines and settings after the import, and the edits met on the way."""

    name: str
    guidelines: str
    settings: StudySettings
    edits: tuple[Edit, ...] = ()

    @property
    def undecided(self) -> tuple[Edit, ...]:
        """The edits that somebody must decide about."""
        return tuple(edit for edit in self.edits if edit.outcome in ("undecided", "fixed"))


def head_json(head: ImportedHead | Study) -> dict[str, Any]:
    """Return name, guidelines and settings as stored in `Study.imported`."""
    return {NAME: head.name, GUIDELINES: head.guidelines, "settings": head.settings.as_json()}


def whole(head: ImportedHead) -> Merged:
    """Return the head of the files for a new study."""
    return Merged(head.name, head.guidelines, head.settings)


def merge(study: Study, head: ImportedHead, policy: EditPolicy, *, assigned: bool) -> Merged:
    """Merge the head of the files into the study; settings are fixed once work is ``assigned``."""
    now, given = _fields(head_json(study)), _fields(head_json(head))
    before = _fields(study.imported) if study.imported else dict.fromkeys(given, _UNKNOWN)
    fixed = study.settings.frozen_changes(head.settings) if assigned else ()
    result = dict(now)
    edits = []
    for name, found in _decided(before, now, given, fixed, policy):
        if found is None or found.outcome == "replaced":
            result[name] = given[name]
        if found is not None:
            edits.append(found)
    name, guidelines = result.pop(NAME), result.pop(GUIDELINES)
    return Merged(name, guidelines, StudySettings.from_json(result), tuple(edits))


def _decided(
    before: Fields, now: Fields, given: Fields, fixed: Collection[str], policy: EditPolicy
) -> Iterator[tuple[str, Edit | None]]:
    """Yield each differing field, with its edit unless the files alone changed it."""
    for name in given:
        if given[name] == now[name]:
            continue
        edited, changed = now[name] != before[name], given[name] != before[name]
        if name not in fixed and not edited:
            yield name, None
            continue
        outcome = _outcome(name, name in fixed, changed, policy)
        yield name, Edit(name, now[name], given[name], edited and changed, outcome)


def _outcome(name: str, fixed: bool, changed: bool, policy: EditPolicy) -> Outcome:
    if fixed:
        asked = policy.replaces(name) or (changed and policy.default != "keep")
        return "fixed" if asked else "kept"
    if policy.replaces(name):
        return "replaced"
    return "undecided" if changed and policy.default != "keep" else "kept"


def _fields(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a head; settings that an older version did not know have defaults."""
    settings = StudySettings.from_json(head["settings"]).as_json()
    return {NAME: head[NAME], GUIDELINES: head[GUIDELINES], **settings}


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
) -> tuple[DescribedEdit, ...]:
    """Return the edits, each with its last change and, for guidelines, the difference."""
    if study is None:
        return ()
    return tuple(
        DescribedEdit(
            **asdict(edit),
            study_text=in_words(edit.study),
            files_text=in_words(edit.files),
            changed=last_change(session, study, edit.field),
            difference=difference(edit.study, edit.files) if edit.field == GUIDELINES else (),
        )
        for edit in merged.edits
    )


def last_change(session: Session, study: Study, field: str) -> str:
    """Return a sentence on who changed the field of the study last, where and when."""
    action = "study.guidelines" if field == GUIDELINES else "study.settings"
    about = None if field == GUIDELINES else field
    event = _last_event_about(session, study.slug, action, since=study.created_at, field=about)
    if event is None:
        return "The study has it from its last import."
    page = "Guidelines" if field == GUIDELINES else "Settings"
    who = event.user.name if event.user is not None else "The command line"
    return f"{who} changed it on the page {page} on {event.at:%d %b %Y, %H:%M} UTC."


def difference(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ, each with ``-`` (study) or ``+`` (files), and some context."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    return tuple(lines)[2:]


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


def _last_event_about(
    session: Session, subject: str, action: str, *, since: datetime, field: str | None = None
) -> AuditEvent | None:
    """Return the latest event of a kind with its actor, whose detail has ``field`` if given."""
    statement = select(AuditEvent).options(joinedload(AuditEvent.user))
    statement = statement.where(AuditEvent.subject == subject, AuditEvent.action == action)
    statement = statement.where(AuditEvent.at >= since)
    for event in session.scalars(statement.order_by(AuditEvent.id.desc()).limit(100)):
        if field is None or field in event.detail:
            return event
    return None
