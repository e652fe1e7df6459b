"""Runs of systems: added from TREC files, all of them or none, and removed."""

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.models import Query, Study, SystemRun
from topkapi.app.db.queries.results import systems as queries
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.domain.text.storable import problem_with, storable
from topkapi.app.services import audit
from topkapi.app.services.fence import limits

MOST_BYTES = 32 * 1024**2  # of one upload, all files together
MOST_UNPACKED = 128 * 1024**2  # of one file
MOST_LINES = 1_000_000  # of one file
_PIECE = 1 << 16  # bytes unpacked at once; lines are far shorter
MOST_SYSTEMS = 500  # of a study
_MOST_NAME = 300
_SOME = 3  # queries to name in a message


@dataclass(frozen=True, slots=True)
class RunProblem:
    """A problem in words that begin with the file and the line."""

    problem: str

    def __str__(self) -> str:
        return self.problem

    def as_json(self) -> dict[str, Any]:
        """Return the problem as a plain dictionary."""
        return asdict(self)


class RunsRefused(Invalid):
    """Files of runs with problems; nothing was added."""

    code = "runs_refused"

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(map(RunProblem, problems))
        super().__init__("No run was added. Correct the files and add them again.", field="file")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The run of a system in a study."""

    id: int
    system: str
    file: str
    queries: int
    lines: int
    added_at: datetime


def runs_of(session: Session, study: Study) -> list[StoredRun]:
    """Return the study's runs by name."""
    return [_record(run) for run in queries.runs_of_study(session, study.id)]


def _record(run: SystemRun) -> StoredRun:
    return StoredRun(run.id, run.system, run.filename, run.queries, run.lines, run.created_at)


@dataclass(frozen=True, slots=True)
class ReadRun:
    """The run of one system as read from a file; ``data`` are its lines, compressed."""

    system: str
    filename: str
    queries: frozenset[str]
    lines: int
    data: bytes


def read_runs(files: Sequence[tuple[str, bytes]]) -> list[ReadRun]:
    """Read TREC runs by their tags; raise RunsRefused with file and line of each problem.

    It takes one to two seconds per 100,000 lines and needs no database: call it outside a
    transaction.
    """
    problems: list[str] = []
    by_system: dict[str, ReadRun] = {}
    for name, data in files:
        try:
            for run in _read(storable(name)[:_MOST_NAME], data):
                if run.system in by_system:
                    other = by_system[run.system].filename
                    raise ValueError(f"{run.filename}: {run.system!r} is also in {other}.")
                by_system[run.system] = run
        except ValueError as error:
            problems.append(str(error))
    if problems or not by_system:
        raise RunsRefused(problems or ["There is no file. Choose one or more TREC runs."])
    return list(by_system.values())


def add_runs(
    session: Session, study: Study, runs: Sequence[ReadRun], *, actor_id: int | None = None
) -> list[StoredRun]:
    """Add runs to a study, all of them or none; raise RunsRefused."""
    names = select(Query.external_id).where(Query.study_id == study.id)
    known = set(session.scalars(names))
    taken = {run.system for run in runs_of(session, study)}
    problems = [problem for run in runs if (problem := _problem(run, known, taken))]
    if len(taken) + len(runs) > MOST_SYSTEMS:
        problems.append(f"A study can have {MOST_SYSTEMS} runs. Remove some first.")
    if problems:
        raise RunsRefused(problems)
    return _store(session, study, runs, actor_id)


def remove_run(
    session: Session, study: Study, run_id: int, *, actor_id: int | None = None
) -> StoredRun:
    """Remove a run of the study."""
    run = session.get(SystemRun, run_id)
    if run is None or run.study_id != study.id:
        raise NotFound(f"The study {study.slug!r} has no such run. It may have been removed.")
    session.delete(run)
    session.flush()
    audit.record(session, actor_id, "systems.remove", study.slug, system=run.system)
    return _record(run)


def run_text(data: bytes) -> str:
    """Return the lines of a stored run."""
    return gzip.decompress(data).decode()


def scores_in_run(data: bytes, query: str) -> dict[str, float]:
    """Return the scores of a stored run for one query, by document; reads line by line."""
    scores = {}
    begin = f"{query} ".encode()
    with gzip.open(io.BytesIO(data)) as stream:
        for line in stream:
            if line.startswith(begin):
                _, _, document, _, score, _ = line.decode().split()
                scores[document] = float(score)
    return scores


def _problem(run: ReadRun, known: set[str], taken: set[str]) -> str | None:
    if run.system in taken:
        return (
            f"{run.filename}: the study already has a run of {run.system!r}. Remove that run first."
        )
    if not known.isdisjoint(run.queries):
        return None
    mine, theirs = (", ".join(sorted(each)[:_SOME]) for each in (known, run.queries))
    return (
        f"{run.filename}: no query of {run.system!r} is in the study. The run has {theirs}; "
        f"the study has {mine or 'no queries'}."
    )


def _read(name: str, data: bytes) -> Iterator[ReadRun]:
    """Yield the runs of a file; raise ValueError with file and line of a problem."""
    # Imported here, so that a server starts without the numerical libraries.
    from topkapi.analysis.data.runs import parse_run, run_text, split_runs

    raw = unpacked(name, data)
    if raw.count(b"\n") > MOST_LINES:
        raise ValueError(f"{name}: more than {MOST_LINES:,} lines. Split the file by system.")
    for system, text in split_runs(run_text(raw, name), name).items():
        problem = problem_with(text)
        if problem or len(system) > _MOST_NAME:
            reason = problem or f"has a name longer than {_MOST_NAME} characters"
            raise ValueError(f"{name}: the run of {storable(system)[:60]!r} {reason}.")
        packed = gzip.compress(text.encode(), mtime=0)
        yield ReadRun(system, name, frozenset(parse_run(text)), text.count("\n"), packed)


def unpacked(name: str, data: bytes, longest: int = _PIECE) -> bytes:
    """Return an uploaded file without gzip; raise ValueError if it or a line is far too long."""
    if data[:2] != b"\x1f\x8b":
        return data
    most = min(MOST_UNPACKED, max(limits.RATIO_FREE, limits.MAX_RATIO * len(data)))
    pieces: list[bytes] = []
    size = line = 0
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                end = piece.rfind(b"\n")
                line = line + len(piece) if end < 0 else len(piece) - end - 1
                if size > most:
                    raise ValueError(f"{name}: more than {format_size(most)} when unpacked.")
                if line > longest:  # `run_lines` would refuse it, after all was unpacked
                    number = 1 + sum(each.count(b"\n") for each in pieces)
                    raise ValueError(f"{name}, line {number}: more than {longest:,} characters")
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{name}: damaged gzip file ({error})") from None
    return b"".join(pieces)


def _store(
    session: Session, study: Study, runs: Sequence[ReadRun], actor_id: int | None
) -> list[StoredRun]:
    rows = [
        SystemRun(
            study_id=study.id,
            system=run.system,
            filename=run.filename,
            queries=len(run.queries),
            lines=run.lines,
            data=run.data,
        )
        for run in runs
    ]
    session.add_all(rows)
    try:
        session.flush()
    except IntegrityError as error:
        raise Conflict("Someone else has just added one of these systems. Reload.") from error
    for run in runs:
        facts = {"system": run.system, "file": run.filename}
        audit.record(session, actor_id, "systems.add", study.slug, **facts)
    return [_record(row) for row in rows]
