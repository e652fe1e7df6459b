"""StoredComparison of a study with the stored study of the same slug, if there is one.

Stored data is immutable: queries, documents and candidates can be added, none changed. Work on
a query that gets further candidates continues with them, so that all its assessors judge the same
pages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies import importing as stored
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.importing.edits import (
    KEEP_EDITS,
    EditPolicy,
    Merged,
    merge,
    refuse_undecided,
    whole,
)
from topkapi.app.services.importing.kinds import KINDS
from topkapi.app.services.importing.kinds.base import Checked, F, K, Kind, R, StoredComparison
from topkapi.app.services.importing.problems import Problems


class Unchanged(Conflict):
    """The study already exists, and the files contain nothing new."""

    code = "unchanged"


@dataclass(frozen=True, slots=True)
class Changes:
    """What an import would write; ``study`` is the stored study that it extends, if any."""

    study: Study | None
    new: Mapping[str, frozenset[Any]]  # keys of records by role
    merged: Merged

    def __getitem__(self, kind: Kind[K, F, R]) -> frozenset[K]:
        return self.new[kind.role]

    @property
    def growing(self) -> frozenset[str]:
        """The stored queries that get further candidates."""
        if self.study is None:
            return frozenset()
        return frozenset(query for query, _ in self.new["candidates"]) - self.new["queries"]

    @property
    def head(self) -> bool:
        """Whether name, guidelines or settings change, or somebody decided about an edit."""
        study, merged = self.study, self.merged
        if study is None or any(edit.both or edit.outcome != "kept" for edit in merged.edits):
            return True
        given = (merged.name, merged.guidelines, merged.settings)
        return given != (study.name, study.guidelines, study.settings)

    def __bool__(self) -> bool:
        return self.head or any(self.new.values())


def compare(session: Session, checked: Checked, policy: EditPolicy = KEEP_EDITS) -> Changes:
    """Return what is new in ``checked``; ``policy`` decides about edits of the study.

    Raise StudyRefused with every contradiction to stored data, or Unchanged if nothing is new.
    """
    study = study_of_slug(session, checked.bundle.head.slug)
    if study is None:
        every = {kind.role: frozenset(checked[kind]) for kind in KINDS}
        return Changes(None, every, whole(checked.bundle.head))
    problems = Problems()
    with checked.counting():
        changes = _changes(StoredComparison(session, study, checked, problems), policy)
        problems.refuse_if_any()
    if not changes:
        kept = ", ".join(edit.field for edit in changes.merged.edits)
        edits = f" Edits made in the study are kept: {kept}." if kept else ""
        raise Unchanged(
            f"The study {study.slug!r} already exists, and these files contain nothing new.{edits}"
        )
    return changes


def _changes(compare: StoredComparison, policy: EditPolicy) -> Changes:
    new = {kind.role: kind.added(compare) for kind in KINDS}
    session, study, head = compare.session, compare.study, compare.checked.bundle.head
    assigned = bool(stored.assigned_queries(session, study.id))
    merged = merge(study, head, policy, assigned=assigned)
    if policy.default != "ask":
        refuse_undecided(session, study, head, merged, compare.problems)
    return Changes(study, new, merged)
