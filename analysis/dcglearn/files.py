"""Readers of list preferences and of the grades of their documents.

Preferences are JSON Lines, one pair of lists each::

    {"query": "q1", "left": ["d1", "d2"], "right": ["d2", "d3"], "answer": "left_much"}

with documents best first and one of the five answers. Grades come from a qrels file (``query 0
document grade``) or from a tab-separated file ``query TAB document TAB score``, whose scores are
cut into grades. Without grades, ``left`` and ``right`` hold the grades themselves.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topkapi.analysis.dcglearn.preferences import ANSWERS, UNGRADED, ListPreferences
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray

Scores = dict[tuple[str, str], float]


@dataclass(frozen=True)
class ListPair:
    """One line of a file of preferences."""

    query: str
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    answer: int


def read_list_preferences(path: str | Path) -> list[ListPair]:
    """Read pairs of lists with answers; every refusal names file and line."""
    pairs = []
    for number, line in _lines(path):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadData(f"{path}, line {number}: not JSON: {error}") from None
        pairs.append(_pair(row, f"{path}, line {number}"))
    if not pairs:
        raise BadData(f"{path}: no preferences in the file")
    return pairs


def read_scores(path: str | Path) -> Scores:
    """Read ``query 0 document grade`` (qrels) or ``query TAB document TAB score``."""
    scores: Scores = {}
    for number, line in _lines(path):
        fields = line.rstrip("\n").split("\t") if "\t" in line else line.split()
        if len(fields) == 4:
            fields = [fields[0], fields[2], fields[3]]
        if len(fields) != 3:
            raise BadData(f"{path}, line {number}: {len(fields)} fields, not 3 or 4")
        try:
            score = float(fields[2])
        except ValueError:
            raise BadData(f"{path}, line {number}: {fields[2]!r} is not a number") from None
        if not np.isfinite(score):
            raise BadData(f"{path}, line {number}: {fields[2]} is not a finite number")
        if (fields[0], fields[1]) in scores:
            raise BadData(f"{path}, line {number}: {fields[0]} {fields[1]} appears twice")
        scores[fields[0], fields[1]] = score
    return scores


def even_cuts(scores: FloatArray, n_grades: int) -> list[float]:
    """Choose cuts that put about as many scores into each grade.

    >>> even_cuts(np.arange(1.0, 9.0), 4)
    [2.75, 4.5, 6.25]
    """
    if n_grades < 2:
        raise BadData(f"at least 2 grades are needed, not {n_grades}")
    cuts = np.unique(np.quantile(scores, np.arange(1, n_grades) / n_grades))
    if cuts.size < n_grades - 1:
        raise BadData(f"too few distinct scores for {n_grades} grades")
    return [float(cut) for cut in cuts]


def cut_scores(scores: Scores, cuts: Sequence[float]) -> Scores:
    """Grade scores from 0 to len(cuts) by how many cuts they have reached.

    >>> cut_scores({("q", "a"): 50.0, ("q", "b"): 20.0}, [20.0, 60.0])
    {('q', 'a'): 1.0, ('q', 'b'): 1.0}
    """
    if list(cuts) != sorted(set(cuts)):
        raise BadData("cuts must increase")
    return {key: float(np.searchsorted(cuts, value, side="right")) for key, value in scores.items()}


def graded_preferences(
    pairs: Sequence[ListPair],
    grades: Scores | None,
    *,
    k: int,
    n_grades: int | None = None,
) -> ListPreferences:
    """Join pairs with grades; a document without one counts as the worst and is counted.

    Without ``n_grades`` the best grade found is the best there is.
    """
    lists = [[_graded(pair, side, grades) for pair in pairs] for side in ("left", "right")]
    top = max((grade for side in lists for row in side for grade in row), default=0)
    known = max(grades.values(), default=0.0) if grades else 0.0
    return ListPreferences.of_lists(
        lists[0],
        lists[1],
        [pair.answer for pair in pairs],
        n_grades=n_grades or max(int(known), top) + 1,
        k=k,
    )


def _graded(pair: ListPair, side: str, grades: Scores | None) -> list[int]:
    found: list[int] = []
    for document in getattr(pair, side):
        value = document if grades is None else grades.get((pair.query, str(document)), UNGRADED)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            hint = "give the grades of documents" if grades is None else "cut scores into grades"
            raise BadData(f"query {pair.query}: {value!r} is not a whole grade: {hint}")
        found.append(max(int(value), UNGRADED))
    return found


def _pair(row: Any, where: str) -> ListPair:
    if not isinstance(row, dict):
        raise BadData(f"{where}: not an object")
    for name in ("query", "left", "right", "answer"):
        if name not in row:
            raise BadData(f'{where}: "{name}" is missing')
    for side in ("left", "right"):
        if not isinstance(row[side], list):
            raise BadData(f'{where}: "{side}" must be a list of documents, best first')
    if row["answer"] not in ANSWERS:
        raise BadData(f"{where}: answer {row['answer']!r} is not one of {', '.join(ANSWERS)}")
    return ListPair(
        str(row["query"]), tuple(row["left"]), tuple(row["right"]), ANSWERS[row["answer"]]
    )


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    opened = gzip.open if str(path).endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise BadData(f"{path}: not readable text: {error}") from None
