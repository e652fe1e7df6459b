"""Health: is the process up, and can it work."""

from fastapi import APIRouter, Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse

from app.db import migrations

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def get_healthz() -> JSONResponse:
    """The process is up."""
    return JSONResponse({"status": "up"})


@router.get("/readyz")
def get_readyz(request: Request) -> JSONResponse:
    """The database answers and has the tables this program expects."""
    try:
        state = migrations.revisions(request.app.state.engine, request.app.state.head_revision)
    except SQLAlchemyError:
        return JSONResponse({"status": "the database does not answer"}, status_code=503)
    if not state.up_to_date:
        return JSONResponse({"status": "the database is not migrated"}, status_code=503)
    return JSONResponse({"status": "ready"})
