"""View data of the study templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from topkapi.app.db.queries.studies.study_pages import DocumentRow, QueryRow
from topkapi.app.domain.settings import Part, Setting
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.guideline_history import Version
from topkapi.app.services.importing.edits import difference
from topkapi.app.services.studies.lifecycle import Deletion
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.common.views import PersonView, Refusal
from topkapi.app.web.pages.open_pages import OpenPage
from topkapi.app.web.studies.forms import GuidelinesForm, SettingsForm
from topkapi.app.web.studies.visit import StudyHead


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A row of the list of studies."""

    slug: str
    name: str
    state: str
    settings: StudySettings
    queries: int
    documents: int
    assignments: int
    finished: int


@dataclass(frozen=True, slots=True)
class StudiesView:
    """The list of studies."""

    lines: Sequence[StudyLine]
    may_change: bool


@dataclass(frozen=True, slots=True)
class StudyView:
    """One study: its content, settings, researchers who may read it, and the other ones."""

    head: StudyHead
    created_at: datetime
    settings: Sequence[tuple[str, str]]
    sizes: Mapping[str, int]
    readers: Sequence[PersonView]
    others: Sequence[PersonView]


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
    """A study's settings as a form; ``fixed`` if existing assignments depend on them."""

    head: StudyHead
    form: SettingsForm
    parts: Mapping[Part, Sequence[Setting]]
    fixed: bool
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class GuidelinesFormView:
    """The guidelines in a form; ``begun`` if somebody has judged by them."""

    head: StudyHead
    form: GuidelinesForm
    begun: bool
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class StudyTableView:
    """A page of the study's queries or documents; ``pages`` are links to documents by id."""

    head: StudyHead
    rows: Sequence[QueryRow] | Sequence[DocumentRow]
    pages: Mapping[int, OpenPage]
    paging: Paging
    choices: Choices
    search: str


@dataclass(frozen=True, slots=True)
class DeleteView:
    """What a deletion would remove."""

    head: StudyHead
    deletion: Deletion
    refusal: Refusal | None = None
