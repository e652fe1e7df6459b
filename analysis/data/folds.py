"""Folds by query: official LETOR folders, or a seeded split that never parts a query.

Their ground truth is grades, top-k lists or full orders.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from topkapi.analysis.data.keyed import shuffled
from topkapi.analysis.data.letor import Null, read_letor
from topkapi.analysis.data.padding import query_spans
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import full_order, to_topk
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray

Truth = Literal["graded", "topk", "full"]
WIDEST = 100.0  # deviation of a feature above which scaling is advised
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

    @property
    def parts(self) -> tuple[RankingData, RankingData, RankingData]:
        """The three parts."""
        return self.train, self.validation, self.test

    def map(self, change: Callable[[RankingData], RankingData]) -> "Fold":
        """Return a fold with every part changed."""
        return Fold(self.name, *map(change, self.parts))


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


@dataclass(frozen=True)
class FoldSet:
    """Named folds of one collection and a hash over all of them."""

    name: str
    folds: list[Fold]
    digest: str


def load_fold_set(
    path: str | Path, *, seed: int = 0, null: Null | None = None, first: int | None = None
) -> FoldSet:
    """Load the official folds of a LETOR folder, or five seeded folds of a LETOR file.

    ``first`` loads only so many of them. The documents of a query are shuffled by ``seed``:
    OHSUMED's files have relevant documents first, and a model of equal scores would be paid for
    that (NDCG@10 .40 instead of .19).
    """
    path = Path(path).resolve()
    if not path.exists():
        raise BadData(f"{path}: no such file or folder")
    if path.is_dir():
        files = [_part(folder, name) for folder in _folders(path) for name in PARTS]
        folds = read_folds(path, null=null)
    else:
        files = [path]
        folds = make_folds(read_letor(path, null=null, dtype=dtype_of(files)), seed=seed)
    chosen = [fold.map(partial(shuffled, seed=seed)) for fold in islice(folds, first)]
    return FoldSet(path.name, chosen, _digest(files, null))


def _digest(files: Sequence[Path], null: Null | None) -> str:
    """Return twelve hex digits of a hash over the files, the same for any number of folds."""
    state = sha256(f"{null}".encode())
    for file in files:
        with file.open("rb") as stream:
            state.update(file_digest(stream, "sha256").digest())
    return state.hexdigest()[:12]


def normalised(fold_set: FoldSet) -> FoldSet:
    """Scale each feature of each query to 0..1 in every part of every fold."""
    return fold_set_of(fold_set.name, [fold.map(normalise_by_query) for fold in fold_set.folds])


def needs_scaling(fold_set: FoldSet) -> bool:
    """Tell whether a feature varies so widely that linear models may not converge."""
    features = fold_set.folds[0].train.features
    return any(column.std() > WIDEST for column in features.T)


def fold_set_of(name: str, folds: list[Fold]) -> FoldSet:
    """Make a fold set with the digest that result rows carry."""
    digests = "".join(part.digest() for fold in folds for part in fold.parts)
    return FoldSet(name, folds, sha256(digests.encode()).hexdigest()[:12])


def with_truth(fold: Fold, truth: Truth, k: int, seed: int) -> Fold:
    """Return the fold under another ground truth.

    Equal grades are ordered by ``seed``.

    A query's order does not depend on the fold or part it is in.
    """
    if truth == "graded":
        return fold
    if truth == "topk":
        return fold.map(partial(to_topk, k=k, seed=seed))
    return fold.map(partial(full_order, seed=seed))
