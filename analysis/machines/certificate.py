"""Certificates: which machine was compared with people, on what, and with which result."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from topkapi.analysis.errors import BadData
from topkapi.analysis.machines.alternative import AlternativeTest

FORMAT = "topkapi-certificate-1"
GOOD_PEOPLE, GOOD_QUERIES = 3, 50
Verdict = Literal["may replace a person", "not shown"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Result of the alternative annotator test, bound to what was tested.

    Attributes
    ----------
    question
        What the machine answered, such as ``pairs``, ``grades`` or ``lists``.
    model, prompt, data, program
        Versions as given: name, digest or both.
    issued
        Date, as given.
    people, queries, items
        What was compared.
    verdict
        Whether the machine may replace a person, or this was not shown.
    limits
        What the verdict does not say, in sentences.
    test
        The whole result.
    """

    question: str
    model: str
    prompt: str
    data: str
    program: str
    issued: str
    people: int
    queries: int
    items: int
    verdict: Verdict
    limits: tuple[str, ...]
    test: AlternativeTest

    def to_json(self) -> str:
        """Return the certificate as JSON text."""
        record = {"format": FORMAT, **asdict(self)}
        return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def certificate(
    test: AlternativeTest, *, question: str, versions: Mapping[str, str], issued: str
) -> Certificate:
    """Issue a certificate for a result of the test over queries.

    Parameters
    ----------
    test
        Result of ``alternative_annotator_test``.
    question
        What the machine answered: ``pairs``, ``grades`` or ``lists``.
    versions
        Versions of ``model``, ``prompt``, ``data`` and ``program``.
    issued
        Date.

    Raises
    ------
    BadData
        If a version is missing, or items were the units of the test.
    """
    if test.unit != "queries":
        raise BadData("a certificate needs the test over queries, not over items")
    named = {name: versions.get(name, "") for name in ("model", "prompt", "data", "program")}
    if missing := [name for name, value in named.items() if not value]:
        raise BadData(f"a certificate needs the version of: {', '.join(missing)}")
    return Certificate(
        question=question,
        **named,
        issued=issued,
        people=len(test.people),
        queries=test.queries,
        items=test.items,
        verdict="may replace a person" if test.approved else "not shown",
        limits=tuple(_limits(test)),
        test=test,
    )


def _limits(test: AlternativeTest) -> list[str]:
    """Return what the verdict does not say."""
    limits = [
        "It holds for this model, prompt, guidelines and kind of query, and for people like these; "
        "after a change of any of them, test again.",
        f"A person may be closer to the others on {test.epsilon:.0%} more of the items than the "
        "machine, and the machine still counts as good enough.",
        "It compares the machine with one person, not with the consensus of several, and says "
        "nothing about systems that use the same model.",
    ]
    if not test.approved:
        limits.append(
            "Not shown does not mean that the machine is worse: with more queries or people the "
            "same machine may pass."
        )
    if len(test.people) < GOOD_PEOPLE:
        limits.append(
            f"Only {len(test.people)} people were compared; at least {GOOD_PEOPLE} are recommended."
        )
    if test.queries < GOOD_QUERIES:
        limits.append(
            f"Only {test.queries} queries were compared; at least {GOOD_QUERIES} are recommended."
        )
    if test.left_out:
        limits.append(f"{len(test.left_out)} people shared too few queries and were left out.")
    return limits
