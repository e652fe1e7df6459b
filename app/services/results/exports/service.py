"""Opening an export: all errors are raised before the first line is written."""

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.db.replica import catch_up
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.results.exports.formats import EXPORTS, ExportFormat, offered_exports
from topkapi.app.services.results.exports.source import (
    ExportOptions,
    Progress,
    StudySource,
    no_progress,
)

_CHUNK = 64 * 1024
_OPEN = "open exports"


@dataclass(frozen=True, slots=True)
class ToolCount:
    """Progress of the work with a tool; withdrawn work is counted separately."""

    tool: Tool
    assigned: int
    begun: int
    finished: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class Completeness:
    """How complete the data of an export is, by tool."""

    tools: tuple[ToolCount, ...]

    def of(self, tools: Collection[Tool]) -> "Completeness":
        """Return the same for some of the tools."""
        return Completeness(tuple(each for each in self.tools if each.tool in tools))

    @property
    def assigned(self) -> int:
        """Number of assignments."""
        return sum(each.assigned for each in self.tools)

    @property
    def finished(self) -> int:
        """Number of finished assignments."""
        return sum(each.finished for each in self.tools)

    @property
    def complete(self) -> bool:
        """Whether all assignments are finished."""
        return self.finished == self.assigned

    def as_json(self) -> list[dict[str, object]]:
        """Return the counts as plain values."""
        return [asdict(each) for each in self.tools]

    def __str__(self) -> str:
        if not self.tools:
            return "nothing is assigned yet"
        return "; ".join(
            f"{each.tool}: {each.finished} of {each.assigned} finished" for each in self.tools
        )


@dataclass(frozen=True, slots=True)
class OfferedExport:
    """An export format of a study: its content and completeness."""

    format: str
    description: str
    media_type: str
    filename: str
    assigned: int
    finished: int
    complete: bool


@dataclass(frozen=True, slots=True)
class ListedExport(OfferedExport):
    """An export in a table, with its counts by tool."""

    tools: Sequence[ToolCount]


@dataclass(frozen=True, slots=True)
class Export:
    """An export about to be written: its file name, completeness and bytes."""

    format: ExportFormat
    filename: str
    completeness: Completeness
    chunks: Iterator[bytes]


@contextmanager
def export_session(sessions: Sessions) -> Iterator[Session]:
    """Open a read session that sees one snapshot of the database until it is closed."""
    catch_up(sessions)
    with sessions.reports() as session:
        if session.get_bind().dialect.name == "postgresql":  # on SQLite it is so anyway
            session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        try:
            yield session
        finally:  # an aborted download leaves statements open
            for chunks in session.info.pop(_OPEN, []):
                chunks.close()


def format_of(name: str) -> ExportFormat:
    """Return the format with this name; raise NotFound with the known names."""
    if name not in EXPORTS:
        raise NotFound(f"There is no export {name!r}. Choose one of {', '.join(EXPORTS)}.")
    return EXPORTS[name]


def open_export(
    session: Session,
    slug: str,
    format: str,
    options: ExportOptions | None = None,
    progress: Progress = no_progress,
) -> Export:
    """Prepare an export of a study; its bytes are generated as they are read."""
    wanted = format_of(format)
    source = StudySource(session, slug, options, progress)
    chunks = _chunks(wanted.write(source))
    session.info.setdefault(_OPEN, []).append(chunks)
    return Export(
        format=wanted,
        filename=_filename(slug, wanted),
        completeness=completeness(source).of(wanted.tools),
        chunks=chunks,
    )


def listed_exports(source: StudySource) -> list[ListedExport]:
    """Return the formats that this study can be written in, and how complete each is now."""
    whole = completeness(source)
    return [
        ListedExport(
            format=each.name,
            description=each.description,
            media_type=each.media_type,
            filename=_filename(source.study.slug, each),
            assigned=counts.assigned,
            finished=counts.finished,
            complete=counts.complete,
            tools=counts.tools,
        )
        for each in offered_exports(source)
        for counts in [whole.of(each.tools)]
    ]


def _filename(slug: str, format: ExportFormat) -> str:
    return f"{slug}.{format.name}{format.suffix}"


def completeness(source: StudySource) -> Completeness:
    """Return how much of the work is done, by tool."""
    rows = queries.work_counts(source.session, source.study.id, source.only)
    return Completeness(tuple(ToolCount(*row) for row in rows))


def _chunks(pieces: Iterable[str | bytes]) -> Generator[bytes, None, None]:
    """Yield lines or bytes joined into chunks for sending."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece.encode() if isinstance(piece, str) else piece)
        size += len(held[-1])
        if size >= _CHUNK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
