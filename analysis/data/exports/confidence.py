"""``confidence.jsonl``: the final list of an assessor, and the most probable one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from topkapi.analysis.data.exports.codec import Names, Numbers, Ranks, json_lines, read_json_lines
from topkapi.analysis.data.exports.rounds import InRound


@dataclass(frozen=True, slots=True)
class ConfidenceList(InRound):
    """Confidence in the list of one assessor for one query.

    ``ranking`` is the list that the assessor's sorter concluded, as in ``topk.jsonl``; ``probable``
    the list that is most probable if some of the ``answers`` are wrong. ``ranking_quality`` and
    ``probable_quality`` are their expected kappa-NDCG at ``k``, ``error_rate`` is the estimated
    share of wrong answers. To each of ``documents`` (probable ones first, then by chance) belong
    ``in_top``, its chance to be in the top k, and the ranks ``low`` to ``high`` (1 = best) that
    nine in ten orders give it; pages with less than one chance in a thousand are left out.
    ``expected_kappa_ndcg`` and ``expected_overlap`` are the expected measures of ``ranking`` at
    ``k``: the mean and the ends of the central 90 % interval; empty in files of older versions.
    If a ranker's scores helped to choose the questions, ``ranking`` follows from the answers alone;
    the qualities and ``probable`` count the scores, and ``expected_without_prior`` is the expected
    kappa-NDCG of ``ranking`` without them.
    """

    study: str
    query: str
    assessor: str
    round: int
    k: int
    sorter: str
    answers: int
    error_rate: float
    ranking: Names
    ranking_quality: float
    probable: Names
    probable_quality: float
    documents: Names
    in_top: Numbers
    low: Ranks
    high: Ranks
    expected_kappa_ndcg: Numbers = ()
    expected_overlap: Numbers = ()
    expected_without_prior: Numbers = ()


def confidence_lines(records: Iterable[ConfidenceList]) -> Iterator[str]:
    """Yield the lines of ``confidence.jsonl``."""
    return json_lines(records)


def read_confidence(path: str | Path) -> list[ConfidenceList]:
    """Read ``confidence.jsonl``, plain or gzip."""
    return read_json_lines(path, ConfidenceList)
