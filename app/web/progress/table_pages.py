"""Tables as CSV files."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from topkapi.analysis.data.exports.cells import csv_text
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.progress.payments import HEAD, Rates, payments
from topkapi.app.services.progress.tables import STUDY_TABLES, TABLES, Row
from topkapi.app.web.access.deps import AdminUser, SessionDep
from topkapi.app.web.access.downloads import note_download
from topkapi.app.web.studies.visit import AdminVisit, ReaderVisit

router = APIRouter(include_in_schema=False)
Table = Annotated[str, Path(max_length=40)]
_NOTHING = Decimal(0)


def _without_blanks(value: object) -> object:
    """Read an empty field as zero, and a decimal comma as a point."""
    return (value.strip().replace(",", ".") or "0") if isinstance(value, str) else value


Rate = Annotated[
    Decimal,
    BeforeValidator(_without_blanks),
    Query(ge=0, le=1_000_000, max_digits=12, decimal_places=4),
]


@router.get("/tables/{table}.csv")
def get_table(session: SessionDep, _user: AdminUser, table: Table) -> Response:
    """Download a table of the whole installation."""
    if table not in TABLES:
        raise NotFound(f"There is no table {table!r}. The tables are {', '.join(TABLES)}.")
    return _csv(table, TABLES[table](session))


@router.get("/studies/{slug}/tables/{table}.csv")
def get_study_table(visit: ReaderVisit, table: Table) -> Response:
    """Download a table of one study."""
    if table not in STUDY_TABLES:
        raise NotFound(f"There is no table {table!r}. The tables are {', '.join(STUDY_TABLES)}.")
    note_download(visit.request, visit.user, visit.study.slug, f"{table}.csv")
    return _csv(f"{visit.study.slug}-{table}", STUDY_TABLES[table](visit.session, visit.study))


@router.get("/studies/{slug}/payments.csv")
def get_payments(
    visit: AdminVisit, per_hour: Rate = _NOTHING, per_query: Rate = _NOTHING
) -> Response:
    """Download hours and amounts per assessor, at the rates of the form."""
    found = payments(visit.session, visit.study, Rates(per_hour, per_query))
    note_download(visit.request, visit.user, visit.study.slug, "payments.csv")
    return _csv(f"{visit.study.slug}-payments", [HEAD, *(each.row() for each in found)])


def _csv(name: str, rows: Iterable[Row]) -> Response:
    text = csv_text([_cell(cell) for cell in row] for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def _cell(cell: object) -> object:
    return cell.isoformat() if isinstance(cell, datetime) else cell
