"""What a sampled sorter offers, as it is stored: a pair to ask, or the ranking it ended with."""

from collections.abc import Mapping
from typing import Any

from topkapi.app.domain.pairs.confidence import ListConfidence
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step


def step_to_json(step: Step, *, after: int) -> dict[str, Any]:
    """``step`` as reached after so many answers, as a plain dictionary."""
    if isinstance(step, AskPair):
        asked = {"after": after, "pair": list(step.pair)}
        return asked if step.quality is None else {**asked, "quality": step.quality}
    ended = {"after": after, "ranking": [list(items) for items in step.ranking]}
    sure = step.confidence
    return ended if sure is None else {**ended, "confidence": sure.as_json()}


def step_from_json(stored: Mapping[str, Any]) -> tuple[int, Step]:
    """The number of answers and the step that `step_to_json` wrote."""
    if "pair" in stored:
        first, second = stored["pair"]
        return stored["after"], AskPair((first, second), stored.get("quality"))
    sure = stored.get("confidence")
    return stored["after"], Done(
        tuple(tuple(items) for items in stored["ranking"]),
        None if sure is None else ListConfidence.from_json(sure),
    )
