"""Health checks: whether the process is up, and whether it can work."""

from dataclasses import asdict

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import State
from starlette.responses import JSONResponse

from topkapi.app.db import migrations
from topkapi.app.services.jobs.store import queue_state
from topkapi.app.web.access.slots import TransactionLimits

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def get_healthz() -> JSONResponse:
    """Report that the process is up."""
    return JSONResponse({"status": "up"})


@router.get("/readyz")
async def get_readyz(request: Request) -> JSONResponse:
    """Report whether the database answers and is migrated, and how background jobs go.

    Pages work without a worker, so jobs that nobody takes do not make the server unready.
    """
    limits: TransactionLimits = request.app.state.transaction_limits
    async with limits.health.hold():
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
