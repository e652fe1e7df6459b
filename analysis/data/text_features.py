"""Simple text features of query and documents, for studies without features."""

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise

import numpy as np

from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray

NAMES = (
    "bm25 of text",
    "bm25 of title",
    "query likelihood of text",
    "tf-idf cosine of text",
    "share of query words in text",
    "share of query words in title",
    "query words in order in text",
    "logarithm of length",
)
"""What the columns are."""

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the lower-case words of a text.

    >>> words("Tulips, drooping TULIPS")
    ['tulips', 'drooping', 'tulips']
    """
    return _WORD.findall(text.casefold())


def text_features(query: str, titles: Sequence[str], texts: Sequence[str]) -> FloatArray:
    """Compute features of the candidate documents of one query, (n_documents, 8).

    They are named by ``NAMES``.

    Counts of words over documents come from the candidates themselves; a query or a text without
    words gives 0.
    """
    if len(titles) != len(texts):
        raise BadData(f"{len(titles)} titles but {len(texts)} texts")
    wanted = words(query)
    heads, bodies = [words(title) for title in titles], [words(text) for text in texts]
    sought, neighbours = set(wanted), set(pairwise(wanted))
    columns = [
        bm25(wanted, bodies),
        bm25(wanted, heads),
        query_likelihood(wanted, bodies),
        cosine(wanted, bodies),
        [_share(sought, set(body)) for body in bodies],
        [_share(sought, set(head)) for head in heads],
        [_share(neighbours, set(pairwise(body))) for body in bodies],
        [math.log1p(len(body)) for body in bodies],
    ]
    return np.array(columns, dtype=np.float64).reshape(len(NAMES), len(texts)).T


def bm25(
    query: Sequence[str], documents: Sequence[Sequence[str]], k1: float = 1.2, b: float = 0.75
) -> list[float]:
    """Compute Okapi BM25 [RZ09]_.

    The idf is ln(1 + (N - n + .5) / (n + .5)), which is never negative.
    """
    rarity = _rarity(query, documents)
    mean = sum(map(len, documents)) / max(len(documents), 1)
    scores = []
    for document in documents:
        counts = Counter(document)
        norm = k1 * (1.0 - b + b * len(document) / mean) if mean else k1
        scores.append(
            sum(
                rarity[word] * counts[word] * (k1 + 1.0) / (counts[word] + norm)
                for word in query
                if counts[word]
            )
        )
    return scores


def query_likelihood(
    query: Sequence[str], documents: Sequence[Sequence[str]], mu: float = 100.0
) -> list[float]:
    """Compute the mean log likelihood ratio of query words, with a Dirichlet prior.

    The background is the language of the candidates.

    0 for a document in which the query words are as likely as in all candidates: [ZL04]_.
    """
    everything = Counter(word for document in documents for word in document)
    total = sum(everything.values())
    known = [word for word in query if everything[word]]
    scores = []
    for document in documents:
        counts = Counter(document)
        ratios = [
            (counts[word] / (everything[word] / total) + mu) / (len(document) + mu)
            for word in known
        ]
        scores.append(sum(map(math.log, ratios)) / len(ratios) if ratios else 0.0)
    return scores


def cosine(query: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """Compute the cosine of tf-idf vectors of query and document."""
    vocabulary = {*query, *(word for document in documents for word in document)}
    rarity = _rarity(vocabulary, documents)
    wanted = {word: count * rarity[word] for word, count in Counter(query).items()}
    length = math.sqrt(sum(weight**2 for weight in wanted.values()))
    scores = []
    for document in documents:
        weights = {word: count * rarity[word] for word, count in Counter(document).items()}
        size = length * math.sqrt(sum(weight**2 for weight in weights.values()))
        shared = sum(weight * weights.get(word, 0.0) for word, weight in wanted.items())
        scores.append(shared / size if size else 0.0)
    return scores


def _rarity(
    query: Sequence[str] | set[str], documents: Sequence[Sequence[str]]
) -> dict[str, float]:
    found = Counter(word for document in documents for word in set(document))
    n = len(documents)
    return {word: math.log(1.0 + (n - found[word] + 0.5) / (found[word] + 0.5)) for word in query}


def _share(wanted: Set[object], found: Set[object]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0
