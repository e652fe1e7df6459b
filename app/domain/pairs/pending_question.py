"""What a sampled sorter offers, as it is stored: a pair to ask, or the ranking it ended with."""

from collections.abc import Mapping
from typing import Any

from app.domain.pairs.confidence import Confidence
from app.domain.pairs.strategy import Ends, Needs, Stage


def stage_to_json(stage: Stage, *, after: int) -> dict[str, Any]:
    """``stage`` as reached after so many answers, as a plain dictionary."""
    if isinstance(stage, Needs):
        asked = {"after": after, "pair": list(stage.pair)}
        return asked if stage.quality is None else {**asked, "quality": stage.quality}
    ended = {"after": after, "ranking": [list(items) for items in stage.ranking]}
    sure = stage.confidence
    return ended if sure is None else {**ended, "confidence": sure.as_json()}


def stage_from_json(stored: Mapping[str, Any]) -> tuple[int, Stage]:
    """The number of answers and the stage that `stage_to_json` wrote."""
    if "pair" in stored:
        first, second = stored["pair"]
        return stored["after"], Needs((first, second), stored.get("quality"))
    sure = stored.get("confidence")
    return stored["after"], Ends(
        tuple(tuple(items) for items in stored["ranking"]),
        None if sure is None else Confidence.from_json(sure),
    )
