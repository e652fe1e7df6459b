"""Folds by query: official LETOR folders, or a seeded split that never parts a query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from topkapi.analysis.data.letor import Null, read_letor
from topkapi.analysis.data.padding import query_spans
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray

PARTS = ("train", "vali", "test")
LARGE = 2**30
"""Bytes of a fold's files above which features are kept in single precision."""


@dataclass(frozen=True)
class Fold:
    """Parts to train on, to tune on and to test on.

    Attributes
    ----------
    name
        Name of the fold.
    train, validation, test
        The three parts.
    """

    name: str
    train: RankingData
    validation: RankingData
    test: RankingData


def make_folds(data: RankingData, n_folds: int = 5, *, seed: int = 0) -> Iterator[Fold]:
    """Split queries into seeded folds, each when it is asked for.

    n - 2 parts train, one validates, one tests; each part tests once.

    Parameters
    ----------
    data
        Documents of many queries.
    n_folds
        Number of folds, at least 3.
    seed
        Seed of the split.
    """
    if n_folds < 3:
        raise BadData(f"at least 3 folds are needed to train, tune and test, not {n_folds}")
    if data.n_queries < n_folds:
        raise BadData(f"{data.n_queries} queries cannot fill {n_folds} folds")
    order = np.random.default_rng(seed).permutation(data.n_queries)
    parts = [np.sort(part) for part in np.array_split(order, n_folds)]
    for turn in range(n_folds):
        rotated = parts[turn:] + parts[:turn]
        yield Fold(
            f"Fold{turn + 1}",
            data.select(np.sort(np.concatenate(rotated[:-2]))),
            data.select(rotated[-2]),
            data.select(rotated[-1]),
        )


def read_folds(
    folder: str | Path, *, topk: int | None = None, null: Null | None = None
) -> Iterator[Fold]:
    """Read Fold1, Fold2, ... of a LETOR folder, each when it is asked for.

    Each has train, vali and test (.txt or .txt.gz). The three parts of a fold get one width, and a
    query in two of them is refused.

    Parameters
    ----------
    folder
        Folder that holds Fold1, Fold2, ...
    topk
        k of a top-k ground truth; None where labels are grades.
    null
        What ``NULL`` features become, as in ``read_letor``.
    """
    for path in _folders(folder):
        yield _read_fold(path, topk, null)


def letor_files(path: str | Path) -> list[Path]:
    """Return a LETOR file, or the files of a LETOR folder, in the order they are read."""
    if not Path(path).is_dir():
        return [Path(path)]
    return [_part(folder, name) for folder in _folders(path) for name in PARTS]


def dtype_of(files: Sequence[Path]) -> type[np.float32 | np.float64]:
    """Return single precision for files that together are large, double precision otherwise."""
    return np.float32 if sum(each.stat().st_size for each in files) > LARGE else np.float64


def _folders(folder: str | Path) -> list[Path]:
    found = sorted(path for path in Path(folder).glob("Fold*") if path.is_dir())
    if not found:
        raise BadData(f"{folder}: no folder named Fold1")
    return found


def _read_fold(path: Path, topk: int | None, null: Null | None) -> Fold:
    files = [_part(path, name) for name in PARTS]
    dtype = dtype_of(files)
    parts = [read_letor(file, topk=topk, null=null, dtype=dtype) for file in files]
    width = max(part.n_features for part in parts)
    ids = [set(part.query_ids) for part in parts]
    shared = (ids[0] & ids[1]) | (ids[0] & ids[2]) | (ids[1] & ids[2])
    if shared:
        raise BadData(f"{path}: query {min(shared)} is in two parts: results would leak")
    return Fold(path.name, *(_widen(part, width) for part in parts))


def _part(folder: Path, name: str) -> Path:
    for ending in (".txt.gz", ".txt"):
        if (folder / f"{name}{ending}").exists():
            return folder / f"{name}{ending}"
    raise BadData(f"{folder}: neither {name}.txt nor {name}.txt.gz found")


def _widen(data: RankingData, width: int) -> RankingData:
    if data.n_features == width:
        return data
    return data.with_features(np.pad(data.features, ((0, 0), (0, width - data.n_features))))


def normalise_by_query(data: RankingData) -> RankingData:
    """Scale each feature of each query to [0, 1].

    A feature that is constant within a query becomes 0.

    Parameters
    ----------
    data
        Documents of many queries.

    Examples
    --------
    >>> raw = RankingData(np.array([[2.0, 5.0], [6.0, 5.0]]), np.zeros(2), np.array([0, 2]))
    >>> normalise_by_query(raw).features
    array([[0., 0.],
           [1., 0.]])
    """
    scaled = np.empty_like(data.features)
    for queries in query_spans(data.offsets):
        borders = data.offsets[queries.start : queries.stop + 1]
        rows = slice(int(borders[0]), int(borders[-1]))
        _scale(data.features[rows], borders - borders[0], scaled[rows])
    return data.with_features(scaled)


def _scale(features: FloatArray, offsets: IntArray, out: FloatArray) -> None:
    low = np.minimum.reduceat(features, offsets[:-1], axis=0)
    span = np.maximum.reduceat(features, offsets[:-1], axis=0) - low
    scale = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
    owner = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    np.subtract(features, low[owner], out=out)
    out *= scale[owner]
