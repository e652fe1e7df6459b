"""The pages of administrators and researchers, and the API behind them."""

from app.web.routes.admin import (
    assigning,
    audit,
    deleting,
    imports,
    invitations,
    people,
    progress,
    settings,
    studies,
    work,
)
from app.web.routes.api import assigning as api_assigning
from app.web.routes.api import audit as api_audit
from app.web.routes.api import importing as api_importing
from app.web.routes.api import people as api_people
from app.web.routes.api import progress as api_progress

ROUTERS = (
    people.router,
    invitations.router,
    studies.router,
    settings.router,
    deleting.router,
    assigning.router,
    work.router,
    progress.router,
    imports.router,
    audit.router,
    api_people.router,
    api_importing.router,
    api_assigning.router,
    api_progress.router,
    api_audit.router,
)
