"""Edits of a study between two imports: keep them, replace them, or ask.

Three versions of name, guidelines and every setting are compared: what the latest import had
(``imported``), what the study has now, and what the files have. What only the study changed is an
edit and is kept. What only the files changed is taken. What both changed needs a decision.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from topkapi.app.db.models import Study
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.settings import ImportedHead

Fields = Mapping[str, Any]
Outcome = Literal["kept", "replaced", "undecided", "fixed"]
NAME, GUIDELINES = "name", "guidelines"
_UNKNOWN = object()  # the value at the latest import, of a study that was imported long ago


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

    def as_json(self) -> dict[str, Any]:
        """Return the edit as a plain dictionary."""
        return {name: getattr(self, name) for name in ("field", "study", "files", "both")} | {
            "outcome": self.outcome
        }


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


def head_json(head: ImportedHead) -> dict[str, Any]:
    """Return name, guidelines and settings as stored in `Study.imported`."""
    return {NAME: head.name, GUIDELINES: head.guidelines, "settings": head.settings.as_json()}


def whole(head: ImportedHead) -> Merged:
    """Return the head of the files for a new study."""
    return Merged(head.name, head.guidelines, head.settings)


def merge(study: Study, head: ImportedHead, policy: EditPolicy, *, assigned: bool) -> Merged:
    """Merge the head of the files into the study; settings are fixed once work is ``assigned``."""
    now, given = _fields(_stored(study)), _fields(head_json(head))
    before = _fields(study.imported) if study.imported else dict.fromkeys(given, _UNKNOWN)
    fixed = _frozen_differences(study, head) if assigned else frozenset()
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
    before: Fields, now: Fields, given: Fields, fixed: frozenset[str], policy: EditPolicy
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


def _frozen_differences(study: Study, head: ImportedHead) -> frozenset[str]:
    now = study.settings.frozen_settings()
    given = head.settings.frozen_settings()
    return frozenset(name for name in given if given[name] != now[name])


def _stored(study: Study) -> dict[str, Any]:
    return {NAME: study.name, GUIDELINES: study.guidelines, "settings": study.settings.as_json()}


def _fields(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a head; settings that an older version did not know have defaults."""
    settings = StudySettings.from_json(head["settings"]).as_json()
    return {NAME: head[NAME], GUIDELINES: head[GUIDELINES], **settings}
