"""Names of a study's files as indices of its arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement import Scores
from topkapi.analysis.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Indices:
    """Names as indices, ordered by id; ``documents`` are those of each query."""

    queries: dict[str, int]
    assessors: dict[str, int]
    documents: list[dict[str, int]]


def scores_of(rows: Mapping[int, Mapping[int, FloatArray]]) -> tuple[Scores, ...]:
    """Return the labels of every query, which ``rows`` has by query and assessor."""
    return tuple(
        Scores(query, np.array(sorted(found)), np.stack([found[who] for who in sorted(found)]))
        for query, found in sorted(rows.items())
    )
