"""Stored form of a sampled sorter's next step: a pair to ask, or the final ranking."""

from collections.abc import Mapping
from typing import Any

from topkapi.app.domain.pairs.confidence import ErrorModel, ListConfidence
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step

EVIDENCE = "evidence_1"  # key of the evidence about errors; another grid of models gets another one


def step_to_json(step: Step, *, after: int) -> dict[str, Any]:
    """Return ``step``, reached after ``after`` answers, as a plain dictionary."""
    if isinstance(step, AskPair):
        asked = {"after": after, "pair": list(step.pair)}
        return asked if step.quality is None else {**asked, "quality": step.quality}
    ended: dict[str, Any] = {"after": after, "ranking": [list(items) for items in step.ranking]}
    if step.removed is not None:
        ended["removed"] = [list(items) for items in step.removed]
    if step.confidence is not None:
        ended["confidence"] = step.confidence.as_json()
    return ended


def prior_in(stored: Mapping[str, Any] | None) -> ErrorModel | None:
    """Return the prior of the assessor's errors that is stored with a step, if any."""
    found = (stored or {}).get("prior")
    return None if found is None else (tuple(found[0]), tuple(found[1]))


def step_from_json(stored: Mapping[str, Any]) -> tuple[int, Step]:
    """Read the number of answers and the step that `step_to_json` wrote."""
    if "pair" in stored:
        first, second = stored["pair"]
        return stored["after"], AskPair((first, second), stored.get("quality"))
    confidence, removed = stored.get("confidence"), stored.get("removed")
    return stored["after"], Done(
        tuple(tuple(items) for items in stored["ranking"]),
        None if confidence is None else ListConfidence.from_json(confidence),
        None if removed is None else (tuple(removed[0]), tuple(removed[1])),
    )
