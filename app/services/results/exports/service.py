"""Open an export: everything that can be refused is refused before the first line."""

from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.results.exports.formats import EXPORTS, ExportFormat
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
    """How much of the work with a tool is done; withdrawn work is counted apart."""

    tool: Tool
    assigned: int
    begun: int
    finished: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class Completeness:
    """What an export of a study that is going on is made of."""

    tools: tuple[ToolCount, ...]

    def of(self, tools: Collection[Tool]) -> "Completeness":
        """The same for some tools alone."""
        return Completeness(tuple(each for each in self.tools if each.tool in tools))

    @property
    def assigned(self) -> int:
        """Pieces of work given out."""
        return sum(each.assigned for each in self.tools)

    @property
    def finished(self) -> int:
        """Pieces of work finished."""
        return sum(each.finished for each in self.tools)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.finished == self.assigned

    def as_json(self) -> list[dict[str, object]]:
        """The counts as plain values."""
        return [asdict(each) for each in self.tools]

    def __str__(self) -> str:
        if not self.tools:
            return "nothing is assigned yet"
        return "; ".join(
            f"{each.tool}: {each.finished} of {each.assigned} finished" for each in self.tools
        )


@dataclass(frozen=True, slots=True)
class Export:
    """An export about to be written: its name, what it is made of, and its bytes."""

    format: ExportFormat
    filename: str
    completeness: Completeness
    chunks: Iterator[bytes]


@contextmanager
def export_session(sessions: Sessions) -> Iterator[Session]:
    """A reading session that sees one state of the database until it is closed."""
    with sessions.read() as session:
        queries.hold_still(session)
        try:
            yield session
        finally:  # a download that was broken off has statements open
            for chunks in session.info.pop(_OPEN, []):
                chunks.close()


def format_of(name: str) -> ExportFormat:
    """The format with this name, or a refusal that lists them."""
    if name not in EXPORTS:
        raise NotFound(f"There is no export {name!r}; there are {', '.join(EXPORTS)}.")
    return EXPORTS[name]


def open_export(
    session: Session,
    slug: str,
    format: str,
    options: ExportOptions | None = None,
    progress: Progress = no_progress,
) -> Export:
    """Make ready to write a study; the bytes are made as they are taken."""
    wanted = format_of(format)
    source = StudySource(session, slug, options, progress)
    chunks = _chunks(wanted.lines(source))
    session.info.setdefault(_OPEN, []).append(chunks)
    return Export(
        format=wanted,
        filename=f"{slug}.{wanted.name}",
        completeness=completeness(source).of(wanted.tools),
        chunks=chunks,
    )


def completeness(source: StudySource) -> Completeness:
    """How much of the work is done, by tool."""
    rows = queries.work_counts(source.session, source.study.id, source.only)
    return Completeness(tuple(ToolCount(*row) for row in rows))


def _chunks(lines: Iterable[str]) -> Generator[bytes, None, None]:
    """The lines in pieces that are worth sending."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line.encode())
        size += len(held[-1])
        if size >= _CHUNK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
