"""A study as input of ranking models: features and labels per query, under each ground truth."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from topkapi.analysis.data import RankingData, make_folds, normalise_by_query, to_topk
from topkapi.analysis.data.folds import FoldSet, Truth, fold_set_of
from topkapi.analysis.data.text_features import NAMES, text_features
from topkapi.analysis.typing import FloatArray
from topkapi.app.db.models import Candidate, Content, Document
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.results.exports.labels import Labels, grade_labels, labels_by_query
from topkapi.app.services.results.exports.source import ExportedQuery, StudySource
from topkapi.app.services.values import by_number

TOOLS: Mapping[Truth, str] = {"topk": "pairs", "graded": "grades"}
_FEWEST = 3  # a part to train on, one to tune on, one to test on


@dataclass(frozen=True, slots=True)
class StudyRanking:
    """A study's data under each available ground truth, and the queries without labels.

    Features are mapped to 0..1 within each query; if the study has none (``from_text``), they are
    those of `topkapi.analysis.data.text_features`.
    """

    slug: str
    features: tuple[str, ...]
    from_text: bool
    data: Mapping[Truth, RankingData]
    unlabelled: Mapping[Truth, tuple[str, ...]]

    def under(self, truth: Truth, k: int | None = None) -> RankingData:
        """Return the data under ``truth``, with lists cut to their first ``k``."""
        if truth not in self.data:
            raise Invalid(
                f"{self.slug}: no query is finished with {TOOLS[truth]} (--truth {truth}) yet; "
                "finish judging at least one, or choose other labels.",
                field="truth",
            )
        data = self.data[truth]
        if data.topk is None or k is None:
            return data
        if k > data.topk:
            raise Invalid(
                f"{self.slug}: its lists have {data.topk} pages, not {k}: "
                f"use --k {data.topk} or less.",
                field="k",
            )
        return to_topk(data, k)

    def fold_set(self, truth: Truth, *, folds: int, seed: int = 0) -> FoldSet:
        """Return seeded folds by query under ``truth``; raise Invalid with the allowed range."""
        data = self.under(truth)
        if data.n_queries < _FEWEST:
            others = [f" or use only --truth {each}" for each in self.data if each != truth]
            raise Invalid(
                f"{self.slug}: {_count(data.n_queries)} labels from {TOOLS[truth]}, but at least "
                f"{_FEWEST} are needed to train, tune and test: finish judging more"
                f"{','.join(['', *others])}.",
                field="folds",
            )
        if not _FEWEST <= folds <= data.n_queries:
            most = min(data.n_queries, 5)
            raise Invalid(
                f"{self.slug}: {_count(data.n_queries)} labels from {TOOLS[truth]}: they make "
                f"{_FEWEST} to {data.n_queries} folds, not {folds}; use --folds {most}.",
                field="folds",
            )
        return fold_set_of(self.slug, list(make_folds(data, folds, seed=seed)))


def ranking_of(source: StudySource) -> StudyRanking:
    """Return the data of ``source``, with labels of the consensus or of its one assessor."""
    heads = {query.name: query for query in source.queries()}
    features = _Features(source)
    labelled = study_labels(source)
    k = max((max(labels.values()) for labels in labelled["topk"].values()), default=0)
    data: dict[Truth, RankingData] = {}
    for truth, found in labelled.items():
        known = [(heads[name], found[name]) for name in heads if found.get(name)]
        if known:
            data[truth] = _grouped(features, known, topk=k if truth == "topk" else None)
    return StudyRanking(
        slug=source.study.slug,
        features=features.names,
        from_text=features.from_text,
        data=data,
        unlabelled={
            truth: tuple(name for name in heads if not found.get(name))
            for truth, found in labelled.items()
        },
    )


def study_labels(source: StudySource) -> dict[Truth, Mapping[str, Labels]]:
    """Return the labels of each query under both ground truths, from consensus and grades."""
    lists = {query.name: labels for query, labels in labels_by_query(source)}
    grades = {
        name: {label.document: int(label.label) for label in labels}
        for name, labels in groupby(grade_labels(source), key=lambda label: label.query)
    }
    return {"graded": grades, "topk": _at_one_k(lists)}


def _at_one_k(lists: Mapping[str, Labels]) -> dict[str, Labels]:
    """Shift labels so that every list starts at the largest k, also if made with another k."""
    best = {name: max(labels.values(), default=0) for name, labels in lists.items()}
    k = max(best.values(), default=0)
    return {
        name: {page: label + k - best[name] if label else 0 for page, label in labels.items()}
        for name, labels in lists.items()
        if best[name]
    }


def _grouped(
    features: "_Features", known: Iterable[tuple[ExportedQuery, Labels]], topk: int | None
) -> RankingData:
    names: list[str] = []
    pages: list[str] = []
    parts: list[FloatArray] = []
    labels: list[int] = []
    for query, given in known:
        documents, values = features.of(query)
        rows = [row for row, document in enumerate(documents) if document in given]
        names.append(query.name)
        pages += [documents[row] for row in rows]
        parts.append(values[rows])
        labels += [given[documents[row]] for row in rows]
    data = RankingData(
        np.concatenate(parts),
        np.array(labels, dtype=np.float64),
        np.concatenate([[0], np.cumsum([len(part) for part in parts])]),
        tuple(names),
        tuple(pages),
        topk,
    )
    return normalise_by_query(data)


class _Features:
    """Features of a query's pages, from the study or its texts; cached for the other truth."""

    def __init__(self, source: StudySource) -> None:
        names: set[str] = set()
        with closing(queries.features_of_study(source.session, source.study.id)) as found:
            for features in found:
                names.update(features)
        self.from_text = not names
        self.names = NAMES if self.from_text else tuple(sorted(names, key=by_number))
        self._session = source.session
        self._kept: dict[int, tuple[list[str], FloatArray]] = {}

    def of(self, query: ExportedQuery) -> tuple[list[str], FloatArray]:
        """Return the ids of the pages and their features, (n_pages, n_features)."""
        if query.number not in self._kept:
            read = self._from_text if self.from_text else self._from_study
            self._kept[query.number] = read(query)
        return self._kept[query.number]

    def _from_study(self, query: ExportedQuery) -> tuple[list[str], FloatArray]:
        """Read stored features; a missing value is 0, as in LETOR files."""
        found = queries.features_of_query(self._session, query.number)
        values = [[given.get(name, 0.0) for name in self.names] for given in found.values()]
        return list(found), np.array(values, dtype=np.float64)

    def _from_text(self, query: ExportedQuery) -> tuple[list[str], FloatArray]:
        pages = _pages_of_query(self._session, query.number)
        titles, texts = [page[1] for page in pages], [page[2] or "" for page in pages]
        return [page[0] for page in pages], text_features(query.text, titles, texts)


def _count(queries: int) -> str:
    return "1 query has" if queries == 1 else f"{queries} queries have"


def _pages_of_query(session: Session, query_id: int) -> Sequence[Row[str, str, str | None]]:
    """Return external id, title and plain text of the query's candidates, in the study's order."""
    statement = (
        select(Document.external_id, Document.title, Content.text)
        .join(Candidate, Candidate.document_id == Document.id)
        .join(Content, Content.hash == Document.content_hash)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Candidate.id)
    )
    return session.execute(statement).all()
