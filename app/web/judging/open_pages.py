"""Pages that open in a safe frame over a list: their titles and signed links."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from topkapi.app.services.judging.labeling import AssignmentState
from topkapi.app.web.pages.display_preferences import display_preferences_of
from topkapi.app.web.pages.page_html import keeps_colours
from topkapi.app.web.pages.page_links import PageLink, PageLinks, Theme


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page with its link; ``light`` if it keeps its own colours."""

    title: str
    url: str
    source: str
    light: bool


Opener = Callable[[int], OpenPage]


def opener_of(request: Request, assignment_state: AssignmentState) -> Opener:
    """Return a function from the id of a page of the assignment to its link."""
    links: PageLinks = request.app.state.page_links
    reading = display_preferences_of(request)

    def open_page(number: int) -> OpenPage:
        head = assignment_state.documents[number]
        light = keeps_colours(head.media_type)
        theme: Theme = "light" if light else "auto"
        study = assignment_state.query.study_id
        link = PageLink(study, head.id, theme, reading.size, assignment_state.terms)
        return OpenPage(head.title or head.name, head.url, links.address(link, head.path), light)

    return open_page
