"""Folds of an experiment, as grades, as top-k ground truth, or as full orders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path
from typing import Literal

from topkapi.analysis.data.folds import (
    Fold,
    dtype_of,
    letor_files,
    make_folds,
    normalise_by_query,
    read_folds,
)
from topkapi.analysis.data.keyed import shuffled
from topkapi.analysis.data.letor import Null, read_letor
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import full_order, to_topk
from topkapi.analysis.errors import BadData

Truth = Literal["graded", "topk", "full"]
WIDEST = 100.0  # deviation of a feature above which scaling is advised


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
    files = letor_files(path)
    if path.is_dir():
        folds = read_folds(path, null=null)
    else:
        folds = make_folds(read_letor(path, null=null, dtype=dtype_of(files)), seed=seed)
    chosen = [_shuffled(fold, seed) for fold in islice(folds, first)]
    return FoldSet(path.name, chosen, _digest(files, null))


def _digest(files: Sequence[Path], null: Null | None) -> str:
    """Return twelve hex digits of a hash over the files, the same for any number of folds."""
    state = sha256(f"{null}".encode())
    for file in files:
        with file.open("rb") as stream:
            state.update(file_digest(stream, "sha256").digest())
    return state.hexdigest()[:12]


def _shuffled(fold: Fold, seed: int) -> Fold:
    parts = (shuffled(part, seed) for part in (fold.train, fold.validation, fold.test))
    return Fold(fold.name, *parts)


def normalised(fold_set: FoldSet) -> FoldSet:
    """Scale each feature of each query to 0..1 in every part of every fold."""
    folds = [
        Fold(fold.name, *map(normalise_by_query, (fold.train, fold.validation, fold.test)))
        for fold in fold_set.folds
    ]
    return fold_set_of(fold_set.name, folds)


def needs_scaling(fold_set: FoldSet) -> bool:
    """Tell whether a feature varies so widely that linear models may not converge."""
    features = fold_set.folds[0].train.features
    return any(column.std() > WIDEST for column in features.T)


def fold_set_of(name: str, folds: list[Fold]) -> FoldSet:
    """Make a fold set with the digest that result rows carry."""
    parts = [part for fold in folds for part in (fold.train, fold.validation, fold.test)]
    digests = "".join(part.digest() for part in parts)
    return FoldSet(name, folds, sha256(digests.encode()).hexdigest()[:12])


def with_truth(fold: Fold, truth: Truth, k: int, seed: int) -> Fold:
    """Return the fold under another ground truth.

    Equal grades are ordered by ``seed``.

    A query's order does not depend on the fold or part it is in.
    """
    change: Callable[[RankingData], RankingData]
    if truth == "graded":
        return fold
    if truth == "topk":

        def change(data: RankingData) -> RankingData:
            return to_topk(data, k, seed=seed)
    else:

        def change(data: RankingData) -> RankingData:
            return full_order(data, seed=seed)

    return Fold(fold.name, change(fold.train), change(fold.validation), change(fold.test))
