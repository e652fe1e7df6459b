"""Generator of LETOR files of the shape of MSLR-WEB30K, for `bench.large_data`.

136 features: 25 kinds (counts, ratios, lengths, values that are constant in a query, tf-idf sums,
booleans, BM25-like and negative likelihood scores), each over five parts of a page, then eleven of
the page itself. Some parts of pages are missing, which makes features sparse. Grades 0 to 4 have
MSLR's shares and depend on hidden worths that the features show with noise. Numbers are formatted
by table, six decimals as in MSLR.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from topkapi.analysis.typing import FloatArray, IntArray

STREAMS = 5
KINDS = "crnq" + "cccvv" + "ttttt" + "wwwww" + "b" + "r" + "s" + "mmm"
PAGE = "ccnnnnnnkkk"
CODES = np.array(list("".join(kind * STREAMS for kind in KINDS) + PAGE))
SHOWN: dict[str, Callable[[FloatArray], FloatArray]] = {
    "c": lambda x: np.rint(np.exp(0.8 * x)),  # term counts
    "r": lambda x: np.rint(4.0 / (1.0 + np.exp(-2.0 * x))) / 4.0,  # shares of covered terms
    "n": lambda x: np.minimum(np.rint(np.exp(5.0 + 1.2 * x)), 99_999.0),  # lengths, links
    "q": lambda x: 8.0 + 3.0 * np.tanh(x),  # inverse document frequency
    "v": lambda x: np.minimum(np.exp(1.0 + 1.8 * x), 9_999.0),  # variances
    "t": lambda x: 0.05 * np.exp(x - 1.0),  # normalised counts
    "w": lambda x: 12.0 * np.log1p(np.exp(x)),  # tf-idf sums
    "b": lambda x: (x > 0.0).astype(float),
    "s": lambda x: 12.0 * np.log1p(np.exp(x)),  # BM25
    "m": lambda x: -10.0 + 2.0 * x,  # log likelihoods
    "k": lambda x: np.maximum(np.rint(np.exp(2.0 * x) - 4.0), 0.0),  # clicks, mostly 0
}
"""How a hidden worth is shown by a feature of each kind."""
MISSING = np.array([0.03, 0.6, 0.05, 0.35, 0.0])  # body, anchor, title, URL, whole page
SHARES = np.array([0.52, 0.845, 0.975, 0.993])  # cumulative, of grades 0 to 3
PARTS = {"train": 0.6, "vali": 0.2, "test": 0.2}
MEAN, WIDEST = 120, 900
_BATCH = 150  # queries formatted at a time
_CELL = np.dtype([("name", "S5"), ("sign", "S1"), ("whole", "S7"), ("dot", "S1"), ("end", "S6")])
_WHOLE = np.array([str(number) for number in range(1_000_000)], dtype="S7")
_END = np.array([f"{number:06d}" for number in range(1_000_000)], dtype="S6")


def write_fold(folder: Path, n_queries: int, seed: int = 0) -> dict[str, int]:
    """Write Fold1 with train, vali and test; return the number of documents of each."""
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.lognormal(np.log(MEAN) - 0.14, 0.6, n_queries), 2, WIDEST).astype(int)
    cuts = _grade_cuts(np.random.default_rng(seed + 1))
    (folder / "Fold1").mkdir(parents=True, exist_ok=True)
    documents, first = {}, 0
    for part, share in PARTS.items():
        last = first + round(share * n_queries)
        with (folder / "Fold1" / f"{part}.txt").open("wb") as stream:
            for start in range(first, last, _BATCH):
                chosen = np.arange(start, min(start + _BATCH, last))
                stream.write(_text(chosen, sizes[chosen], cuts, rng))
        documents[part], first = int(sizes[first:last].sum()), last
    return documents


def _text(queries: IntArray, sizes: IntArray, cuts: FloatArray, rng: np.random.Generator) -> bytes:
    owner = np.repeat(np.arange(queries.size), sizes)
    streams = _streams(owner, rng)
    labels = np.digitize(_worth(streams, rng), cuts)
    values = _values(owner, streams, rng)
    heads = [f"{y} qid:{q + 1}" for y, q in zip(labels, queries[owner], strict=True)]
    return _lines(np.array(heads, dtype="S24"), values)


def _streams(owner: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw the hidden worth of each part of each page, and of the page, (n, 6)."""
    query = rng.normal(size=(owner[-1] + 1, STREAMS + 1))
    page = rng.normal(size=(owner.size, 1))
    own = rng.normal(size=(owner.size, STREAMS + 1))
    streams: FloatArray = 0.6 * page + 0.6 * own + 0.5 * query[owner]
    return streams


def _worth(streams: FloatArray, rng: np.random.Generator) -> FloatArray:
    body, title, page = streams[:, 0], streams[:, 2], streams[:, STREAMS]
    worth: FloatArray = 0.5 * body + 0.4 * title + 0.4 * page + 0.5 * np.tanh(body * title)
    worth += 0.9 * rng.normal(size=worth.size)
    return worth


def _grade_cuts(rng: np.random.Generator) -> FloatArray:
    streams = _streams(np.repeat(np.arange(2000), 50), rng)
    cuts: FloatArray = np.quantile(_worth(streams, rng), SHARES)
    return cuts


def _values(owner: IntArray, streams: FloatArray, rng: np.random.Generator) -> IntArray:
    """Compute features in millionths, (n, 136)."""
    part = np.append(np.arange(STREAMS * len(KINDS)) % STREAMS, np.full(len(PAGE), STREAMS))
    noise = rng.normal(size=(owner.size, CODES.size))
    hidden = 0.8 * streams[:, part] + 0.6 * noise
    constant = rng.normal(size=(owner[-1] + 1, CODES.size))
    values = np.empty(hidden.shape)
    for code in np.unique(CODES):
        at = code == CODES
        values[:, at] = SHOWN[code](constant[owner][:, at] if code == "q" else hidden[:, at])
    gone = rng.random((owner.size, STREAMS)) < MISSING
    values[:, : part.size - len(PAGE)] *= ~np.tile(gone, len(KINDS))
    return np.rint(values * 1e6).astype(np.int64)


def _lines(heads: np.ndarray[tuple[int], np.dtype[np.bytes_]], values: IntArray) -> bytes:
    """Format LETOR lines: cells of fixed width, padded by zero bytes that are then dropped."""
    cells = np.zeros(values.shape, dtype=_CELL)
    whole, end = np.divmod(np.abs(values), 1_000_000)
    cells["name"] = [f" {number}:" for number in range(1, values.shape[1] + 1)]
    cells["sign"] = np.where(values < 0, b"-", b"")
    cells["whole"] = _WHOLE[whole]
    cells["dot"] = np.where(end > 0, b".", b"")
    cells["end"] = np.where(end > 0, _END[end], b"")
    parts = [("head", "S24"), ("cells", _CELL, values.shape[1]), ("stop", "S1")]
    lines = np.zeros(values.shape[0], dtype=parts)
    lines["head"], lines["cells"], lines["stop"] = heads, cells, b"\n"
    flat = lines.view(np.uint8)
    return flat[flat > 0].tobytes()
