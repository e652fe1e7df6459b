"""Scores of a study's systems: uploaded runs, and the lists that the study came with."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Self

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.analysis.agreement import Judgments
from topkapi.analysis.data.exports import ListJudgment
from topkapi.analysis.data.folds import Truth
from topkapi.analysis.data.runs import Run, parse_run
from topkapi.analysis.dcglearn import ANSWERS
from topkapi.analysis.machines import length_board, win_shares
from topkapi.analysis.report.study import StudyName
from topkapi.analysis.report.subjects.leaderboard import Ballots, Leaderboard, leaderboard
from topkapi.analysis.report.subjects.systems import (
    PoweredScores,
    RunValues,
    SystemReport,
    SystemScores,
    measures_of,
    powered_scores,
    run_values,
    score_runs,
    system_scores,
)
from topkapi.app.db.models import Document, Query, Ranking
from topkapi.app.db.queries.machines import machines_at_work
from topkapi.app.db.queries.results import systems as queries
from topkapi.app.db.queries.results.exports import text_lengths
from topkapi.app.domain.assignment.growth import drawn
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.results.exports import ExportOptions, completeness
from topkapi.app.services.results.exports.labels import Labels
from topkapi.app.services.results.exports.lists import list_answers
from topkapi.app.services.results.exports.source import StudySource
from topkapi.app.services.results.ranking import study_labels
from topkapi.app.services.results.reports.machines import list_lengths
from topkapi.app.services.results.systems.runs import run_text

COMPATIBILITY = "compatibility:.95"
WON = "Won comparisons of lists"
Answers = Mapping[str, Sequence[tuple[str, str, int]]]  # query -> left, right, sign
RunKey = tuple[Truth, int, str]  # number of an uploaded run, or 0, and the system


@dataclass(frozen=True, slots=True)
class StudySystems:
    """What the scores of a study depend on, and the values that were computed so far."""

    study_id: int
    name: StudyName
    k: Mapping[Truth, int]
    labels: Mapping[Truth, Mapping[str, Labels]]
    leaderboard: Leaderboard | None
    values: dict[RunKey, RunValues] = field(default_factory=dict)
    drawn: tuple[str, ...] | None = None  # queries for people, if they were drawn at random
    machines: Mapping[str, Mapping[Truth, Mapping[str, Labels]]] = field(default_factory=dict)
    ballots: Mapping[str, Answers] = field(default_factory=dict)  # of machines; of people under ""

    @classmethod
    def of(
        cls, source: StudySource, stored: Mapping[str, Mapping[str, Labels]] | None = None
    ) -> Self:
        """Read labels, unless they are ``stored``, and list answers of a study.

        Without systems no judgment is read, and queries have no labels.
        """
        study = source.study
        if not queries.has_systems(source.session, study.id):
            return cls._without_systems(source)
        known = stored or study_labels(source)
        truths: tuple[Truth, ...] = ("topk", "graded")
        labels = {truth: known[truth] for truth in truths if known[truth]}
        depth, answers = study.settings.k, list(list_answers(source))
        longest = max(
            (max(found.values()) for found in labels.get("topk", {}).values()), default=depth
        )
        return cls(
            study_id=study.id,
            name=StudyName(study.name, study.slug),
            k={"topk": longest, "graded": depth},
            labels=labels,
            leaderboard=_leaderboard(source, answers),
            drawn=_drawn(source),
            machines={} if stored else _machine_labels(source),  # few answers only
            ballots={} if stored else _ballots(source, answers),
        )

    @classmethod
    def _without_systems(cls, source: StudySource) -> Self:
        finished = {each.tool for each in completeness(source).tools if each.finished}
        tools: dict[Truth, Tool] = {"topk": Tool.PAIRS, "graded": Tool.GRADES}
        labels: dict[Truth, Mapping[str, Labels]] = {
            truth: {} for truth, tool in tools.items() if tool in finished
        }
        name = StudyName(source.study.name, source.study.slug)
        return cls(source.study.id, name, {}, labels, None)

    def report(
        self, session: Session, truth: str | None, baseline: str | None, *, shared: bool = False
    ) -> SystemReport:
        """Return the report on one ground truth, top-k lists if there are any.

        If ``shared``, the scores are those on the queries that every system has.
        """
        chosen = self._truth(truth)
        scores = None if chosen is None else self._scores(session, chosen, baseline, shared)
        return SystemReport(
            study=self.name,
            truths=tuple(self.labels),
            scores=scores,
            leaderboard=self.leaderboard,
            powered=tuple(self._powered(session, chosen, baseline)) or None,
        )

    def _powered(
        self, session: Session, truth: Truth | None, baseline: str | None
    ) -> Iterator[PoweredScores]:
        """Yield scores with each machine's labels, and with its answers about lists."""
        powered = partial(powered_scores, drawn=self.drawn, baseline=baseline)
        labels = {} if truth is None else {name: of[truth] for name, of in self.machines.items()}
        if truth is not None and any(labels.values()):
            runs = {key[2]: self._run(session, key) for key in self._keys(session, truth)}
            measures = (measures_of(truth, self.k[truth])[0], COMPATIBILITY)
            for name, measure in product(filter(labels.get, labels), measures):
                values = partial(score_runs, runs=runs, measure=measure)
                yield powered(name, measure, self.labels[truth], labels[name], values)
        for name, answers in self.ballots.items():
            if name and answers:
                yield powered(name, WON, self.ballots[""], answers, win_shares)

    def _truth(self, wanted: str | None) -> Truth | None:
        for truth in self.labels:
            if wanted in (None, truth):
                return truth
        if wanted is None:
            return None
        known = " or ".join(self.labels) or "nothing yet"
        raise Invalid(
            f"{self.name.slug}: there are no {wanted!r} labels; there is {known}.", field="truth"
        )

    def _scores(
        self, session: Session, truth: Truth, baseline: str | None, shared: bool
    ) -> SystemScores | None:
        labels = self.labels[truth]
        if shared:
            runs = {key[2]: self._run(session, key) for key in self._keys(session, truth)}
            labels = {
                query: label
                for query, label in labels.items()
                if all(query in run for run in runs.values())
            }
            if not labels:
                raise Invalid("No judged query is in every run.", field="shared")
            scored = {name: self._scored(run, truth, labels) for name, run in runs.items()}
        else:
            scored = dict(self._of_systems(session, truth))
        if baseline is not None and baseline not in scored:
            raise Invalid(f"{self.name.slug} has no system {baseline!r}.", field="baseline")
        if not scored:
            return None
        return system_scores(
            scored,
            truth=truth,
            k=self.k[truth],
            queries=len(labels),
            baseline=baseline,
        )

    def _of_systems(self, session: Session, truth: Truth) -> Iterator[tuple[str, RunValues]]:
        """Yield the values of each system; an uploaded run replaces lists of the same name."""
        for key in self._keys(session, truth):
            if key not in self.values:
                run = self._run(session, key)
                self.values[key] = self._scored(run, truth, self.labels[truth])
            yield key[2], self.values[key]

    def _keys(self, session: Session, truth: Truth) -> Iterator[RunKey]:
        runs = {run.system: run.id for run in queries.runs_of_study(session, self.study_id)}
        lists = select(Ranking.system).join(Query).where(Query.study_id == self.study_id)
        for system in sorted({*runs, *session.scalars(lists.distinct())}):
            yield truth, runs.get(system, 0), system

    def _run(self, session: Session, key: RunKey) -> Run:
        _, number, system = key
        if number:
            return parse_run(run_text(queries.run_data(session, number)))
        lists = _lists_of_system(session, self.study_id, system)
        return {
            query: {name: -float(rank) for rank, name in enumerate(documents, start=1)}
            for query, documents in lists
        }

    def _scored(self, run: Run, truth: Truth, labels: Mapping[str, Labels]) -> RunValues:
        k = self.k[truth]
        return run_values(labels, run, measures_of(truth, k), k)


