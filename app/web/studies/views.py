"""Forms and view data of the study templates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import AfterValidator, Field

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies.study_pages import DocumentRow, QueryRow
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.settings import Part, Setting
from topkapi.app.domain.study import SETTINGS, Grade, StudySettings
from topkapi.app.services.guideline_history import Version
from topkapi.app.services.importing.edits import difference
from topkapi.app.services.state.study import StudyStatus
from topkapi.app.services.studies.edit_study import version_of
from topkapi.app.services.studies.lifecycle import Deletion
from topkapi.app.services.studies.records import ListedStudy
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.common.received import Line, PersonId, Received, storable, validated
from topkapi.app.web.common.views import PersonView, Refusal
from topkapi.app.web.pages.open_pages import OpenPage
from topkapi.app.web.studies.visit import StudyHead

Text = Annotated[str, Field(max_length=20_000), AfterValidator(storable)]


class SettingsForm(Received):
    """The settings of a study as typed, by name; without ``whole`` only those never frozen.

    A box that is not ticked sends nothing. The grades have one line each, from worst to best: the
    name, and after a colon what it means.
    """

    seen: Annotated[str, Field(max_length=400)] = ""
    whole: bool = False
    name: Annotated[str, Field(max_length=1000)] = ""
    typed: dict[str, list[Text]] = Field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return what was typed for a setting."""
        return "\n".join(self.typed.get(name, ()))


async def _sent(request: Request) -> SettingsForm:
    sent = await request.form()
    typed = {name: sent.getlist(name) for name in SETTINGS if name in sent}
    given = {name: sent[name] for name in ("seen", "whole", "name") if name in sent}
    return validated(SettingsForm, {**given, "typed": typed})


SentSettings = Annotated[SettingsForm, Depends(_sent)]


def settings_in_parts(*parts: Part) -> list[Setting]:
    """Return the settings of some parts in the order of their declaration."""
    return [each for each in SETTINGS.values() if each.part in parts]


BASIC = tuple(each for each in SETTINGS.values() if each.basic)
ADVANCED: Mapping[Part, Sequence[Setting]] = {
    part: [each for each in settings_in_parts(part) if not each.basic]
    for part in ("study", "pairs", "lists")
}


def form_of(study: Study) -> SettingsForm:
    """Return the current settings as a filled-in form."""
    typed = {name: _typed(getattr(study.settings, name)) for name in SETTINGS}
    return SettingsForm(seen=version_of(study), name=study.name, typed=typed)


def settings_in(form: SettingsForm, declared: Iterable[Setting]) -> dict[str, Any]:
    """Return the typed settings by name; raise Invalid naming a field that is not a number."""
    return {
        each.name: _value(each, form.typed.get(each.name, []))
        for each in declared
        if form.whole or not each.frozen
    }


def overview_of(settings: StudySettings) -> list[tuple[str, str]]:
    """Return labels and values of the basic settings, and of all that differ from their default."""
    found = ((each, getattr(settings, each.name)) for each in SETTINGS.values())
    return [
        (each.label, _shown(each, value))
        for each, value in found
        if each.basic or value != each.default
    ]


def _shown(declared: Setting, value: Any) -> str:
    if declared.kind is bool:
        return "yes" if value else "no"
    if declared.name == "grades":
        return ", ".join(grade.name for grade in value)
    if declared.name == "tools":
        return ", ".join(tool.label for tool in value)
    shown = declared.choices.get(value, "none" if value is None else str(value))
    first, space, rest = declared.unit.partition(" ")
    unit = f"{first.removesuffix('s') if value == 1 else first}{space}{rest}"
    return f"{shown} {unit}" if unit and value is not None else shown


def _typed(value: Any) -> list[str]:
    if isinstance(value, bool):
        return ["true"] if value else []
    if isinstance(value, tuple):
        return [_grade_line(one) if isinstance(one, Grade) else str(one) for one in value]
    if value is None:
        return []
    return [value if isinstance(value, str) else f"{value:g}"]


