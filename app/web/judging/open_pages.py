"""Pages of an assignment that open in a safe frame over a list."""

from collections.abc import Callable

from starlette.requests import Request

from topkapi.app.services.judging.labeling import AssignmentState
from topkapi.app.web.pages.open_pages import OpenPage, page_opener

Opener = Callable[[int], OpenPage]


def opener_of(request: Request, assignment_state: AssignmentState) -> Opener:
    """Return a function from the id of a page of the assignment to its link."""
    opened = page_opener(request, assignment_state.query.study_id, assignment_state.terms)
    return lambda number: opened(assignment_state.documents[number])
