"""Pages that open in a safe frame over a list, and in which size a device shows them."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from topkapi.app.db.queries.results.query_results import QueryDocument
from topkapi.app.db.queries.studies.study_pages import DocumentRow
from topkapi.app.services.judging.live_sessions import DocumentHead
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.web.common.templates import macro_of, make_templates
from topkapi.app.web.pages.page_html import keeps_colours
from topkapi.app.web.pages.page_links import PageLink, PageLinks, Theme

VIEW_COOKIE = "topkapi_view"
_VALUE = re.compile(r"s([1-5])\.l([01])(?:\.d\d{1,2})?(?:\.h([01])\.m[01])?")


@dataclass(frozen=True, slots=True)
class DisplayPreferences:
    """Text size from 1 to 5, and whether single-letter shortcuts are on and the header is pinned.

    A pinned header is whole at every question of a query, not only at the first.
    """

    size: int = 3
    letters: bool = True
    pinned: bool = False


def display_preferences_of(request: Request) -> DisplayPreferences:
    """Return the preferences in the cookie, or the defaults."""
    found = _VALUE.fullmatch(request.cookies.get(VIEW_COOKIE, ""))
    if found is None:
        return DisplayPreferences()
    return DisplayPreferences(int(found[1]), found[2] == "1", found[3] == "1")


StoredPage = DocumentHead | QueryDocument | DocumentRow


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page with its link; ``light`` if it keeps its own colours."""

    title: str
    url: str
    source: str
    light: bool


def page_opener(
    request: Request, study_id: int, terms: tuple[str, ...] = (), *, all_light: bool = False
) -> Callable[[StoredPage], OpenPage]:
    """Return a function from a page of the study to its link, with ``terms`` marked in it.

    With ``all_light`` every page is light, like those that keep their own colours.
    """
    links: PageLinks = request.app.state.page_links
    reading = display_preferences_of(request)

    def open_page(page: StoredPage) -> OpenPage:
        light = all_light or keeps_colours(page.media_type)
        theme: Theme = "light" if light else "auto"
        link = PageLink(study_id, page.id, theme, reading.size, terms)
        return OpenPage(page.title or page.name, page.url, links.address(link, page.path), light)

    return open_page


def page_link(request: Request, study_id: int) -> Callable[[StoredPage], str]:
    """Return a function from a page of the study to the markup of its link."""
    opened = page_opener(request, study_id)
    draw = macro_of(make_templates(), "judging/_opened.html", "title")
    return lambda page: draw(opened(page))


Opener = Callable[[int], OpenPage]


def opener_of(request: Request, assignment_state: AssignmentState) -> Opener:
    """Return a function from the id of a page of the assignment to its link."""
    opened = page_opener(request, assignment_state.query.study_id, assignment_state.terms)
    return lambda number: opened(assignment_state.documents[number])
