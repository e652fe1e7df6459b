"""Assembly of the application: engine, templates, static files, routes, error handlers."""

import gc
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cache
from threading import Thread

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts
from sqlalchemy.orm import configure_mappers
from starlette.routing import BaseRoute

from topkapi.app.config import Settings
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.installation.assets import asset_dir
from topkapi.app.installation.parent_process import end_with_parent
from topkapi.app.installation.secret import load_secret
from topkapi.app.services.accounts.oidc import Provider
from topkapi.app.services.accounts.sign_in import Authenticator
from topkapi.app.services.accounts.throttling import Throttle
from topkapi.app.services.accounts.tokens import TokenUses
from topkapi.app.services.accounts.totp import Codes
from topkapi.app.services.importing.uploads import ImportRunner, UploadStore
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.study_errors import StudyLearner
from topkapi.app.services.judging.warming import warm
from topkapi.app.services.late_writes import LateWrites
from topkapi.app.services.pages.shown import PageTexts, ShownPages
from topkapi.app.services.progress.snapshots import Snapshots
from topkapi.app.services.results.reports import ListReports, ReportCache
from topkapi.app.services.results.systems.cache import SystemReports
from topkapi.app.services.studies import copy_import
from topkapi.app.web.access.admission import KnownTokens
from topkapi.app.web.access.bodies import BodyLimits
from topkapi.app.web.access.slots import TransactionLimits
from topkapi.app.web.accounts.devices import Devices
from topkapi.app.web.common.cookies import Cookies
from topkapi.app.web.common.errors import add_error_handlers
from topkapi.app.web.common.prefix import PrefixedApp, UnderPrefix
from topkapi.app.web.common.received import AddressCheck
from topkapi.app.web.common.templates import START_TEMPLATES, Static, make_templates
from topkapi.app.web.pages import stored_pages
from topkapi.app.web.pages.page_links import PageLinks
from topkapi.app.web.routers import ROUTERS
from topkapi.app.web.server.gate import Gate
from topkapi.app.web.server.headers import HeadAsGet, Headers
from topkapi.app.web.server.logs import RequestLog, configure_logs
from topkapi.app.web.server.openapi import describe
from topkapi.extras import optional_module

WARM_SECONDS = 3.0  # enough to load what is needed; a slow machine goes on
_SWITCH_SECONDS = 0.0005  # how long a request waits for a thread that computes; 0.005 is usual


def create_app(settings: Settings) -> FastAPI:
    """Create the application for the database and the secret that ``settings`` name."""
    app = PrefixedApp(
        title="Topkapi",
        summary="Top-k preference labeling.",
        servers=[{"url": settings.prefix}] if settings.prefix else None,
        openapi_url=None,  # served by `describe`, which serializes it once
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    _set_state(app, settings)
    app.mount("/static", Static(directory=asset_dir("static")), name="static")
    app.router.routes.extend(_routes())
    add_error_handlers(app)
    stored_pages.add_link_errors(app)
    describe(app)
    app.add_middleware(HeadAsGet)
    app.add_middleware(Gate, limits=_body_limits())
    app.add_middleware(AddressCheck)
    app.add_middleware(RequestLog)
    app.add_middleware(Headers, cookies=app.state.cookies)
    app.add_middleware(UnderPrefix, prefix=settings.prefix)
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Return the routes of all features, built once per process."""
    all_features = APIRouter()
    for router in ROUTERS:
        all_features.include_router(router)
    return all_features.routes


@cache
def _body_limits() -> BodyLimits:
    return BodyLimits(_routes())


def app_from_environment() -> FastAPI:
    """Create the application from the environment's settings, as each server worker does."""
    settings = Settings()
    configure_logs(settings.log_level)
    end_with_parent()
    app = create_app(settings)
    prepare_requests(app)
    _spare_garbage_collection()
    sys.setswitchinterval(_SWITCH_SECONDS)
    return app


def prepare_requests(app: FastAPI) -> None:
    """Analyse the routes, map the tables and compile the templates of start pages.

    Otherwise the first request does it, which takes a quarter of a second.
    """
    deque(iter_route_contexts(app.routes), maxlen=0)
    configure_mappers()
    for name in START_TEMPLATES:
        app.state.templates.get_template(name)


def _spare_garbage_collection() -> None:
    """Exclude objects that live as long as the process from garbage collection, and collect less
    often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _set_state(app: FastAPI, settings: Settings) -> None:
    """Attach shared state to the application.

    Engines connect only when first used.
    """
    state = app.state
    secret = load_secret(settings.secret_file)
    state.settings = settings
    state.secret = secret
    state.engine = make_engine(settings.database_url, for_requests=True)
    replica = settings.read_database_url
    state.replica = make_engine(replica, for_requests=True) if replica else None
    state.sessions = make_sessions(state.engine, state.replica)
    state.head_revision = migrations.head_revision()
    state.learner = StudyLearner(state.sessions)
    state.live = LiveSessions(settings.live_megabytes * 2**20, state.learner.learn_after)
    state.texts = PageTexts()
    state.pages = ShownPages()
    state.renderings, state.slow_renderings = CapacityLimiter(1), CapacityLimiter(1)
    state.snapshots = Snapshots()
    state.reports = ReportCache()
    state.list_reports = ListReports()
    state.system_reports = SystemReports()
    state.transaction_limits = TransactionLimits(state.engine.dialect.name)
    state.known_tokens = KnownTokens(state.sessions, state.transaction_limits.strangers)
    state.templates = make_templates()
    state.page_links = PageLinks(secret, minutes=settings.page_token_minutes)
    state.import_engine = make_engine(settings.database_url)  # imports wait longer for a lock
    state.uploads = ImportRunner(
        UploadStore(settings.upload_dir), make_sessions(state.import_engine), copy_import
    )
    state.late = LateWrites(state.sessions)
    state.token_uses = TokenUses(state.late)
    state.codes = Codes(secret)
    state.authenticator = Authenticator(state.sessions, state.late, state.codes)
    state.oidc = _provider(settings)
    state.entry_throttle = Throttle(state.sessions, state.late)
    state.devices = Devices(secret, secure=settings.secure_cookies)
    state.cookies = Cookies(
        secret,
        lifetime=timedelta(hours=settings.session_hours),
        longest=timedelta(days=settings.session_days),
        secure=settings.secure_cookies,
    )


def _provider(settings: Settings) -> Provider | None:
    if not settings.oidc_issuer:
        return None
    optional_module("authlib", "oidc", "Authlib")
    secret = settings.oidc_client_secret.get_secret_value()
    return Provider(settings.oidc_issuer, settings.oidc_client_id, secret)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    warming = Thread(target=warm, name="warm-robust", daemon=True)
    warming.start()
    await to_thread.run_sync(warming.join, WARM_SECONDS)  # it would slow down the first requests
    yield
    app.state.uploads.close()
    app.state.learner.close()
    app.state.late.close()
    for engine in (app.state.engine, app.state.import_engine, app.state.replica):
        if engine is not None:
            engine.dispose()
