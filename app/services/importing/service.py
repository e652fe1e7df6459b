"""Importing a study: check all of it, compare it with the database, write all of it or nothing."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from secrets import token_hex
from typing import Any, Literal

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Content, Document, Query, Study, User
from topkapi.app.db.models.study import UNFINISHED
from topkapi.app.db.queries.studies.importing import lock_imports
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.db.search import index_documents
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services import audit
from topkapi.app.services.importing.bundle import WHOLE, Layout, ReadOptions
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.comparing import Changes, compare
from topkapi.app.services.importing.edits import (
    KEEP_EDITS,
    DescribedEdit,
    EditPolicy,
    described_edits,
)
from topkapi.app.services.importing.kinds import KINDS
from topkapi.app.services.importing.kinds.base import Checked
from topkapi.app.services.importing.kinds.candidates import CANDIDATES
from topkapi.app.services.importing.kinds.documents import DOCUMENTS
from topkapi.app.services.importing.kinds.practice import PRACTICE
from topkapi.app.services.importing.kinds.queries import QUERIES
from topkapi.app.services.importing.kinds.rankings import RANKINGS
from topkapi.app.services.importing.portions import (
    add_contents,
    in_portion,
    in_portions,
    index_in_portions,
    remove_unfinished,
)
from topkapi.app.services.importing.problems import Problems, counted
from topkapi.app.services.importing.sources.folders import Source
from topkapi.app.services.importing.sources.reader import Progress, Reader, no_progress
from topkapi.app.services.importing.staging import Staging
from topkapi.app.services.importing.writing import write_head, write_study, write_unfinished

Action = Literal["create", "extend", "restore"]
_OUTCOMES = {
    "kept": "the edit is kept",
    "replaced": "replaced by what the files have",
    "undecided": "the files have changed too",
    "fixed": "work is assigned under it, so it cannot be replaced",
}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What was read, and what of it is new to the database."""

    slug: str
    name: str
    action: Action
    dry_run: bool
    tools: tuple[str, ...]
    k: int
    sorter: str
    queries: int
    documents: int
    candidates: int
    rankings: int
    files: int
    bytes: int
    new_queries: int
    new_documents: int
    new_candidates: int
    unused_documents: int
    practice: int
    read_from: dict[str, str]
    ignored: tuple[str, ...]
    edits: tuple[DescribedEdit, ...]
    notes: tuple[str, ...]
    gold: int
    left_out: int = 0
    continued: int = 0  # assignments whose queries get further candidates
    reopened: dict[str, int] = field(default_factory=dict)  # finished ones of them, by assessor

    def as_json(self) -> dict[str, Any]:
        """Return the report as a plain dictionary."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        planned = {"create": "would import", "extend": "would extend", "restore": "would restore"}
        done = {"create": "imported", "extend": "extended", "restore": "restored"}
        outcome = (planned if self.dry_run else done)[self.action]
        texts = [
            f"{self.slug}: {outcome} {self.name!r} ({', '.join(self.tools)}; k = {self.k}, "
            f"{self.sorter})",
            f"  {counted(self.queries, 'query', 'queries')} ({self.new_queries:,} new), "
            f"{counted(self.documents, 'document')} ({self.new_documents:,} new), "
            f"{counted(self.candidates, 'candidate')} ({self.new_candidates:,} new), "
            f"{counted(self.rankings, 'ranking')}, {counted(self.files, 'file')}, "
            f"{format_size(self.bytes)}",
        ]
        if self.practice:
            texts.append(
                f"  {counted(self.practice, 'practice question')} for the training of assessors"
            )
        if self.gold:
            texts.append(f"  {counted(self.gold, 'gold pair')} with known answers")
        texts += [f"  {role} from {path}" for role, path in self.read_from.items()]
        if self.continued:
            texts.append(f"  {counted(self.continued, 'assignment')} continued with new candidates")
        if self.reopened:
            whose = ", ".join(f"{who} {count}" for who, count in self.reopened.items())
            texts.append(f"  {'reopens' if self.dry_run else 'reopened'} finished work: {whose}")
        if self.unused_documents:
            unused = counted(self.unused_documents, "document is", "documents are")
            texts.append(f"  {unused} not candidates of any query")
        for edit in self.edits:
            texts.append(f"  {edit.field} was edited in the study: {_OUTCOMES[edit.outcome]}")
        texts += [f"  {note}" for note in self.notes]
        if self.ignored:
            texts.append(f"  not read: {', '.join(self.ignored[:10])}")
        return texts


_COUNTED = frozenset(each.name for each in fields(ImportReport))


def import_study(
    session: Session,
    source: Source,
    *,
    options: ReadOptions = WHOLE,
    policy: EditPolicy = KEEP_EDITS,
    actor_id: int | None = None,
) -> ImportReport:
    """Import the study; raise StudyRefused and write nothing if it has problems.

    ``options`` choose a part, ``policy`` decides about edits of a stored study of the same slug.
    The caller commits.
    """
    checked = check_study(source, options=options)
    lock_imports(session)
    changes = compare(session, checked, policy)
    staging = _staging(source, checked, changes, _rendered(session, changes), no_progress)
    for contents in staging.contents():
        add_contents(session, contents)
    report = _store_rows(session, checked, changes, staging, actor_id)
    index_documents(session)
    return report


def preview_study(
    session: Session,
    source: Source,
    *,
    options: ReadOptions = WHOLE,
    policy: EditPolicy = KEEP_EDITS,
    progress: Progress = no_progress,
) -> ImportReport:
    """Report what an import would read and write, with the same errors; write nothing."""
    checked = check_study(source, progress, options)
    changes = compare(session, checked, policy)
    return _report(session, checked, changes, _growing(session, changes), dry_run=True)


def import_and_commit(
    sessions: Sessions,
    source: Source,
    *,
    options: ReadOptions = WHOLE,
    policy: EditPolicy = KEEP_EDITS,
    actor_id: int | None = None,
    progress: Progress = no_progress,
    dry_run: bool = False,
) -> ImportReport:
    """Import the study as `import_study` does, without holding a lock for long.

    Contents, which nothing refers to yet, are committed in portions, and so are the rows of a new
    study, which is not shown until a last transaction gives it its name. What extends a study is
    written in one transaction. The search index follows in portions. If anything fails, all of it
    is removed. A ``dry_run`` writes nothing.
    """
    if dry_run:
        with sessions.read() as session:
            return preview_study(session, source, options=options, policy=policy, progress=progress)
    checked = check_study(source, progress, options)
    with sessions.read() as session:
        changes = compare(session, checked, policy)
        known = _rendered(session, changes)
    staging = _staging(source, checked, changes, known, progress)
    written: list[str] = []
    slug = UNFINISHED + token_hex(16)
    try:
        for contents in staging.contents():
            with in_portion(sessions) as session:
                written += add_contents(session, contents)
        if changes.study is None:
            with in_portions(sessions) as (session, rest), _refused_together(checked):
                write_unfinished(session, checked, changes, staging, slug=slug, rest=rest)
        with sessions.write.begin() as session:
            lock_imports(session)
            again = compare(session, checked, policy)
            if replace(again, study=None) != replace(changes, study=None):
                raise _meanwhile(checked)
            unfinished = study_of_slug(session, slug)
            report = _store_rows(session, checked, again, staging, actor_id, unfinished)
    except BaseException:
        remove_unfinished(sessions, slug, written)
        raise
    index_in_portions(sessions)
    return report


def _staging(
    source: Source, checked: Checked, changes: Changes, known: set[str], progress: Progress
) -> Staging:
    reader = Reader(source, Problems(), doing="writing", progress=progress, media=checked.media)
    return Staging(reader, checked, changes, known)


def _rendered(session: Session, changes: Changes) -> set[str]:
    """Return paths of documents that have been rendered: PDF files."""
    if changes.study is None:
        return set()
    statement = (
        select(Document.path)
        .join(Content, Content.hash == Document.content_hash)
        .where(Document.study_id == changes.study.id, Content.media_type == "application/pdf")
    )
    return set(session.scalars(statement))


def _meanwhile(checked: Checked) -> Conflict:
    return Conflict(
        f"Someone else changed {checked.bundle.head.slug!r} or its pages at the same time. "
        "Nothing was written; try again."
    )


@contextmanager
def _refused_together(checked: Checked) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        raise _meanwhile(checked) from error


def _store_rows(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    actor_id: int | None,
    unfinished: Study | None = None,
) -> ImportReport:
    """Write the study, or only the head of one whose rows are written."""
    growing = _growing(session, changes)
    with _refused_together(checked):
        if unfinished is None:
            study = write_study(session, checked, changes, staging, actor_id=actor_id)
        else:
            study = unfinished
            write_head(session, study, checked, changes, actor_id)
    report = _report(session, checked, changes, growing, dry_run=False)
    audit.record(
        session,
        actor_id,
        f"study.{report.action}",
        study.slug,
        queries=report.new_queries,
        documents=report.new_documents,
        candidates=report.new_candidates,
        **({"reopened": sum(report.reopened.values())} if report.reopened else {}),
        **_decisions(report),
    )
    return report


def _notes(checked: Checked) -> Iterator[str]:
    if not checked.bundle.head.lines:
        yield "there is no study.toml; the settings are the defaults, and can be changed"
    yield from checked.notes
    settings = checked.bundle.head.settings
    if settings.prior and not SORTERS[settings.sorter].sampled:
        yield f"the prior has no effect with the sorter {settings.sorter}; choose robust for it"
    if checked.cuts:
        rankings, rank = counted(len(checked.cuts), "ranking"), checked.bundle.head.settings.k
        yield f"{rankings} cut below rank {rank}, at a page that is repeated or not in the study"
    yield from _asking_nothing(checked)
    for kind, count in checked.duplicates.items():
        yield f"{counted(count, 'identical duplicate line')} of {kind} merged"
    for file, names in checked.unread.items():
        yield f"fields of {file} that are not read: {', '.join(sorted(names)[:10])}"


def _asking_nothing(checked: Checked) -> Iterator[str]:
    """Yield how many queries have too few pages: all are listed, or nothing is asked."""
    tools = checked.bundle.head.settings.tools
    systems = Counter(query for query, _ in checked[RANKINGS])
    single = sum(count == 1 for count in checked.candidates_of.values())
    k = checked.bundle.head.settings.k
    whole = sum(1 < count <= k for count in checked.candidates_of.values())
    if Tool.PAIRS in tools and whole:
        yield (
            f"{counted(whole, 'query has', 'queries have')} no more than k = {k} candidates: their "
            "lists will contain every candidate; choose a smaller k, or add candidates"
        )
    alone = sum(systems[query] < 2 for query in checked[QUERIES])
    for tool, count, has in (
        (Tool.PAIRS, single, "only one candidate"),
        (Tool.LISTS, alone, "fewer than two rankings"),
    ):
        if tool in tools and count:
            verb = "has" if count == 1 else "have"
            yield (
                f"{counted(count, 'query', 'queries')} {verb} {has}: with the tool {tool.value} "
                "there is nothing to ask, and the work is finished as soon as it is assigned"
            )


def _growing(session: Session, changes: Changes) -> dict[str, tuple[int, int]]:
    """Return by assessor how much work gets further candidates, and how much of it is finished."""
    if changes.study is None:
        return {}
    statement = (
        select(User.email, func.count(Assignment.id), func.count(Assignment.finished_at))
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == changes.study.id, Query.external_id.in_(changes.growing))
        .where(Assignment.tool != Tool.LISTS, Assignment.round >= 0)
        .where(Assignment.withdrawn_at.is_(None))
        .group_by(User.email)
        .order_by(User.email)
    )
    return {email: (work, finished) for email, work, finished in session.execute(statement)}


def _decisions(report: ImportReport) -> dict[str, str]:
    """Return the fields that were kept and replaced, for the audit log."""
    found: dict[str, list[str]] = {}
    for edit in report.edits:
        found.setdefault(edit.outcome, []).append(edit.field)
    return {outcome: ", ".join(fields) for outcome, fields in found.items()}


def _report(
    session: Session,
    checked: Checked,
    changes: Changes,
    growing: Mapping[str, tuple[int, int]],
    *,
    dry_run: bool,
) -> ImportReport:
    head, layout = checked.bundle.head, checked.bundle.layout
    offered = {document for _, document in checked[CANDIDATES]}
    offered.update(page for each in checked[PRACTICE].values() for page in each.question.pages)
    counts = {kind.role: len(checked[kind]) for kind in KINDS if kind.role in _COUNTED}
    return ImportReport(
        slug=head.slug,
        name=changes.merged.name,
        action="create" if changes.study is None else "extend",
        dry_run=dry_run,
        tools=tuple(tool.value for tool in changes.merged.settings.tools),
        k=changes.merged.settings.k,
        sorter=changes.merged.settings.sorter,
        bytes=checked.bytes,
        new_queries=len(changes[QUERIES]),
        new_documents=len(changes[DOCUMENTS]),
        new_candidates=len(changes[CANDIDATES]),
        unused_documents=len(checked[DOCUMENTS].keys() - offered),
        read_from=_read_from(layout),
        ignored=layout.ignored,
        edits=described_edits(session, changes.study, changes.merged),
        notes=tuple(_notes(checked)),
        **counts,
        left_out=checked.bundle.part.left_out if checked.bundle.part else 0,
        continued=sum(work for work, _ in growing.values()),
        reopened={who: finished for who, (_, finished) in growing.items() if finished},
    )


def _read_from(layout: Layout) -> dict[str, str]:
    """Return where each kind of record is read from, as text for people."""
    found = {kind.many: kind.read_from(layout) for kind in KINDS}
    for kind in KINDS:
        if layout.file(kind.role) in layout.recognised:
            found[kind.many] += ", recognised by its content"
    return {many: text for many, text in found.items() if text}
