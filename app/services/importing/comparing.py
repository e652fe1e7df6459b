"""Comparison of a study with the stored study of the same slug, if there is one.

Stored data is immutable: queries, documents and candidates can be added, none changed. A query that
is assigned gets no further candidates, because all its assessors must judge the same pages.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import astuple, dataclass
from functools import partial
from typing import TypeVar

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies import importing as stored
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.services.importing.checking import Checked, candidate_digest, counting, digest_of
from topkapi.app.services.importing.edits import (
    KEEP_EDITS,
    EditPolicy,
    Merged,
    merge,
    refuse_undecided,
    whole,
)
from topkapi.app.services.importing.problems import Location, Problems
from topkapi.app.services.importing.records.types import GoldRecord
from topkapi.app.services.importing.records.values import shown

K = TypeVar("K", bound=Hashable)


class Unchanged(Conflict):
    """The study already exists, and the files contain nothing new."""

    code = "unchanged"


@dataclass(frozen=True, slots=True)
class Changes:
    """What an import would write; ``study`` is the stored study that it extends, if any."""

    study: Study | None
    queries: frozenset[str]
    documents: frozenset[str]
    candidates: Mapping[str, frozenset[str]]
    rankings: frozenset[tuple[str, str]]
    practice: frozenset[str]
    gold: frozenset[tuple[str, str, str]]
    files: frozenset[str]
    merged: Merged

    @property
    def head(self) -> bool:
        """Whether name, guidelines or settings change, or somebody decided about an edit."""
        study, merged = self.study, self.merged
        if study is None or any(edit.both or edit.outcome != "kept" for edit in merged.edits):
            return True
        before = study.settings
        given = (merged.name, merged.guidelines, merged.settings)
        return given != (study.name, study.guidelines, before)

    def __bool__(self) -> bool:
        parts = (self.queries, self.documents, self.candidates, self.rankings, self.practice)
        return self.head or any(parts) or bool(self.gold) or bool(self.files)


def compare(session: Session, checked: Checked, policy: EditPolicy = KEEP_EDITS) -> Changes:
    """Return what is new in ``checked``; ``policy`` decides about edits of the study.

    Raise StudyRefused with every contradiction to stored data, or Unchanged if nothing is new.
    """
    study = study_of_slug(session, checked.bundle.head.slug)
    if study is None:
        return _all_of(checked)
    problems = Problems()
    with counting(checked):
        changes = _Comparison(session, study, checked, problems).changes(policy)
        problems.refuse_if_any()
    if not changes:
        kept = ", ".join(edit.field for edit in changes.merged.edits)
        edits = f" What was edited in the study is kept: {kept}." if kept else ""
        raise Unchanged(
            f"The study {study.slug!r} already exists, and these files contain nothing new.{edits}"
        )
    return changes


def _all_of(checked: Checked) -> Changes:
    return Changes(
        study=None,
        queries=frozenset(checked.queries),
        documents=frozenset(checked.documents),
        candidates={query: frozenset(found) for query, found in checked.candidates.items()},
        rankings=frozenset(checked.rankings),
        practice=frozenset(checked.practice),
        gold=frozenset(checked.gold),
        files=frozenset(checked.files),
        merged=whole(checked.bundle.head),
    )


def _comparable(question: PracticeQuestion) -> tuple[object, ...]:
    return (
        *(question.tool, question.query, question.description),
        *(list(question.left), list(question.right), list(question.answers)),
        question.explanation,
    )


class _Comparison:
    """Compares the parts of a study; every contradiction is a problem."""

    def __init__(
        self, session: Session, study: Study, checked: Checked, problems: Problems
    ) -> None:
        self._session, self._study = session, study
        self._checked, self._problems = checked, problems
        self._layout = checked.bundle.layout

    def changes(self, policy: EditPolicy) -> Changes:
        checked, session, study = self._checked, self._session, self._study
        documents = {
            name: digest_of(*rest) for name, *rest in stored.document_facts(session, study.id)
        }
        queries = {name: tuple(rest) for name, *rest in stored.query_facts(session, study.id)}
        rankings = {
            (query, system): digest_of(names)
            for query, system, names in stored.ranking_facts(session, study.id)
        }
        given = {name: astuple(query)[1:] for name, query in checked.queries.items()}
        file = self._layout.documents or self._layout.candidates
        return Changes(
            study=study,
            merged=self._merged_head(policy),
            queries=self._added(
                given, queries, lambda name: checked.locations[name], lambda name: f"query {name!r}"
            ),
            documents=self._added(
                checked.documents, documents, lambda _: Location(file), lambda n: f"document {n!r}"
            ),
            candidates=self._added_candidates(),
            rankings=self._added(
                checked.rankings,
                rankings,
                lambda _: Location(self._layout.rankings[0]),
                lambda key: f"ranking of {key[1]!r} for query {key[0]!r}",
            ),
            practice=self._added_practice(),
            gold=self._added_gold(),
            files=self._added(
                checked.files,
                dict(stored.file_facts(session, study.id)),
                Location,
                lambda path: f"file {path!r}",
            ),
        )

    def _added_practice(self) -> frozenset[str]:
        given = {name: _comparable(each) for name, each in self._checked.practice.items()}
        existing = {
            name: tuple(rest)
            for name, *rest in stored.practice_facts(self._session, self._study.id)
        }
        return self._added(
            given,
            existing,
            lambda _: Location(self._layout.practice or ""),
            lambda name: f"practice question {name!r}",
        )

    def _added_gold(self) -> frozenset[tuple[str, str, str]]:
        """Return the new gold pairs; refuse those of queries that somebody has begun."""
        given = {key: pair.facts for key, pair in self._checked.gold.items()}
        rows = stored.gold_facts(self._session, self._study.id)
        existing = {pair.key: pair.facts for pair in (GoldRecord(*row) for row in rows)}
        location = Location(self._layout.gold or "")
        added = self._added(
            given, existing, lambda _: location, lambda key: f"gold pair {key[1:]} of {key[0]!r}"
        )
        begun = stored.begun_queries(self._session, self._study.id) if added else frozenset()
        for query in sorted({key[0] for key in added} & begun):
            self._problems.add(
                location,
                "query",
                f"Somebody has begun query {shown(query)}; gold pairs cannot be added to it.",
                "Its answers were counted without them: remove them, or use them in new queries.",
            )
        return added

    def _merged_head(self, policy: EditPolicy) -> Merged:
        head, study = self._checked.bundle.head, self._study
        assigned = bool(stored.assigned_queries(self._session, study.id))
        merged = merge(study, head, policy, assigned=assigned)
        if policy.default != "ask":
            refuse_undecided(self._session, study, head, merged, self._problems)
        return merged

    def _added(
        self,
        given: Mapping[K, object],
        existing: Mapping[K, object],
        location: Callable[[K], Location],
        named: Callable[[K], str],
    ) -> frozenset[K]:
        for key in given.keys() & existing.keys():
            if given[key] != existing[key]:
                self._problems.add(
                    location(key),
                    None,
                    f"The {named(key)} already exists with different content.",
                    "Restore the imported content, or use another id.",
                )
        return frozenset(given.keys() - existing.keys())

    def _added_candidates(self) -> dict[str, frozenset[str]]:
        existing: dict[str, dict[str, bytes]] = {}
        for query, name, grade, features in stored.candidate_facts(self._session, self._study.id):
            existing.setdefault(query, {})[name] = candidate_digest(grade, features)
        assigned = stored.assigned_queries(self._session, self._study.id)
        location = Location(self._layout.candidates)
        added: dict[str, frozenset[str]] = {}
        for query, given in self._checked.candidates.items():
            named = partial("candidate {1!r} of query {0!r}".format, query)
            new = self._added(given, existing.get(query, {}), lambda _: location, named)
            if new and query in assigned:
                self._problems.add(
                    location,
                    "document",
                    f"Query {shown(query)} is assigned; {len(new)} new candidates cannot be added.",
                    "All assessors of a query judge the same pages: add a new query instead.",
                )
            if new:
                added[query] = new
        return added
