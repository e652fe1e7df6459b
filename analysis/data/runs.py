"""TREC runs: rankings of another system, scored like those of a model."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.data.letor import read_bytes
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray

MOST_LINE = 4096  # characters; ids are far shorter

Run = dict[str, dict[str, float]]
"""Query -> document -> score, higher is better."""


def read_run(path: str | Path) -> Run:
    r"""Read a TREC run, plain or gzip: query, Q0, document, rank, score, tag.

    Parameters
    ----------
    path
        The file; the rank is not read.

    Returns
    -------
    dict[str, dict[str, float]]
        Score by query and document.

    Raises
    ------
    BadData
        If a line cannot be used; the message names file and line.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w+") as file:
    ...     _ = file.write("q1 Q0 d3 1 2.5 bm25\nq1 Q0 d7 2 1.5 bm25\n")
    ...     file.flush()
    ...     read_run(file.name)
    {'q1': {'d3': 2.5, 'd7': 1.5}}
    """
    run: Run = {}
    for line in run_lines(run_text(read_bytes(path), str(path)), str(path)):
        documents = run.setdefault(line.query, {})
        if line.document in documents:
            raise BadData(f"{line.location}: {_twice(line)}")
        documents[line.document] = line.score
    if not run:
        raise BadData(f"{path}: no lines in the run")
    return run


class RunLine(NamedTuple):
    """A line of a TREC run with single blanks, and its location."""

    location: str
    text: str
    query: str
    document: str
    score: float
    tag: str


def run_lines(text: str, name: str) -> Iterator[RunLine]:
    """Yield the lines of a TREC run; raise BadData with file and line at the first bad one."""
    for number, line in enumerate(_lines(text), start=1):
        location = f"{name}, line {number}"
        if len(line) > MOST_LINE:
            raise BadData(f"{location}: more than {MOST_LINE:,} characters")
        words = line.split()
        if not words:
            continue
        if len(words) != 6:
            raise BadData(f"{location}: {len(words)} columns, a TREC run has 6")
        query, _, document, _, score, tag = words
        yield RunLine(location, " ".join(words), query, document, _finite(score, location), tag)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines one by one: all at once would take as much memory again."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def split_runs(text: str, name: str) -> dict[str, str]:
    """Return the lines of each system (tag) in a file of TREC runs, as text.

    Parameters
    ----------
    text
        Content of the file.
    name
        Name of the file, for messages.

    Raises
    ------
    BadData
        If a line is not of a run, a document is twice in a query's list, or there are no lines.

    Examples
    --------
    >>> list(split_runs("q1 Q0 a 1 2.5 bm25\\nq1 Q0 a 1 .3 dense", "runs.txt"))
    ['bm25', 'dense']
    """
    lines: dict[str, list[str]] = {}
    seen: dict[tuple[str, str], set[str]] = {}
    for line in run_lines(text, name):
        documents = seen.setdefault((line.tag, line.query), set())
        if line.document in documents:
            raise BadData(f"{line.location}: {_twice(line)}")
        documents.add(line.document)
        lines.setdefault(line.tag, []).append(line.text)
    if not lines:
        raise BadData(f"{name}: no lines in the run")
    return {tag: "\n".join(found) + "\n" for tag, found in lines.items()}


def parse_run(text: str) -> Run:
    """Parse the text of one system from :func:`split_runs`, which has checked it."""
    run: Run = {}
    for line in filter(None, text.split("\n")):
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return run


def _twice(line: RunLine) -> str:
    return f"document {line.document} twice for query {line.query}"


def run_text(raw: bytes, name: str) -> str:
    """Decode a run; raise BadData with the line that is not UTF-8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1  # without a mark
        raise BadData(f"{name}, line {line}: not UTF-8 text") from None


def _finite(text: str, location: str) -> float:
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadData(f"{location}: score {text!r} is not a finite number")
    return value


def format_run(data: RankingData, scores: FloatArray, tag: str) -> str:
    """Return the lines of a TREC run, best document first within each query.

    Documents with score -inf were not retrieved and are left out.
    """
    names = data.document_ids or tuple(str(row + 1) for row in range(data.n_rows))
    lines: list[str] = []
    for query in range(data.n_queries):
        start, stop = int(data.offsets[query]), int(data.offsets[query + 1])
        order = start + np.argsort(-scores[start:stop], kind="stable")
        lines.extend(
            f"{data.query_ids[query]} Q0 {names[row]} {rank} {float(scores[row])!r} {tag}\n"
            for rank, row in enumerate(order, start=1)
            if scores[row] > -np.inf
        )
    return "".join(lines)


def run_scores(data: RankingData, run: Run) -> FloatArray:
    """Return the scores of a run for the documents of ``data``, (n_rows,).

    They have 32 bits, as in trec_eval, which orders documents by id where these are equal.
    Documents that the run did not retrieve, all of a query that it lacks among them, have -inf,
    which earns nothing in any measure. Documents of the run that the data lack are left out: use
    ``data_of_judgments`` to have them take their ranks.
    """
    _require_ids(data)
    if not any(query in run for query in data.query_ids):
        raise BadData("the run and the data have no query in common")
    scores: FloatArray = np.empty(data.n_rows)
    for number, query in enumerate(data.query_ids):
        start, stop = data.offsets[number], data.offsets[number + 1]
        found = run.get(query, {})
        scores[start:stop] = [found.get(name, -np.inf) for name in data.document_ids[start:stop]]
    return in_32_bits(scores)


def in_32_bits(scores: ArrayLike) -> FloatArray:
    """Round scores to 32 bits, as trec_eval reads them: those that become equal are a tie."""
    with np.errstate(over="ignore"):
        return np.asarray(scores, dtype=float).astype(np.float32).astype(float)


def judgments_of(data: RankingData) -> dict[str, dict[str, float]]:
    """Return the labels of the documents by query and document id."""
    _require_ids(data)
    return {
        query: {
            data.document_ids[row]: float(data.labels[row])
            for row in range(data.offsets[number], data.offsets[number + 1])
        }
        for number, query in enumerate(data.query_ids)
    }


def _require_ids(data: RankingData) -> None:
    if not data.document_ids:
        raise BadData("the data have no document ids (#docid), so a run cannot be matched")


def data_of_judgments(
    labels: Mapping[str, Mapping[str, float]], run: Run, *, topk: int | None = None
) -> RankingData:
    """Collect judged and retrieved documents of the judged queries, without features.

    Documents that nobody judged have label 0, as in trec_eval; negative labels count as 0. The
    rows of a query are in descending order of their ids, which is how trec_eval breaks ties.
    """
    rows: list[float] = []
    names: list[str] = []
    offsets = [0]
    for query, judged in labels.items():
        documents = sorted({*judged, *run.get(query, {})}, key=str.encode, reverse=True)
        rows.extend(max(float(judged.get(name, 0.0)), 0.0) for name in documents)
        names.extend(documents)
        offsets.append(len(rows))
    features = np.zeros((len(rows), 0))
    return RankingData(
        features, np.array(rows), np.array(offsets), tuple(labels), tuple(names), topk
    )