def _value(declared: Setting, typed: list[str]) -> Any:
    if declared.kind is bool:
        return bool(typed)
    if declared.name == "tools":
        return typed
    if declared.name == "grades":
        lines = (line for text in typed for line in text.splitlines())
        return [_grade(line) for line in lines if line.strip()]
    text = typed[0].strip() if typed else ""
    if declared.kind is str:
        return text
    if declared.optional and not text:
        return None
    whole = declared.kind is int
    return _read(text, declared.label, declared.kind, "a whole number" if whole else "a number")


def _grade_line(grade: Grade) -> str:
    return f"{grade.name}: {grade.description}".rstrip(": ")


def _grade(line: str) -> dict[str, str]:
    name, _, description = line.partition(":")
    return {"name": name.strip(), "description": description.strip()}


def _read(text: str, label: str, kind: Callable[[str], float], wanted: str) -> float:
    try:
        return kind(text)
    except ValueError:
        raise Invalid(f"{label}: {text!r} is not {wanted}.", field=label) from None


class AccessForm(Received):
    """A researcher, and whether they may read the study."""

    person: PersonId
    given: bool = False


class GuidelinesForm(Received):
    """Guidelines in Markdown, and the version they were changed from."""

    seen: Line = ""
    guidelines: Annotated[str, Field(max_length=1_000_000)] = ""


class ConfirmForm(Received):
    """The slug typed again, so that nothing is deleted by accident."""

    confirm: Line = ""


@dataclass(frozen=True, slots=True)
class StudiesView:
    """The list of studies."""

    lines: Sequence[ListedStudy]
    may_change: bool


@dataclass(frozen=True, slots=True)
class StudyView:
    """One study: its state, content and settings."""

    head: StudyHead
    state: StudyStatus
    created_at: datetime
    settings: Sequence[tuple[str, str]]
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class GuidelinesPageView:
    """The guidelines as assessors read them."""

    head: StudyHead
    html: str


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version of the guidelines; ``difference`` has its lines changed since the one before."""

    number: int
    at: datetime
    by: str
    source: str
    difference: Sequence[str]

    @classmethod
    def of(cls, version: Version, before: Version | None) -> "VersionLine":
        """Return the line of ``version``, which follows ``before``."""
        row, user = version
        old = "" if before is None else before[0].text
        changed = difference(old, row.text)
        by = "the command line" if user is None else user.name
        return cls(row.number, row.created_at, by, row.source, changed)


@dataclass(frozen=True, slots=True)
class GuidelinesHistoryView:
    """The versions of the guidelines, latest first."""

    head: StudyHead
    versions: Sequence[VersionLine]


@dataclass(frozen=True, slots=True)
class SettingsView:
    """A study's settings as a form; ``fixed`` if existing assignments depend on them.

    ``changed`` counts the advanced settings that differ from their default. ``readers`` are the
    researchers who may read the study, ``others`` those who may not.
    """

    head: StudyHead
    form: SettingsForm
    basic: Sequence[Setting]
    advanced: Mapping[Part, Sequence[Setting]]
    changed: int
    fixed: bool
    saved: bool
    readers: Sequence[PersonView]
    others: Sequence[PersonView]
    refusal: Refusal | None = None

    @property
    def every(self) -> Sequence[Setting]:
        """All settings of the form in its order."""
        return [*self.basic, *(each for part in self.advanced.values() for each in part)]


@dataclass(frozen=True, slots=True)
class GuidelinesFormView:
    """The guidelines in a form; ``begun`` if somebody has judged by them."""

    head: StudyHead
    form: GuidelinesForm
    begun: bool
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class StudyTableView:
    """A page of the study's queries or documents; ``pages`` are links to documents by id.

    ``missing`` are promised assignments that nobody has, per query.
    """

    head: StudyHead
    rows: Sequence[QueryRow] | Sequence[DocumentRow]
    pages: Mapping[int, OpenPage]
    paging: Paging
    choices: Choices
    search: str
    missing: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class DeleteView:
    """What a deletion would remove."""

    head: StudyHead
    deletion: Deletion
    refusal: Refusal | None = None
