"""The end of a worker's part: a code, or an address that leads back to the platform."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.queries import crowds as queries


@dataclass(frozen=True, slots=True)
class Completion:
    """What a worker gets at the end: a code, or an https address.

    ``is_complete`` is false if the work was withdrawn, as it is from people who do not qualify.
    Then both may be empty.
    """

    code: str
    url: str
    is_complete: bool = True


def completion_of(session: Session, user_id: int) -> Completion | None:
    """Return what ends the person's part, if they came through a link and have nothing to do."""
    worker = queries.crowd_account(session, user_id)
    if worker is None or worker.link is None:
        return None
    assigned, finished = queries.counts_of_work(session, user_id)
    if not assigned:
        end = worker.link.screen_out
        is_url = end.startswith("https://")
        return Completion("" if is_url else end, end if is_url else "", is_complete=False)
    return Completion(worker.link.code, worker.link.redirect_url) if finished == assigned else None
