"""The front door of the library: what `import topkapi` gives, in terms of files and names.

Everything here is a short way to functions of the packages beside it, which take arrays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol, get_args

import numpy as np

from topkapi.analysis.aggregation import Method, consensus_lists
from topkapi.analysis.agreement import pair_tables
from topkapi.analysis.data import RankingData, read_pairs, read_qrels
from topkapi.analysis.data.exports import PairAnswer
from topkapi.analysis.data.runs import Run, data_of_judgments, read_run, run_scores
from topkapi.analysis.errors import BadData, unknown_name
from topkapi.analysis.metrics import evaluate as evaluate_data
from topkapi.analysis.models import MODELS
from topkapi.analysis.report import Options, Report, StudyData, build_report
from topkapi.analysis.report.reading.logs import read_log
from topkapi.analysis.report.reading.parts import Parts, Row, study_of
from topkapi.analysis.report.sources import ANSWER_CODES, read_preferences
from topkapi.analysis.report.subjects.agreement import Agreement
from topkapi.analysis.report.subjects.consensus import consensus as consensus_of_tool
from topkapi.analysis.typing import FloatArray

__all__ = [
    "MODELS",
    "agreement",
    "consensus",
    "evaluate",
    "read_pairs",
    "read_run",
    "report",
]


class FrameLike(Protocol):
    """What a pandas DataFrame of answers can do."""

    def itertuples(self, *, index: bool) -> Iterable[Any]:
        """Return the rows, with the names of the columns."""


Answers = str | Path | Sequence[PairAnswer] | FrameLike
"""A file of preferences (`pairs.tsv`, `topk.jsonl`, ...), answers that `read_pairs` gave, or a
pandas DataFrame of them."""
Labels = str | Path | Mapping[str, Mapping[str, float]]
"""A file of TREC qrels, or the labels by query and document."""
_FIELDS = tuple(each.name for each in fields(PairAnswer))


def agreement(answers: Answers) -> Agreement:
    """Compute how far assessors agree.

    Parameters
    ----------
    answers
        A file of preferences, answers that `read_pairs` gave, or a DataFrame of them.

    Returns
    -------
    Agreement
        ``overall``, ``without_ties``, ``cohen_kappa``, ``krippendorff_alpha`` and others, each with
        ``value`` and ``interval``, and the number of shared ``votes``.

    Examples
    --------
    >>> from topkapi.analysis.data.exports import PairAnswer
    >>> ansa = [PairAnswer("q1", "a", "b", "a", "ansa"), PairAnswer("q1", "b", "c", "a", "ansa")]
    >>> bao = [PairAnswer("q1", "a", "b", "a", "bao"), PairAnswer("q1", "b", "c", "b", "bao")]
    >>> found = agreement([*ansa, *bao])
    >>> found.votes, found.overall.value
    (2, 0.5)
    """
    return report(answers).tools[0].agreement


def consensus(
    answers: Answers, k: int | None = None, method: Method | None = None
) -> dict[str, list[str]]:
    """Return one list per query that joins all assessors.

    Parameters
    ----------
    answers
        A file of preferences, answers that `read_pairs` gave, or a DataFrame of them.
    k
        Length of the lists; all documents that anybody preferred if None.
    method
        ``bradley-terry`` or ``supervised-kemeny``; the first where there are raw answers if None.

    Returns
    -------
    dict[str, list[str]]
        Documents of each query, best first.

    Examples
    --------
    >>> from topkapi.analysis.data.exports import PairAnswer
    >>> said = [("a", "b", "a"), ("b", "c", "a"), ("a", "c", "a")]
    >>> consensus([PairAnswer("q1", *each, who) for who in ("ansa", "bao") for each in said], k=2)
    {'q1': ['a', 'b']}
    """
    if k is not None and k < 1:
        raise BadData(f"k must be at least 1, not {k}")
    if method is not None and method not in get_args(Method):
        raise unknown_name("method", method, get_args(Method))
    study = _study(answers)
    tool = study.tools[0]
    preferences = study.preferences(tool)
    found = consensus_of_tool(study, tool, preferences, pair_tables(preferences), method)
    lists = consensus_lists(
        found,
        k=k or max(map(len, study.documents)),
        queries=study.queries,
        documents=study.documents,
        assessors=study.assessors,
    )
    return {each.query: list(each.documents) for each in lists}


def report(answers: Answers, options: Options | None = None) -> Report:
    """Compute every figure of the agreement report.

    Parameters
    ----------
    answers
        A file of preferences, answers that `read_pairs` gave, or a DataFrame of them.
    options
        Resamples, seed and level of the intervals.

    Returns
    -------
    Report
        Figures by tool; ``topkapi.analysis.report.files.write_report`` writes it as a page.

    Examples
    --------
    >>> from topkapi.analysis.data.exports import PairAnswer
    >>> found = report([PairAnswer("q1", "a", "b", "a", who) for who in ("ansa", "bao")])
    >>> found.study.assessors, found.tools[0].agreement.overall.value
    (2, 1.0)
    """
    return build_report(_study(answers), options)


def evaluate(
    truth: RankingData | Labels,
    scores: FloatArray | Sequence[float] | str | Path | Run,
    measures: str | Sequence[str] = ("ndcg@10", "map"),
) -> dict[str, float]:
    """Score a model's predictions, or a TREC run, by any measures.

    Parameters
    ----------
    truth
        Data with labels, or qrels: a file, or labels by query and document.
    scores
        One score per row of the data; for qrels a run: a file, or scores by query and document.
    measures
        Names of measures, such as ``ndcg@10``, ``kappa-err`` or ``rbo:.9``.

    Returns
    -------
    dict[str, float]
        Mean of each measure over the queries.

    Examples
    --------
    >>> evaluate({"q1": {"a": 2, "b": 0}}, {"q1": {"a": 0.3, "b": 0.7}}, ["ndcg@10", "p@1"])
    {'ndcg@10': 0.631, 'p@1': 0.0}
    """
    measures = [measures] if isinstance(measures, str) else list(measures)
    if isinstance(truth, RankingData):
        if isinstance(scores, str | Path | dict):
            scores = run_scores(truth, _run(scores))
        return evaluate_data(truth, np.asarray(scores, dtype=np.float64), measures)
    if not isinstance(scores, str | Path | dict):
        raise BadData("qrels need a run as scores: a file, or scores by query and document")
    run = _run(scores)
    data = data_of_judgments(_labels(truth), run)
    return evaluate_data(data, run_scores(data, run), measures)


def _run(run: str | Path | Run) -> Run:
    return read_run(run) if isinstance(run, str | Path) else run


def _labels(labels: Labels) -> Mapping[str, Mapping[str, float]]:
    if isinstance(labels, Mapping):
        return labels
    found: dict[str, dict[str, float]] = {}
    for each in read_qrels(labels):
        found.setdefault(each.query, {})[each.document] = each.label
    return found


def _study(answers: Answers) -> StudyData:
    if isinstance(answers, str | Path):
        return read_preferences([answers])
    listed = answers if isinstance(answers, Sequence) else _rows(answers)
    rows = [_row(each) for each in listed]
    if not rows:
        raise BadData("there are no answers")
    return study_of(Parts(rows, [], read_log([]), {}), "answers", sides=True)


def _rows(table: FrameLike) -> Iterable[Any]:
    return table.itertuples(index=False) if hasattr(table, "itertuples") else [table]


def _row(answer: Any) -> Row:
    try:
        query, a, b, preference, assessor = (getattr(answer, name) for name in _FIELDS)
    except AttributeError:
        kind = type(answer).__name__
        raise BadData(f"an answer is a PairAnswer with {', '.join(_FIELDS)}, not {kind}") from None
    if preference not in ANSWER_CODES:
        raise BadData(f"query {query}: the preference {preference!r} is not a, b or tie")
    return Row(query, a, b, ANSWER_CODES[preference], assessor)
