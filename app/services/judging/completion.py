"""The end of a worker's part: a code, or an address that leads back to the platform."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.queries import crowds as queries


@dataclass(frozen=True, slots=True)
class Completion:
    """What a worker gets after the last query: a code, or an https address."""

    code: str
    url: str


def completion_of(session: Session, user_id: int) -> Completion | None:
    """Return what ends the person's part, if they came through a link and everything is done."""
    worker = queries.crowd_account(session, user_id)
    if worker is None or worker.link is None:
        return None
    assigned, finished = queries.counts_of_work(session, user_id)
    if not assigned or finished < assigned:
        return None
    return Completion(worker.link.code, worker.link.redirect_url)
