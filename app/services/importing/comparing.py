"""A study held against the one of the same name that is there already, if there is one.

What is there stays: queries, documents and candidates can be added, none changed. A query that
somebody is assigned to gets no further candidates, for its assessors must judge the same pages.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.studies import importing as stored
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.checking import Checked, candidate_mark, counting, mark_of
from topkapi.app.services.importing.problems import Place, Problems
from topkapi.app.services.importing.records.values import shown

K = TypeVar("K", bound=Hashable)


class Unchanged(Conflict):
    """The study is there already, and nothing in the files is new."""

    code = "unchanged"


@dataclass(frozen=True, slots=True)
class Changes:
    """What an import would write; ``study`` is the one it adds to, if it is there."""

    study: Study | None
    queries: frozenset[str]
    documents: frozenset[str]
    candidates: Mapping[str, frozenset[str]]
    rankings: frozenset[tuple[str, str]]
    files: frozenset[str]
    head: bool  # name, guidelines or settings

    def __bool__(self) -> bool:
        parts = (self.queries, self.documents, self.candidates, self.rankings, self.files)
        return self.head or any(parts)


def compare(session: Session, checked: Checked) -> Changes:
    """What is new in ``checked``; a contradiction to what is there is refused, place by place."""
    study = stored.study_of_slug(session, checked.bundle.head.slug)
    if study is None:
        return _all_of(checked)
    problems = Problems()
    with counting(checked):
        changes = _Comparison(session, study, checked, problems).changes()
        problems.refuse_if_any()
    if not changes:
        raise Unchanged(
            f"The study {study.slug!r} is there already, and nothing in these files is new."
        )
    return changes


def _all_of(checked: Checked) -> Changes:
    return Changes(
        study=None,
        queries=frozenset(checked.queries),
        documents=frozenset(checked.documents),
        candidates={query: frozenset(found) for query, found in checked.candidates.items()},
        rankings=frozenset(checked.rankings),
        files=frozenset(checked.files),
        head=True,
    )


class _Comparison:
    """Goes through the parts of a study; every contradiction is a problem."""

    def __init__(
        self, session: Session, study: Study, checked: Checked, problems: Problems
    ) -> None:
        self._session, self._study = session, study
        self._checked, self._problems = checked, problems
        self._layout = checked.bundle.layout

    def changes(self) -> Changes:
        checked, session, study = self._checked, self._session, self._study
        documents = {
            name: mark_of(*rest) for name, *rest in stored.document_facts(session, study.id)
        }
        queries = {name: tuple(rest) for name, *rest in stored.query_facts(session, study.id)}
        rankings = {
            (query, system): mark_of(names)
            for query, system, names in stored.ranking_facts(session, study.id)
        }
        given = {name: query[1:] for name, query in checked.queries.items()}
        file = self._layout.documents or self._layout.candidates
        return Changes(
            study=study,
            head=self._head_changes(),
            queries=self._added(
                given, queries, lambda name: checked.places[name], lambda name: f"query {name!r}"
            ),
            documents=self._added(
                checked.documents, documents, lambda _: Place(file), lambda n: f"document {n!r}"
            ),
            candidates=self._added_candidates(),
            rankings=self._added(
                checked.rankings,
                rankings,
                lambda _: Place(self._layout.rankings[0]),
                lambda key: f"ranking of {key[1]!r} for query {key[0]!r}",
            ),
            files=self._added(
                checked.files,
                dict(stored.file_facts(session, study.id)),
                Place,
                lambda path: f"file {path!r}",
            ),
        )

    def _head_changes(self) -> bool:
        head, study = self._checked.bundle.head, self._study
        there = StudySettings.from_json(study.settings)
        steers = head.settings.frozen_settings() != there.frozen_settings()
        if steers and stored.assigned_queries(self._session, study.id):
            self._problems.add(
                head.place,
                "settings",
                "The settings differ from those under which work was assigned.",
                "Put the old ones back, or import under another slug.",
            )
        before, after = (study.name, study.guidelines), (head.name, head.guidelines)
        return head.settings != there or before != after

    def _added(
        self,
        given: Mapping[K, object],
        there: Mapping[K, object],
        place: Callable[[K], Place],
        named: Callable[[K], str],
    ) -> frozenset[K]:
        for key in given.keys() & there.keys():
            if given[key] != there[key]:
                self._problems.add(
                    place(key),
                    None,
                    f"The {named(key)} is there already and reads otherwise.",
                    "Leave it as it is, or use another id.",
                )
        return frozenset(given.keys() - there.keys())

    def _added_candidates(self) -> dict[str, frozenset[str]]:
        there: dict[str, dict[str, bytes]] = {}
        for query, name, grade, features in stored.candidate_facts(self._session, self._study.id):
            there.setdefault(query, {})[name] = candidate_mark(grade, features)
        assigned = stored.assigned_queries(self._session, self._study.id)
        place = Place(self._layout.candidates)
        added: dict[str, frozenset[str]] = {}
        for query, given in self._checked.candidates.items():
            named = partial("candidate {1!r} of query {0!r}".format, query)
            new = self._added(given, there.get(query, {}), lambda _: place, named)
            if new and query in assigned:
                self._problems.add(
                    place,
                    "document",
                    f"Query {shown(query)} is assigned; it would get {len(new)} more candidates.",
                    "All assessors of a query judge the same pages: add a query instead.",
                )
            if new:
                added[query] = new
        return added
