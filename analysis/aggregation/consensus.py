"""One list per query from several assessors, and their departures from it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from topkapi.analysis.aggregation.bradley_terry import bradley_terry, pair_counts
from topkapi.analysis.agreement.preferences import BETTER, WORSE, QueryVotes
from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.data.exports import ConsensusList
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray
from topkapi.analysis.voting import borda_order, kemeny_order, local_kemenization

Method = Literal["bradley-terry", "supervised-kemeny"]
BRADLEY_TERRY: Method = "bradley-terry"
KEMENY: Method = "supervised-kemeny"
METHODS: tuple[Method, ...] = (BRADLEY_TERRY, KEMENY)


@dataclass(frozen=True, slots=True)
class Consensus:
    """The consensus of one query.

    Attributes
    ----------
    query
        Index of the query.
    order
        Documents (n,), best first.
    backed
        Whether each document may enter the first k, (n,).
    stated
        Preferences of the assessors that are held against it.
    weights
        Weight of each assessor, (m,).
    method
        How the order was found.
    """

    query: int
    order: IntArray
    backed: BoolArray
    stated: QueryVotes
    weights: FloatArray
    method: Method = KEMENY

    @property
    def assessors(self) -> IntArray:
        """Indices of the assessors, (m,)."""
        return self.stated.assessors

    def top(self, k: int) -> IntArray:
        """Return the first ``k`` documents that may enter."""
        return self.order[self.backed[self.order]][:k]

    def labels(self, k: int) -> IntArray:
        """Return label k + 1 - rank of the first ``k`` documents, 0 of the others: (n,)."""
        labels = np.zeros(self.order.size, dtype=np.int64)
        top = self.top(k)
        labels[top] = k - np.arange(top.size)
        return labels

    def departures(self, k: int) -> FloatArray:
        """Return the share of each assessor's preferences that the list of k reverses: (m,).

        The list has no order of documents outside it. NaN for an assessor who only tied.
        """
        labels, votes = self.labels(k), self.stated.votes
        ahead = labels[self.stated.first] - labels[self.stated.second]
        against = ((votes == BETTER) & (ahead < 0)) | ((votes == WORSE) & (ahead > 0))
        preferred = (votes == BETTER) | (votes == WORSE)
        return ratio(against.sum(axis=1), preferred.sum(axis=1))


def consensus_of(block: QueryVotes, n_documents: int, weights: FloatArray) -> Consensus:
    """Compute the supervised Kemeny consensus of one query, starting from Borda's order.

    In the votes of a top-k ground truth every document of the list beats every one outside, so
    these pairs count.

    Parameters
    ----------
    block
        Votes on the query.
    n_documents
        Number of documents.
    weights
        Weights (n_assessors,) of the whole study; NaN is replaced by the mean of the others, or 1.

    Examples
    --------
    >>> from topkapi.analysis.agreement import Scores, from_scores
    >>> lists = Scores(0, np.array([0, 1, 2]), np.array([[2.0, 1, 0], [2, 0, 1], [1, 2, 0]]))
    >>> found = consensus_of(from_scores([lists], 3, 1).blocks[0], 3, np.ones(3))
    >>> found.order.tolist(), found.departures(3).tolist(), found.labels(2).tolist()
    ([0, 1, 2], [0.0, 0.333, 0.333], [2, 1, 0])
    """
    shares = known_weights(weights)[block.assessors]
    better, worse = shares @ (block.votes == BETTER), shares @ (block.votes == WORSE)
    votes = _table(block, better, worse, n_documents)
    order = kemeny_order(votes, borda_order(votes))
    return Consensus(block.query, order, votes.sum(axis=1) > 0, block, shares)


def bradley_terry_consensus(
    block: QueryVotes, n_documents: int, *, lists: QueryVotes | None = None
) -> Consensus:
    """Order the documents of one query by their Bradley-Terry worths, then kemenize locally.

    The worths explain all votes, and order documents that were never compared. A majority of the
    votes on two neighbours says more about these two, and turns them around. Every vote weighs the
    same. Documents that are in nobody's list cannot enter the first k; without lists, those behind
    the last document that anybody preferred to anything cannot.

    Parameters
    ----------
    block
        Votes on the query: answers, or what lists say of pairs with a document in the list.
    n_documents
        Number of documents.
    lists
        Votes that the finished lists imply, if ``block`` has answers: departures are theirs.

    Examples
    --------
    >>> from topkapi.analysis.agreement import Judgments, from_judgments
    >>> ends = {"left": [0, 1, 0], "right": [1, 2, 2], "answer": [1, 1, 1]}
    >>> asked = Judgments.of(assessor=[0, 0, 1], query=[0] * 3, **ends)
    >>> bradley_terry_consensus(from_judgments(asked, 2, 1).blocks[0], 3).order.tolist()
    [0, 1, 2]
    """
    counts = pair_counts(block)
    worth = bradley_terry(counts, n_documents).worth
    by_worth = np.argsort(-worth.round(9), kind="stable")
    votes = _table(block, counts.better, counts.worse, n_documents)
    order = local_kemenization(votes, by_worth)
    shown = block if lists is None else lists
    if lists is None:
        backed = np.empty(n_documents, dtype=bool)
        backed[order] = np.logical_or.accumulate((votes.sum(axis=1) > 0)[order[::-1]])[::-1]
    else:
        listed = pair_counts(lists)
        backed = _table(lists, listed.better, listed.worse, n_documents).sum(axis=1) > 0
    weights = np.ones(shown.assessors.size)
    return Consensus(block.query, order, backed, shown, weights, BRADLEY_TERRY)


def _table(
    block: QueryVotes, better: FloatArray, worse: FloatArray, n_documents: int
) -> FloatArray:
    """Return the votes (n, n) that row is better than column."""
    votes = np.zeros((n_documents, n_documents))
    votes[block.first, block.second] = better
    votes[block.second, block.first] = worse
    return votes


def known_weights(weights: FloatArray) -> FloatArray:
    """Replace unknown weights by the mean of the known ones.

    Every weight is 1 if none is known.

    Parameters
    ----------
    weights
        Weights, NaN where unknown.
    """
    known = weights[~np.isnan(weights)]
    mean = float(known.mean()) if known.size else 1.0
    filled = np.where(np.isnan(weights), mean, weights)
    return filled if filled.sum() > 0 else np.ones_like(filled)


def consensus_lists(
    found: Iterable[Consensus],
    *,
    k: int,
    queries: Sequence[str],
    documents: Sequence[Sequence[str]],
    assessors: Sequence[str],
) -> Iterator[ConsensusList]:
    """Yield the records of ``consensus.jsonl``, one per query, ids instead of indices.

    Parameters
    ----------
    found
        Consensus of each query.
    k
        Length of the lists.
    queries, assessors
        Ids by index.
    documents
        Ids of the documents of each query by index.
    """
    for order in found:
        names = documents[order.query]
        yield ConsensusList(
            query=queries[order.query],
            k=k,
            documents=tuple(names[d] for d in order.top(k).tolist()),
            rest=tuple(names[d] for d in np.flatnonzero(order.labels(k) == 0).tolist()),
            assessors=tuple(assessors[a] for a in order.assessors.tolist()),
            weights=tuple(round(float(w), 6) for w in order.weights),
            departures=tuple(
                None if np.isnan(d) else round(float(d), 6) for d in order.departures(k)
            ),
            method=order.method,
        )


def consensus_qrels(lists: Iterable[ConsensusList]) -> Iterator[str]:
    """Yield TREC qrels lines of consensus lists: label k + 1 - rank in a list, 0 outside.

    Blanks separate the columns, so blanks within an id become underscores.

    Parameters
    ----------
    lists
        Consensus lists.
    """
    for each in lists:
        for document, label in each.labels().items():
            yield f"{_word(each.query)} 0 {_word(document)} {label}"


def _word(name: str) -> str:
    return "_".join(name.split())
