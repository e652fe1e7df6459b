"""The exports in JSON Lines: a record and a reader each; `json_lines` writes them all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from topkapi.analysis.data.exports.codec import (
    Groups,
    InRound,
    Names,
    Numbers,
    Ranks,
    Shares,
    read_json_lines,
)


@dataclass(frozen=True, slots=True)
class TopK(InRound):
    """The top-k list of one assessor for one query.

    ``ranking`` is T, best first; ``groups`` are its ties (the last may reach beyond it); ``rest``
    and ``bad`` together are F. Of the ``unjudgeable`` pages nothing is known: they have no label.
    While ``complete`` is false there is no ranking yet and every page that is still open is in
    ``rest``. ``answered`` counts the effective answers, ``entries`` everything in the log; the
    times include undone answers.
    """

    study: str
    query: str
    assessor: str
    round: int
    complete: bool
    k: int
    ranking: Names
    groups: Groups
    rest: Names
    bad: Names
    unjudgeable: Names
    sorter: str
    sorter_version: int
    seed: str
    options: Mapping[str, Any]
    answered: int
    entries: int
    active_ms: int
    wall_ms: int
    begun_at: datetime | None
    finished_at: datetime | None

    def labels(self) -> dict[str, int]:
        """Return label k + 1 - rank of pages in T, 0 of those in F ([NGLC12]_, section 3.2.1)."""
        found = dict.fromkeys((*self.ranking, *self.rest, *self.bad), 0)
        for rank, document in enumerate(self.ranking, start=1):
            found[document] = self.k + 1 - rank
        return found


def read_topk(path: str | Path, *, complete_only: bool = False) -> list[TopK]:
    """Read ``topk.jsonl``, plain or gzip.

    Parameters
    ----------
    path
        Plain or gzip file.
    complete_only
        Whether to leave out unfinished sessions.
    """
    found = read_json_lines(path, TopK)
    return [each for each in found if each.complete] if complete_only else found


@dataclass(frozen=True, slots=True)
class ConsensusList:
    """The consensus of a query.

    ``documents`` is T, best first, at most ``k``; ``rest`` is F. ``weights`` and ``departures``
    belong to ``assessors``: how much a vote counted, and the share of the assessor's preferences
    that the list reverses (None for one who only tied).
    """

    query: str
    k: int
    documents: Names
    rest: Names
    assessors: Names
    weights: Numbers
    departures: Shares
    method: str
    study: str = ""

    def labels(self) -> dict[str, int]:
        """Return label k + 1 - rank of the pages in T, 0 of those in F ([NGLC12]_, section 3.2.1).

        >>> ConsensusList("q", 3, ("d", "a"), ("b",), (), (), (), "supervised-kemeny").labels()
        {'d': 3, 'a': 2, 'b': 0}
        """
        found = {document: self.k - rank for rank, document in enumerate(self.documents)}
        return found | dict.fromkeys(self.rest, 0)


def read_consensus(path: str | Path) -> list[ConsensusList]:
    """Read ``consensus.jsonl``, plain or gzip; also the lists that ``topkapi report`` writes."""
    return read_json_lines(path, ConsensusList)


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


def read_confidence(path: str | Path) -> list[ConfidenceList]:
    """Read ``confidence.jsonl``, plain or gzip."""
    return read_json_lines(path, ConfidenceList)


@dataclass(frozen=True, slots=True)
class MemberReliability:
    """How one assessor errs, as the teams of a study show it.

    ``lapse`` (the share of answers that have nothing to do with the pages), ``width`` (how far
    apart pages must be, in standard deviations of their scores, before they are rarely confused)
    and ``tie_width`` (how close they are when called equal) are each the mean and the ends of the
    central 90 % interval. ``error_rate`` is the mean error over random pairs; ``random`` says that
    the person seems to answer at random.
    """

    study: str
    assessor: str
    answers: int
    error_rate: float
    random: bool
    lapse: Numbers
    width: Numbers
    tie_width: Numbers


def read_reliability(path: str | Path) -> list[MemberReliability]:
    """Read ``reliability.jsonl``, plain or gzip."""
    return read_json_lines(path, MemberReliability)


_KNOWN = {
    "tool": ("pairs", "grades", "lists"),
    "entry": ("answer", "undo", "redo"),
    "kind": ("sort", "check", "attention"),
}
_SIDES = [f"{side}{what}" for what in ("", "_bad", "_unjudgeable") for side in ("left", "right")]
PAIR_ANSWERS = (*_SIDES, "tie")


@dataclass(frozen=True, slots=True)
class LoggedEntry(InRound):
    """One entry of a session's log.

    ``entry`` is answer, undo or redo; undo and redo carry no question. ``kind`` is sort,
    check or attention; ``left`` and ``right`` are the pages as shown on the screen (pairs),
    ``document`` the page that was graded (grades). ``effective``: the answer is not
    undone at the end of the log; ``withdrawn``: an administrator withdrew the session, or voided
    it when it was finished (``void``).
    """

    study: str
    query: str
    assessor: str
    tool: str
    round: int
    withdrawn: bool
    void: bool = field(default=False, kw_only=True)  # files of version 0.2.0 have none
    position: int
    entry: str
    kind: str | None
    left: str | None
    right: str | None
    document: str | None
    answer: str | None
    effective: bool
    active_ms: int
    wall_ms: int
    note: str | None
    at: datetime


def read_judgments(path: str | Path) -> list[LoggedEntry]:
    """Read ``judgments.jsonl``, plain or gzip."""
    return read_json_lines(path, LoggedEntry, _fault)


def _fault(entry: LoggedEntry) -> str | None:
    """Return what is wrong with an entry, as no study writes it."""
    for name, known in _KNOWN.items():
        if (value := getattr(entry, name)) is not None and value not in known:
            return f"{name} is {value!r}, not one of {', '.join(known)}"
    if min(entry.active_ms, entry.wall_ms) < 0:
        return "active_ms or wall_ms is negative"
    if entry.entry != "answer":
        return None if entry.position else f"the first entry of a log is not an {entry.entry}"
    if entry.tool == "grades":
        return "document is null" if entry.document is None else None
    if entry.tool == "lists" or entry.kind == "attention":
        return None
    if entry.answer not in PAIR_ANSWERS:
        return f"answer is {entry.answer!r}, not one of {', '.join(PAIR_ANSWERS)}"
    if entry.left is None or entry.right is None:
        return "left or right is null"
    same = entry.left == entry.right
    return f"left and right are one document, {entry.left!r}" if same else None


@dataclass(frozen=True, slots=True)
class ListJudgment(InRound):
    """Two rankings as shown on the screen, best page first, and the answer.

    ``answer`` is left_much, left, same, right or right_much; the systems made the rankings.
    """

    query: str
    left: Names
    right: Names
    answer: str
    left_system: str
    right_system: str
    assessor: str
    round: int
    active_ms: int


def read_list_answers(path: str | Path) -> list[ListJudgment]:
    """Read ``lists.jsonl``, plain or gzip."""
    return read_json_lines(path, ListJudgment)


@dataclass(frozen=True, slots=True)
class PreferencePair:
    """One preference with its texts: the query, the page preferred, and the other one."""

    prompt: str
    chosen: str
    rejected: str
    query: str
    chosen_id: str
    rejected_id: str
    assessor: str


def read_preferences(path: str | Path) -> list[PreferencePair]:
    """Read ``preferences.jsonl``, plain or gzip."""
    return read_json_lines(path, PreferencePair)


@dataclass(frozen=True, slots=True)
class CallRecord(InRound):
    """A request about the question at ``position`` of a session, as `MachineCall` stores it."""

    query: str
    assessor: str
    tool: str
    round: int
    position: int
    order: str
    repeat: int
    prompt_number: int
    was_cut: bool
    model: str
    version: str
    form: str
    answer: str | None
    confidence: float | None
    reply: str
    problem: str
    tokens_in: int
    tokens_out: int
    latency_ms: int
    requests: int
    claimed_at: datetime
    finished_at: datetime | None
    unreported: int = 0


def read_calls(path: str | Path) -> list[CallRecord]:
    """Read ``calls.jsonl``, plain or gzip."""
    return read_json_lines(path, CallRecord)
