"""API of imports: a study is imported whole or refused whole."""

from asyncio import wrap_future
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from topkapi.app.services.fence import limits
from topkapi.app.services.importing import EditPolicy, ImportReport, ReadOptions
from topkapi.app.services.importing.kinds import SIDE_FILES
from topkapi.app.services.importing.uploads.store import discard
from topkapi.app.web.access.bodies import limit_body
from topkapi.app.web.access.early_auth import EarlyApiAdmin
from topkapi.app.web.importing.uploads import RECEIVING, STUDY, Runner, receive

router = APIRouter(prefix="/api/v1/studies", tags=["studies"])
_FILE = {"type": "string", "format": "binary"}
_BINARY = {"schema": _FILE}
_FORM = {
    "schema": {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": _FILE,
            **{kind.role: {**_FILE, "description": kind.hint} for kind in SIDE_FILES},
        },
    }
}
STUDY_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A .zip or .tar.gz of a study folder, or a single LETOR file.",
        "content": {
            "application/zip": _BINARY,
            "application/octet-stream": _BINARY,
            "multipart/form-data": _FORM,
        },
    }
}


@router.post(
    "",
    status_code=201,
    dependencies=RECEIVING,
    openapi_extra=STUDY_BODY,
    responses={200: {"model": ImportReport, "description": "A dry run; nothing was written."}},
)
@limit_body(STUDY)
async def post_study(
    request: Request,
    user: EarlyApiAdmin,
    runner: Runner,
    response: Response,
    dry_run: bool = False,
    edits: Literal["keep", "replace"] | None = None,
    queries: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    candidates: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    split: Annotated[str | None, Query(max_length=50)] = None,
    slug: Annotated[str | None, Query(max_length=100)] = None,
    leave_out: Literal["missing"] | None = None,
    pool: Annotated[int | None, Query(ge=1, le=limits.MAX_CANDIDATES)] = None,
    filename: Annotated[str, Query(max_length=200)] = "study",
) -> ImportReport:
    """Import a study, or with `dry_run` only read it; problems are listed by file and line.

    `edits` says what counts where name, guidelines or settings were edited in the study: `keep`
    them, or `replace` them by the files'. Without it edits are kept, and the import is refused
    where the files have changed too. `queries` and `candidates` take a part: the first queries
    that have candidates, and the first candidates of each. `split` chooses among several files by a
    word of their names; `slug` replaces the study's own. `leave_out` leaves out candidates whose
    document is missing or empty, and counts them; `pool` makes the candidates from the first
    documents of each run. A form may have further files; its schema says what each of them is.
    """
    path, name, _ = await receive(request, runner.store, filename)
    try:
        report = await wrap_future(
            runner.import_now(
                path,
                name,
                actor_id=user.id,
                dry_run=dry_run,
                options=ReadOptions(
                    queries, candidates, split, slug=slug, leave_out=leave_out, pool=pool
                ),
                policy=EditPolicy(edits),
            )
        )
    finally:
        discard(path)
    response.status_code = 200 if dry_run else 201
    return report
