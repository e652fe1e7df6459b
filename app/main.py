"""Puts the program together: engine, templates, static files, routes, error handlers."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from anyio import CapacityLimiter
from fastapi import FastAPI

from app.assets import asset_dir
from app.config import Settings
from app.db import migrations
from app.db.engine import make_engine, make_sessions
from app.orphans import end_with_parent
from app.secret import load_secret
from app.services.late_writes import LateWrites
from app.services.live import LiveSessions
from app.services.page_texts import PageTexts
from app.services.pages.shown import ShownPages
from app.services.reports import ListReports, ReportCache
from app.services.sign_in import Authenticator
from app.services.snapshots import Snapshots
from app.services.tokens import TokenUses
from app.services.uploading import UploadDesk, UploadStore
from app.web.admission import KnownTokens
from app.web.cookies import Cookies
from app.web.devices import Devices
from app.web.errors import add_error_handlers
from app.web.gate import Gate
from app.web.headers import Headers
from app.web.logs import RequestLog, configure_logs
from app.web.openapi import describe
from app.web.page_links import PageLinks
from app.web.pages import Static, make_templates
from app.web.places import Places
from app.web.received import AddressCheck
from app.web.routes import accounts, admin, exports, health, labeling, pages, queue, reports
from app.web.routes.api import assignments, me, studies
from app.web.routes.api import exports as api_exports
from app.web.routes.api import reports as api_reports

# They are tried in this order, so the one that takes the most requests comes first.
ROUTERS = (
    assignments.router,
    health.router,
    accounts.router,
    queue.router,
    labeling.router,
    pages.router,
    exports.router,
    reports.router,
    me.router,
    studies.router,
    api_exports.router,
    api_reports.router,
    *admin.ROUTERS,
)


def create_app(settings: Settings) -> FastAPI:
    """The program on the database and with the secret that ``settings`` name."""
    app = FastAPI(
        title="Topkapi",
        summary="Top-k preference labeling.",
        openapi_url=None,  # `describe` serves it, written once
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    _equip(app, settings)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", Static(directory=asset_dir("static")), name="static")
    add_error_handlers(app)
    pages.add_link_errors(app)
    describe(app)
    app.add_middleware(Gate)
    app.add_middleware(AddressCheck)
    app.add_middleware(RequestLog)
    app.add_middleware(Headers, cookies=app.state.cookies)
    return app


def app_from_environment() -> FastAPI:
    """What each worker of the server runs: the program with the settings of the environment."""
    settings = Settings()
    configure_logs(settings.log_level)
    end_with_parent()
    app = create_app(settings)
    _spare_garbage_collection()
    return app


def _spare_garbage_collection() -> None:
    """Exclude what lives as long as the process from collections, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _equip(app: FastAPI, settings: Settings) -> None:
    """Everything requests need and share. Engines connect only when they are first used."""
    state = app.state
    secret = load_secret(settings.secret_file)
    state.settings = settings
    state.secret = secret
    state.engine = make_engine(settings.database_url, for_requests=True)
    state.sessions = make_sessions(state.engine)
    state.head_revision = migrations.head_revision()
    state.live = LiveSessions(settings.live_megabytes * 2**20)
    state.texts = PageTexts()
    state.pages = ShownPages()
    state.renderings = CapacityLimiter(2)
    state.snapshots = Snapshots()
    state.reports = ReportCache()
    state.list_reports = ListReports()
    state.places = Places(state.engine.dialect.name)
    state.known_tokens = KnownTokens(state.sessions, state.places.door)
    state.templates = make_templates()
    state.page_links = PageLinks(secret, minutes=settings.page_token_minutes)
    state.import_engine = make_engine(settings.database_url)  # imports wait longer for a lock
    state.uploads = UploadDesk(UploadStore(settings.upload_dir), make_sessions(state.import_engine))
    state.late = LateWrites(state.sessions)
    state.token_uses = TokenUses(state.late)
    state.authenticator = Authenticator(state.sessions, state.late)
    state.devices = Devices(secret, secure=settings.secure_cookies)
    state.cookies = Cookies(
        secret, lifetime=timedelta(hours=settings.session_hours), secure=settings.secure_cookies
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.uploads.close()
    app.state.late.close()
    app.state.engine.dispose()
    app.state.import_engine.dispose()
