"""A visit to a page of a study: the request, its transaction, the person and the study."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Study, User
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError
from topkapi.app.services.progress.attention import Concern
from topkapi.app.services.progress.study_progress import Overview, overview
from topkapi.app.services.promise import word_of
from topkapi.app.services.state.study import StudyNeed, next_step
from topkapi.app.web.access.deps import RESEARCH, CurrentUser, SessionDep, Slug, require
from topkapi.app.web.access.downloads import ResultsSession
from topkapi.app.web.access.early_auth import EarlyResearcher
from topkapi.app.web.common.refusals import show_form
from topkapi.app.web.common.views import PersonView

SECTIONS = {  # the tabs of a study, by the parts of its navigation
    "Set up": {
        "study": "State",
        "settings": "Settings",
        "guidelines": "Guidelines",
        "queries": "Queries",
        "documents": "Documents",
        "training": "Training",
        "plan": "Plan",
    },
    "Work": {
        "assign": "Assign",
        "work": "Assignments",
        "progress": "Progress",
        "crowd": "Crowd",
        "machines": "Machines",
        "adjudication": "Adjudication",
    },
    "Results": {
        "report": "Report",
        "systems": "Systems",
        "models": "Models",
        "exports": "Exports",
    },
}
ADMINISTRATION = {"settings", "assign", "work", "crowd", "machines", "adjudication"}


@dataclass(frozen=True, slots=True)
class StudyHead:
    """The head of every page of a study; ``tab`` is the current page, ``next`` what to do next."""

    slug: str
    name: str
    archived: bool
    state: str
    tab: str
    may_change: bool
    next: StudyNeed

    @property
    def sections(self) -> dict[str, dict[str, str]]:
        """Return the titles of the tabs that the person may open, by section."""
        return {
            section: {
                tab: title
                for tab, title in tabs.items()
                if self.may_change or tab not in ADMINISTRATION
            }
            for section, tabs in SECTIONS.items()
        }


@dataclass(frozen=True, slots=True)
class Visit:
    """A request to a page of a study by a person whose role was checked."""

    request: Request
    session: Session
    user: User | PersonView
    study: Study

    def head(
        self,
        tab: str,
        seen: Overview | None = None,
        next: StudyNeed | None = None,
        concerns: Sequence[Concern] | None = None,
    ) -> StudyHead:
        """Return the head of the page; what is not given of it is computed."""
        session, study, may_change = self.session, self.study, self.user.role is Role.ADMIN
        seen = seen or overview(session, study, self.request.app.state.snapshots)
        sums = seen.all.sums
        return StudyHead(
            slug=study.slug,
            name=study.name,
            archived=study.archived_at is not None,
            state=word_of(study, seen.all.promised, sums.begun, sums.finished),
            tab=tab,
            may_change=may_change,
            next=next or next_step(session, study, seen, concerns, may_change=may_change),
        )

    def show(
        self, page: str, view: object, refusal: AppError | None = None, *, status: int = 200
    ) -> Response:
        """Render a page; after a refusal with the status of that."""
        return show_form(self.request, page, view, refusal, status)

    def url(self, route: str, **values: object) -> str:
        """Return the address of a page of the study."""
        return str(self.request.app.url_path_for(route, slug=self.study.slug, **values))

    def to(self, route: str, rest: str = "", **values: object) -> Response:
        """Redirect to a page of the study; ``rest`` follows its path."""
        return RedirectResponse(self.url(route, **values) + rest, status_code=303)


def _with_role(*roles: Role) -> Callable[..., Visit]:
    def visit(request: Request, session: SessionDep, user: CurrentUser, slug: Slug) -> Visit:
        require(request, session, user, *roles)
        return Visit(request, session, user, required_study(session, slug))

    return visit


def _on_snapshot(
    request: Request, user: EarlyResearcher, session: ResultsSession, slug: Slug
) -> Visit:
    return Visit(request, session, user, required_study(session, slug))


AdminVisit = Annotated[Visit, Depends(_with_role(Role.ADMIN))]
ReaderVisit = Annotated[Visit, Depends(_with_role(*RESEARCH))]
# The page is computed once for all who ask meanwhile, from a snapshot of the database.
SnapshotVisit = Annotated[Visit, Depends(_on_snapshot)]
