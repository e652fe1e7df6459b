"""Times of answers and sessions: one row per answer, one row per session."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Timings:
    """Answers of a log, undone or not, all arrays (n,).

    Attributes
    ----------
    session
        Row of ``Sessions``, (n,).
    position
        Number of the answer in its session, from 0, (n,).
    active, wall
        Seconds (n,).
    effective
        Whether the answer was not undone, (n,).
    """

    session: IntArray
    position: IntArray
    active: FloatArray
    wall: FloatArray
    effective: BoolArray

    @classmethod
    def of(
        cls,
        *,
        session: ArrayLike,
        position: ArrayLike,
        active: ArrayLike,
        wall: ArrayLike | None = None,
        effective: ArrayLike | None = None,
    ) -> Self:
        """Build from anything array-like; wall time is active time if left out."""
        about = np.asarray(session, np.int64)
        seconds = np.asarray(active, float)
        passed = seconds if wall is None else np.asarray(wall, float)
        kept = np.ones(about.shape, bool) if effective is None else np.asarray(effective, bool)
        made = cls(about, np.asarray(position, np.int64), seconds, passed, kept)
        _check_columns(made)
        both = np.concatenate([seconds, passed])
        if not (np.isfinite(both).all() and (both >= 0).all()):
            raise BadData("seconds have to be finite and not negative")
        return made

    def take(self, rows: IntArray | BoolArray) -> Self:
        """Return the rows that an index or a mask selects."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Sessions:
    """Assignments, one row each, all arrays (s,).

    Attributes
    ----------
    assessor, query
        Indices (s,).
    finished
        Whether the session is finished, (s,).
    n
        Number of candidates, (s,).
    k
        Length of the list, 0 where the tool has none, (s,).
    bound
        Most questions the sorter can ask, NaN where not known, (s,).
    """

    assessor: IntArray
    query: IntArray
    finished: BoolArray
    n: IntArray
    k: IntArray
    bound: FloatArray

    @classmethod
    def of(
        cls,
        *,
        assessor: ArrayLike,
        query: ArrayLike,
        n: ArrayLike,
        k: ArrayLike = 0,
        bound: ArrayLike = np.nan,
        finished: ArrayLike = True,
    ) -> Self:
        """Build from anything array-like; single values are spread over all sessions."""
        who = np.asarray(assessor, np.int64)
        spread = (np.broadcast_to(np.asarray(x), who.shape) for x in (finished, n, k, bound))
        done, candidates, wanted, most = spread
        made = cls(
            who,
            np.asarray(query, np.int64),
            done.astype(bool),
            candidates.astype(np.int64),
            wanted.astype(np.int64),
            most.astype(float),
        )
        _check_columns(made)
        return made

    def __len__(self) -> int:
        return int(self.assessor.size)


def _check_columns(table: Timings | Sessions) -> None:
    sizes = {getattr(table, field.name).shape for field in fields(table)}
    if len(sizes) > 1:
        raise BadData(f"columns of {type(table).__name__} differ in length: {sorted(sizes)}")
