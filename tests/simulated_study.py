"""Simulated studies with known error rates, to test the report and to plan a study."""

from collections.abc import Sequence

import numpy as np

from topkapi.analysis.agreement import Judgments, Scores
from topkapi.analysis.efficiency import Sessions, Timings
from topkapi.analysis.lazy import stats
from topkapi.analysis.report.study import StudyData, ToolData
from topkapi.analysis.typing import FloatArray, IntArray

GRADE_SHARES = (0.4, 0.25, 0.18, 0.12, 0.05)  # bad, fair, good, excellent, perfect
CHECKED = 0.1  # share of answers asked again


def rotation(queries: int, assessors: int, rounds: int, shift: int = 0) -> IntArray:
    """Assign queries to assessors in each round, (rounds, queries), shifted by two per round.

    >>> rotation(5, 5, 2).tolist()
    [[0, 1, 2, 3, 4], [3, 4, 0, 1, 2]]
    """
    fold = np.arange(queries) * assessors // queries
    return np.stack([(fold - 2 * r - shift) % assessors for r in range(rounds)])


def noise_of(error: FloatArray) -> FloatArray:
    r"""Return the deviation of score noise that reverses a share ``error`` of random pairs.

    With normal worths and normal noise of deviation :math:`\sigma`, a pair is reversed with
    probability :math:`\arctan(\sigma) / \pi`.

    >>> noise_of(np.array([0.0, 0.25])).round(6).tolist()
    [0.0, 1.0]
    """
    noise: FloatArray = np.tan(np.pi * np.asarray(error, dtype=float))
    return noise


def topk_labels(seen: FloatArray, k: int) -> FloatArray:
    """Return labels k + 1 - rank of the k greatest of each row, 0 elsewhere: (m, n)."""
    rank = np.argsort(np.argsort(-seen, axis=1, kind="stable"), axis=1)
    return np.maximum(k - rank, 0).astype(float)


def grade_labels(seen: FloatArray, spread: FloatArray) -> FloatArray:
    """Return grades 0 to 4 in fixed shares of the scores that each row's assessor sees: (m, n)."""
    cuts = stats.norm.ppf(np.cumsum(GRADE_SHARES)[:-1])
    return np.searchsorted(cuts, seen / spread[:, None]).astype(float)


def simulated_study(
    errors: Sequence[float],
    *,
    queries: int = 50,
    documents: int = 50,
    k: int = 10,
    rounds: int = 2,
    answers: int = 135,
    seed: int = 0,
) -> StudyData:
    """Simulate a study under both tools whose assessors reverse shares ``errors`` of random pairs.

    Parameters
    ----------
    errors
        Share of random pairs that each assessor reverses.
    queries, documents, k
        Sizes of the study.
    rounds
        Number of assessors per query and tool.
    answers
        Raw answers and times per pairs session; 0 leaves both out.
    seed
        Seed of everything random.
    """
    rng = np.random.default_rng(seed)
    noise = noise_of(np.asarray(errors))
    truth = rng.normal(size=(queries, documents))
    tools = []
    for name, title, shift in (("pairs", "T1 pairs", 0), ("grades", "T2 grades", 1)):
        who = np.sort(rotation(queries, noise.size, rounds, shift), axis=0)
        scores = [_labels(rng, q, who[:, q], truth[q], noise, k, name) for q in range(queries)]
        extra = _work(rng, name, who, truth, noise, k, answers) if answers else ToolData("", "")
        tools.append(
            ToolData(
                name, title, tuple(scores), extra.judgments, True, extra.timings, extra.sessions
            )
        )
    ids = tuple(tuple(f"d{d}" for d in range(documents)) for _ in range(queries))
    names = tuple(f"assessor {a + 1}" for a in range(noise.size))
    about = tuple(f"q{q + 1}" for q in range(queries))
    return StudyData("Simulated study", names, about, ids, tuple(tools), k)


def _labels(
    rng: np.random.Generator,
    query: int,
    who: IntArray,
    truth: FloatArray,
    noise: FloatArray,
    k: int,
    tool: str,
) -> Scores:
    seen = truth + noise[who, None] * rng.normal(size=(who.size, truth.size))
    if tool == "pairs":
        return Scores(query, who, topk_labels(seen, k))
    return Scores(query, who, grade_labels(seen, np.hypot(1.0, noise[who])))


def _work(
    rng: np.random.Generator,
    tool: str,
    who: IntArray,
    truth: FloatArray,
    noise: FloatArray,
    k: int,
    answers: int,
) -> ToolData:
    """Simulate sessions and times.

    The pairs tool also gets answers, a share of them repeated.
    """
    rounds, queries = who.shape
    n = truth.shape[1]
    each = answers if tool == "pairs" else n
    session = np.repeat(np.arange(rounds * queries), each)
    position = np.tile(np.arange(each), rounds * queries)
    assessor, query = who.ravel(), np.tile(np.arange(queries), rounds)
    level = (18.0 if tool == "pairs" else 26.0) * rng.lognormal(0, 0.2, noise.size)[assessor]
    pace = 0.8 ** (position / 100) * rng.lognormal(0, 0.5, session.size)
    active = level[session] * pace
    wall = active * np.where(rng.random(session.size) < 0.02, 6.0, 1.05)
    effective = rng.random(session.size) > 0.02
    timings = Timings.of(
        session=session, position=position, active=active, wall=wall, effective=effective
    )
    wanted = k if tool == "pairs" else 0
    sessions = Sessions.of(assessor=assessor, query=query, n=n, k=wanted)
    if tool != "pairs":
        return ToolData("", "", timings=timings, sessions=sessions)
    asked = _answers(rng, assessor[session], query[session], position, truth, noise)
    return ToolData("", "", judgments=asked, timings=timings, sessions=sessions)


def _answers(
    rng: np.random.Generator,
    assessor: IntArray,
    query: IntArray,
    position: IntArray,
    truth: FloatArray,
    noise: FloatArray,
) -> Judgments:
    """Simulate answers to random pairs.

    A tenth repeats the pair ten answers before, sides swapped.
    """
    n = truth.shape[1]
    left = rng.integers(0, n, assessor.size)
    right = (left + rng.integers(1, n, assessor.size)) % n
    check = (position >= 10) & (rng.random(assessor.size) < CHECKED)
    rows = np.flatnonzero(check)
    left[rows], right[rows] = right[rows - 10], left[rows - 10]
    worth = truth[query, left] - truth[query, right]
    seen = worth + noise[assessor] * rng.normal(0, np.sqrt(2), assessor.size)
    answer = np.where(np.abs(seen) < 0.05, 0, np.sign(seen))
    return Judgments.of(
        assessor=assessor,
        query=query,
        left=left,
        right=right,
        answer=answer,
        position=position,
        check=check,
    )
