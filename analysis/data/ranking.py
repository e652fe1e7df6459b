"""Query-grouped arrays, the input of measures and models."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topkapi.analysis.data.padding import row_spans
from topkapi.analysis.errors import BadData, unknown_name
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RankingData:
    """Documents of many queries, one row each, the rows of a query side by side.

    Attributes
    ----------
    features
        Features (n_rows, n_features), float32 or float64.
    labels
        Labels (n_rows,).
    offsets
        Offsets (n_queries + 1,): query q owns rows offsets[q] .. offsets[q+1]-1.
    query_ids
        Id of each query; numbered from 1 if empty.
    document_ids
        Id of each row; may be empty.
    topk
        k if labels are those of a top-k ground truth, k + 1 - rank in T and 0 in F ([NGLC12]_,
        section 3.2.1); None where they are grades.

    Examples
    --------
    >>> data = RankingData(np.ones((3, 2)), np.array([1.0, 0.0, 2.0]), np.array([0, 2, 3]))
    >>> data.n_queries, data.n_features, data.query_ids
    (2, 2, ('1', '2'))
    """

    features: FloatArray
    labels: FloatArray
    offsets: IntArray
    query_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    topk: int | None = None

    def __post_init__(self) -> None:
        """Refuse what would later turn into a silent NaN."""
        _check_shapes(self)
        if not self.query_ids:
            ids = tuple(str(number + 1) for number in range(self.n_queries))
            object.__setattr__(self, "query_ids", ids)
        _check_values(self)

    @property
    def n_rows(self) -> int:
        """Number of documents."""
        return int(self.labels.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.offsets.shape[0]) - 1

    @property
    def sizes(self) -> IntArray:
        """Documents per query, (n_queries,)."""
        return np.diff(self.offsets)

    @property
    def queries(self) -> IntArray:
        """Query index of every row, (n_rows,)."""
        return np.repeat(np.arange(self.n_queries), self.sizes)

    def with_labels(self, labels: FloatArray, *, topk: int | None = None) -> "RankingData":
        """Return the same documents with other labels."""
        return replace(self, labels=labels, topk=topk)

    def with_features(self, features: FloatArray) -> "RankingData":
        """Return the same documents with other features."""
        return replace(self, features=features)

    def select(self, queries: Sequence[int] | IntArray) -> "RankingData":
        """Select queries, in the given order."""
        chosen = np.asarray(queries, dtype=np.int64)
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        documents = tuple(self.document_ids[row] for row in rows) if self.document_ids else ()
        return RankingData(
            self.features[rows],
            self.labels[rows],
            offsets,
            tuple(self.query_ids[query] for query in chosen),
            documents,
            self.topk,
        )

    @classmethod
    def from_frame(cls, frame: Any, *, topk: int | None = None) -> "RankingData":
        """Return the data of a table with the columns ``query`` and ``label``.

        Parameters
        ----------
        frame
            A pandas DataFrame; ``document`` is optional, and all other columns are features.
        topk
            k if labels are those of a top-k ground truth.

        Returns
        -------
        RankingData
            Queries in the order of their first rows, documents in that of the table.
        """
        _require_columns(frame, "query", "label")
        queries, numbers = np.unique(np.asarray(frame["query"], dtype=str), return_inverse=True)
        first = np.full(len(queries), len(frame))
        np.minimum.at(first, numbers, np.arange(len(frame)))
        rank = np.argsort(np.argsort(first))[numbers]
        rows = np.argsort(rank, kind="stable")
        names = [name for name in frame.columns if name not in ("query", "document", "label")]
        features = [_column(frame, name) for name in names]
        documents = frame["document"] if "document" in frame.columns else ()
        return cls(
            np.column_stack(features)[rows] if features else np.empty((len(frame), 0)),
            _column(frame, "label")[rows],
            np.concatenate([[0], np.cumsum(np.bincount(rank))]),
            tuple(map(str, queries[np.argsort(first)])),
            tuple(np.asarray(documents, dtype=str)[rows].tolist()) if len(documents) else (),
            topk,
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: query, document, label and features, a row per document."""
        import pandas

        table = {"query": np.array(self.query_ids)[self.queries]}
        if self.document_ids:
            table["document"] = np.array(self.document_ids)
        table["label"] = self.labels
        columns = enumerate(self.features.T, start=1)
        return pandas.DataFrame({**table, **{f"feature {n}": each for n, each in columns}})

    def digest(self) -> str:
        """Return twelve hex digits of a hash over features, labels and query borders."""
        state = hashlib.sha256(f"{self.features.shape}{self.topk}".encode())
        for array in (self.features, self.labels, self.offsets):
            state.update(np.ascontiguousarray(array).data)
        return state.hexdigest()[:12]


def _column(frame: Any, name: str) -> FloatArray:
    """Return a column of a table as numbers."""
    try:
        return np.asarray(frame[name], dtype=np.float64)
    except (TypeError, ValueError):
        raise BadData(f"the column {name!r} has values that are no numbers") from None


def _require_columns(frame: Any, *names: str) -> None:
    for name in names:
        if name not in frame.columns:
            raise BadData(str(unknown_name("column", name, map(str, frame.columns))))


def _check_shapes(data: RankingData) -> None:
    for name in ("features", "labels", "offsets"):
        given = getattr(data, name)
        if not isinstance(given, np.ndarray):
            kind = type(given).__name__
            raise BadData(f"{name} must be a NumPy array, not {kind}: use numpy.asarray")
    if data.features.ndim != 2:
        raise BadData(f"features must be (rows, features), not {data.features.shape}: ragged rows?")
    if data.features.dtype not in (np.float32, np.float64):
        raise BadData(f"features must be float32 or float64, not {data.features.dtype}")
    if data.labels.shape != (data.features.shape[0],):
        raise BadData(f"{data.features.shape[0]} rows of features but labels {data.labels.shape}")
    offsets = data.offsets
    if offsets.ndim != 1 or offsets.size < 1 or offsets[0] != 0 or offsets[-1] != data.n_rows:
        raise BadData(f"offsets must run from 0 to {data.n_rows}, the number of rows")
    if data.query_ids and len(data.query_ids) != offsets.size - 1:
        raise BadData(f"{offsets.size - 1} queries but {len(data.query_ids)} query ids")
    if data.document_ids and len(data.document_ids) != data.n_rows:
        raise BadData(f"{data.n_rows} rows but {len(data.document_ids)} document ids")


def _check_values(data: RankingData) -> None:
    empty = np.flatnonzero(data.sizes <= 0)
    if empty.size:
        raise BadData(f"query {data.query_ids[empty[0]]} has no documents: leave it out")
    for bad, what in (
        (~_finite_rows(data.features), "a feature that is not a finite number"),
        (~np.isfinite(data.labels), "a label that is not a finite number"),
        (data.labels < 0, "a negative label: map unjudged documents to 0 or leave them out"),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            query = int(np.searchsorted(data.offsets, row, side="right")) - 1
            position = row - int(data.offsets[query]) + 1
            raise BadData(f"query {data.query_ids[query]}, document {position}: {what}")


def _finite_rows(features: FloatArray) -> BoolArray:
    """Tell which rows have finite numbers only."""
    finite: BoolArray = np.empty(features.shape[0], dtype=np.bool_)
    for rows in row_spans(features.shape[0]):
        finite[rows] = np.isfinite(features[rows]).all(axis=1)
    return finite
