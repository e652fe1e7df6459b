"""The routers of all features, in matching order."""

from topkapi.app.web import health
from topkapi.app.web.accounts.oidc_pages import router as oidc_pages
from topkapi.app.web.accounts.pages import api_router as account_api
from topkapi.app.web.accounts.pages import router as account_pages
from topkapi.app.web.assignments.api import router as assignments_api
from topkapi.app.web.assignments.pages import router as assignments_pages
from topkapi.app.web.assignments.work_pages import router as work_pages
from topkapi.app.web.audit.pages import api_router as audit_api
from topkapi.app.web.audit.pages import router as audit_pages
from topkapi.app.web.crowds.api import router as crowd_api
from topkapi.app.web.crowds.pages import router as crowd_pages
from topkapi.app.web.flags.pages import api_router as flags_api
from topkapi.app.web.flags.pages import router as flags_pages
from topkapi.app.web.help.pages import router as help_pages
from topkapi.app.web.importing.api import router as importing_api
from topkapi.app.web.importing.pages import router as importing_pages
from topkapi.app.web.jobs.api import router as jobs_api
from topkapi.app.web.jobs.pages import router as jobs_pages
from topkapi.app.web.judging.api import router as judging_api
from topkapi.app.web.judging.history_pages import api_router as history_api
from topkapi.app.web.judging.history_pages import router as history_pages
from topkapi.app.web.judging.pages import router as judging_pages
from topkapi.app.web.judging.queue_pages import router as queue_pages
from topkapi.app.web.machines.pages import router as machines_pages
from topkapi.app.web.pages.stored_pages import router as stored_pages
from topkapi.app.web.people.api import router as people_api
from topkapi.app.web.people.invitation_pages import router as invitation_pages
from topkapi.app.web.people.own_pages import router as own_pages
from topkapi.app.web.people.pages import router as people_pages
from topkapi.app.web.progress.api import router as progress_api
from topkapi.app.web.progress.pages import router as progress_pages
from topkapi.app.web.progress.start_pages import router as start_pages
from topkapi.app.web.results.api import exports_router as exports_api
from topkapi.app.web.results.api import report_router as report_api
from topkapi.app.web.results.api import systems_router as systems_api
from topkapi.app.web.results.query_pages import router as query_pages
from topkapi.app.web.results.report_pages import router as report_pages
from topkapi.app.web.results.systems_pages import router as systems_pages
from topkapi.app.web.studies.api import router as studies_api
from topkapi.app.web.studies.pages import router as studies_pages
from topkapi.app.web.training.api import router as training_api
from topkapi.app.web.training.pages import router as training_pages

# The routers with most requests come first.
ROUTERS = (
    judging_api,
    judging_pages,
    stored_pages,
    health.router,
    account_pages,
    oidc_pages,
    own_pages,
    start_pages,
    queue_pages,
    history_pages,
    training_pages,
    flags_pages,
    report_pages,
    query_pages,
    jobs_pages,
    machines_pages,
    jobs_api,
    account_api,
    studies_api,
    exports_api,
    report_api,
    systems_pages,
    systems_api,
    people_pages,
    invitation_pages,
    crowd_pages,
    crowd_api,
    studies_pages,
    assignments_pages,
    work_pages,
    progress_pages,
    importing_pages,
    audit_pages,
    help_pages,
    people_api,
    importing_api,
    assignments_api,
    progress_api,
    history_api,
    training_api,
    flags_api,
    audit_api,
)
