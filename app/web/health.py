"""Health checks, and `/metrics`: figures for Prometheus.

Requests are counted by the workers, which share their counts (`PROMETHEUS_MULTIPROC_DIR`); all else
is read from the database. So every worker gives the same answer.
"""

import os
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from hmac import compare_digest

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from topkapi.app.db import migrations
from topkapi.app.db.base import now
from topkapi.app.db.queries.figures import assignment_figures, earliest_lease
from topkapi.app.domain.errors import BadToken, NotFound
from topkapi.app.services.jobs.store import queue_state
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.server.processes import MULTIPROCESS

router = APIRouter(include_in_schema=False)
ACTIVE = timedelta(minutes=15)


@router.get("/healthz")
async def get_healthz() -> JSONResponse:
    """Report that the process is up."""
    return JSONResponse({"status": "up"})


@router.get("/readyz")
async def get_readyz(request: Request) -> JSONResponse:
    """Report whether the database answers and is migrated, and how background jobs go.

    Pages work without a worker, so jobs that nobody takes do not make the server unready.
    """
    async with limits_of(request).health.hold():
        return await run_in_threadpool(_readiness, request.app.state)


def _readiness(state: State) -> JSONResponse:
    try:
        found = migrations.revisions(state.engine, state.head_revision)
        if not found.up_to_date:
            return JSONResponse({"status": "the database is not migrated"}, status_code=503)
        with state.sessions.read() as session:
            jobs = queue_state(session)
    except SQLAlchemyError:
        return JSONResponse({"status": "the database does not answer"}, status_code=503)
    return JSONResponse({"status": "ready", "jobs": asdict(jobs)})


@router.get("/metrics")
async def get_metrics(request: Request) -> Response:
    """Return the figures to a reader who has the token of the setting `metrics_token`."""
    token = request.app.state.settings.metrics_token.get_secret_value()
    if not token:
        raise NotFound("Figures are not served here: set TOPKAPI_METRICS_TOKEN.")
    sent = request.headers.get("Authorization", "")
    if not compare_digest(sent.encode(), f"Bearer {token}".encode()):
        raise BadToken("Send the token of TOPKAPI_METRICS_TOKEN as a bearer token.")
    async with limits_of(request).health.hold():
        text = await run_in_threadpool(_figures, request.app.state)
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


def _figures(state: State) -> bytes:
    stored = CollectorRegistry()
    with state.sessions.reports() as session:
        stored.register(_Stored(list(_stored(session))))
    if MULTIPROCESS not in os.environ:
        return generate_latest(stored) + generate_latest(REGISTRY)
    MultiProcessCollector(stored)  # type: ignore[no-untyped-call]  # it has no types
    return generate_latest(stored)


class _Stored(Collector):
    """Figures of the database."""

    def __init__(self, figures: list[Metric]) -> None:
        self._figures = figures

    def collect(self) -> list[Metric]:
        """Return the figures."""
        return self._figures


def _stored(session: Session) -> Iterator[Metric]:
    figures, jobs = assignment_figures(session, active_since=now() - ACTIVE), queue_state(session)
    # An undo takes an answer back, so that it is no counter.
    yield GaugeMetricFamily("topkapi_answers", "Answers that count.", figures.answers)
    states = GaugeMetricFamily("topkapi_sessions", "Assignments by state.", labels=["state"])
    for state, count in figures.states.items():
        states.add_metric([state], count)
    yield states
    minutes = ACTIVE // timedelta(minutes=1)
    what = f"Assessors who have answered in the last {minutes} minutes."
    yield GaugeMetricFamily("topkapi_active_assessors", what, figures.active)
    yield CounterMetricFamily("topkapi_log_entries", "Answers, undos and redos.", figures.entries)
    yield GaugeMetricFamily("topkapi_jobs_waiting", "Jobs that no worker has.", jobs.waiting)
    yield GaugeMetricFamily(
        "topkapi_jobs_waiting_seconds", "For how long the oldest has waited.", jobs.waiting_seconds
    )
    yield GaugeMetricFamily("topkapi_jobs_running", "Jobs that a worker has.", jobs.running)
    lease = earliest_lease(session)
    if lease is not None:
        what = "Seconds until the oldest lease on a job expires; negative if its worker is lost."
        yield GaugeMetricFamily("topkapi_jobs_oldest_lease_seconds", what, lease)
