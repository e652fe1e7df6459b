"""Texts from which the snippets of results are cut."""

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import lists as queries
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.text.snippets import LOOK
from topkapi.app.services.judging.labeling import AssignmentState


def snippet_texts(session: Session, assignment_state: AssignmentState) -> dict[str, str]:
    """Return the openings of the listed pages by content hash; empty if no lists are shown."""
    if not isinstance(assignment_state.state, AskingLists):
        return {}
    hashes = {
        assignment_state.documents[number].content_hash for number in assignment_state.state.shown
    }
    return queries.openings(session, hashes, LOOK)
