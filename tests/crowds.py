"""Entry links for tests."""

from sqlalchemy.orm import Session

from topkapi.app.db.models import EntryLink, Study
from topkapi.app.domain.crowds import Platform
from topkapi.app.services.crowds.links import create_link

CONSENT = "# Consent\n\nYou compare pages. **Stop** whenever you want."


def make_link(
    session: Session,
    study: Study,
    *,
    platform: Platform = Platform.PROLIFIC,
    code: str = "",
    redirect_url: str = "",
    most_people: int | None = None,
    share: int = 1,
    rounds: int = 1,
    screen_out: str = "",
) -> tuple[EntryLink, str]:
    """Create an entry link; without an end it shows the code C0DE."""
    end = code or ("" if redirect_url else "C0DE")
    link = EntryLink(
        platform=platform,
        consent=CONSENT,
        code=end,
        redirect_url=redirect_url,
        most_people=most_people,
        share=share,
        rounds=rounds,
        screen_out=screen_out,
    )
    return link, create_link(session, study, link)