def _drawn(source: StudySource) -> tuple[str, ...] | None:
    most = source.study.settings.people_queries
    names = (query.name for query in source.queries())
    return None if most is None else tuple(drawn(names, most, source.study.slug))


def _machine_labels(source: StudySource) -> dict[str, Mapping[Truth, Mapping[str, Labels]]]:
    """Return the labels of each machine that has judged, by its name."""
    session, slug = source.session, source.study.slug
    return {
        name: study_labels(StudySource(session, slug, ExportOptions(assessor=email)))
        for email, name in machines_at_work(session, source.study.id).items()
    }


def _ballots(source: StudySource, answers: Iterable[ListJudgment]) -> dict[str, Answers]:
    """Return who preferred which system, of people together and of each machine."""
    session, slug = source.session, source.study.slug
    found: dict[str, Answers] = {"": _by_query(answers)}
    for email, name in machines_at_work(session, source.study.id).items():
        own = StudySource(session, slug, ExportOptions(assessor=email))
        found[name] = _by_query(list_answers(own))
    return found


def _by_query(answers: Iterable[ListJudgment]) -> Answers:
    found: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for each in answers:
        sign = int(np.sign(ANSWERS[each.answer]))
        found[each.query].append((each.left_system, each.right_system, sign))
    return found


def _leaderboard(source: StudySource, answers: Sequence[ListJudgment]) -> Leaderboard | None:
    if not answers:
        return None
    names = sorted({name for each in answers for name in (each.left_system, each.right_system)})
    columns = [
        _numbered([each.assessor for each in answers]),
        _numbered([each.query for each in answers]),
        [names.index(each.left_system) for each in answers],
        [names.index(each.right_system) for each in answers],
        [int(np.sign(ANSWERS[each.answer])) for each in answers],
    ]
    who, query, left, right, answer = np.array(columns, dtype=np.int64)
    board = leaderboard(Ballots(tuple(names), who, query, left, right, answer))
    asked = Judgments.of(assessor=who, query=query, left=left, right=right, answer=answer)
    pages = {page for each in answers for page in (*each.left, *each.right)}
    lengths = list_lengths(answers, text_lengths(source.session, source.study.id, pages))
    return replace(board, at_equal_lengths=length_board(names, asked, *lengths))


def _numbered(names: list[str]) -> list[int]:
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [known[name] for name in names]


def _lists_of_system(
    session: Session, study_id: int, system: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield query and documents, best first, of each list of a system, all by their file ids."""
    rows = session.execute(
        select(Query.external_id, Ranking.documents)
        .join(Query, Query.id == Ranking.query_id)
        .where(Query.study_id == study_id, Ranking.system == system)
    ).all()
    names = {
        row[0]: row[1]
        for row in session.execute(
            select(Document.id, Document.external_id).where(Document.study_id == study_id)
        )
    }
    for query, documents in rows:
        yield query, [names[document] for document in documents]
