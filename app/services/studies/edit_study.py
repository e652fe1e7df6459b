"""Editing of a study: name, guidelines, and settings that are not frozen by assignments."""

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies.importing import assigned_queries
from topkapi.app.db.queries.studies.studies import hold_settings
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.study import SETTINGS as STUDY_SETTINGS
from topkapi.app.domain.study import StudySettings
from topkapi.app.services import audit
from topkapi.app.services.fence import limits
from topkapi.app.services.guideline_history import record_version
from topkapi.app.services.setting_values import setting_value
from topkapi.app.services.values import BadValue

MAX_GUIDELINES = 200_000  # characters


def version_of(study: Study) -> str:
    """Return a digest of the editable fields, with which forms detect concurrent changes."""
    content = repr((study.name, study.guidelines, study.settings))
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def is_fixed(session: Session, study: Study) -> bool:
    """Return whether work is assigned, which freezes the settings that it was made from."""
    return bool(assigned_queries(session, study.id))


def change_study(
    session: Session,
    study: Study,
    *,
    name: str | None = None,
    guidelines: str | None = None,
    settings: Mapping[str, Any] | None = None,
    seen: str | None = None,
    actor_id: int | None = None,
) -> bool:
    """Apply the changes, all or nothing; return whether anything changed.

    ``settings`` maps names to new values. ``seen`` is the version that the changes are based on.
    """
    hold_settings(session, study, to_change=True)
    if seen is not None and seen != version_of(study):
        raise Conflict("Someone else changed the study. Repeat your change on what it is now.")
    new_name = study.name if name is None else _checked_name(name)
    text = study.guidelines if guidelines is None else _checked_guidelines(guidelines)
    old = study.settings
    new = old if settings is None else changed_settings(old, settings)
    _refuse_fixed(session, study, old, new)
    before = version_of(study)
    _save_settings(session, study, new_name, old, new, actor_id)
    if text != study.guidelines:
        detail = {"characters": len(text), "characters_before": len(study.guidelines)}
        audit.record(session, actor_id, "study.guidelines", study.slug, **detail)
        record_version(session, study, text, source="edit", actor_id=actor_id)
    return version_of(study) != before


def changed_settings(old: StudySettings, given: Mapping[str, Any]) -> StudySettings:
    """Return ``old`` with the values ``given``; refuse values of the wrong type by field."""
    values = {field.name: getattr(old, field.name) for field in fields(old)}
    for name, value in given.items():
        values[name] = _value(name, value)
    return StudySettings(**values)


def _value(name: str, value: Any) -> Any:
    if name not in STUDY_SETTINGS:
        known = ", ".join(STUDY_SETTINGS)
        raise Invalid(f"There is no setting {name!r}. The settings are {known}.", field=name)
    try:
        found = setting_value(name, value)
    except BadValue as error:
        raise Invalid(f"{error.problem} {error.fix}", field=error.field) from None
    return tuple(tool for tool in Tool if tool in found) if name == "tools" else found


def _checked_name(name: str) -> str:
    plain = " ".join(name.split())
    if not plain or len(plain) > limits.MAX_NAME or not plain.isprintable():
        raise Invalid(
            f"The name must have 1 to {limits.MAX_NAME} printable characters.",
            field="name",
        )
    return plain


def _checked_guidelines(text: str) -> str:
    kept = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(kept) > MAX_GUIDELINES:
        raise Invalid(
            f"The guidelines have {len(kept):,} characters; the maximum is {MAX_GUIDELINES:,}.",
            field="guidelines",
        )
    if "\0" in kept:
        raise Invalid("The guidelines contain a NUL character; remove it.", field="guidelines")
    return kept


def _refuse_fixed(session: Session, study: Study, old: StudySettings, new: StudySettings) -> None:
    changed = old.frozen_changes(new)
    if changed and is_fixed(session, study):
        names = ", ".join(changed)
        raise Conflict(
            f"The assigned work depends on {names}, and all assessors of a study must judge with "
            "the same settings. Nothing was changed. Withdraw the work first, or import the study "
            "under another slug."
        )


def _save_settings(
    session: Session,
    study: Study,
    name: str,
    old: StudySettings,
    new: StudySettings,
    actor_id: int | None,
) -> None:
    before, after = old.as_json(), new.as_json()
    detail: dict[str, object] = {
        key: _change(before[key], after[key]) for key in after if before[key] != after[key]
    }
    if name != study.name:
        detail["name"] = f"{study.name!r} to {name!r}"
    if detail:
        audit.record(session, actor_id, "study.settings", study.slug, **detail)
        study.name, study.settings = name, new


def _change(before: Any, after: Any) -> str:
    one, two = _formatted(before), _formatted(after)
    return f"{one} to {two}" if one != two else "descriptions changed"


def _formatted(value: Any) -> str:
    if isinstance(value, list):
        return "/".join(each["name"] if isinstance(each, dict) else str(each) for each in value)
    return "none" if value is None else str(value)
