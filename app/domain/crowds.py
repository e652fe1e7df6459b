"""Crowd platforms: what their links carry, and which worker ids are accepted."""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlsplit

from topkapi.app.domain.draws import draw_integer
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid

NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"  # what MTurk sends while a worker previews a task
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_URL = 1000
Q = TypeVar("Q", bound=Hashable)
Slot = tuple[Q, Tool, int]


class Platform(StrEnum):
    """Where the people of an entry link come from."""

    PROLIFIC = "prolific"
    MTURK = "mturk"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A worker as the platform names them.

    ``session`` identifies one submission. It is known to the worker and the platform only, so it
    proves that the same person returns; it is empty if the platform sends none.
    """

    worker: str
    session: str = ""
    study: str = ""


# The names of the parameters that a platform adds to a link.
PARAMETERS: Mapping[Platform, Arrival] = {
    Platform.PROLIFIC: Arrival("PROLIFIC_PID", "SESSION_ID", "STUDY_ID"),
    Platform.MTURK: Arrival("workerId", "assignmentId", "hitId"),
    Platform.OTHER: Arrival("worker", "session", "study"),
}


def is_preview(platform: Platform, values: Mapping[str, str]) -> bool:
    """Return whether a worker only looks at the task and has not accepted it."""
    return platform is Platform.MTURK and values.get(PARAMETERS[platform].session) == NO_ASSIGNMENT


def arrival_of(platform: Platform, values: Mapping[str, str]) -> Arrival:
    """Return the worker that the parameters of a link name, or raise `Invalid`."""
    names = PARAMETERS[platform]
    arrival = Arrival(
        *(values.get(name, "") for name in (names.worker, names.session, names.study))
    )
    if not arrival.worker:
        raise Invalid(
            f"The address has no worker id ({names.worker}). Open this page with the link on the "
            "platform's page.",
            field=names.worker,
        )
    for name, value in ((names.worker, arrival.worker), (names.session, arrival.session)):
        _refuse_odd(name, value)
    _refuse_odd(names.study, arrival.study)
    return arrival


def _refuse_odd(name: str, value: str) -> None:
    if value and not _ID.fullmatch(value):
        raise Invalid(
            f"{name} is not an id: 1 to 64 letters, digits, dots, hyphens and underscores.",
            field=name,
        )


def checked_redirect(url: str, field: str = "redirect_url") -> str:
    """Return an https address to which people go at the end, or raise `Invalid`."""
    url = url.strip()
    try:
        parts = urlsplit(url)
        valid = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    plain = url.isascii() and url.isprintable() and not any(mark in url for mark in ' "<>\\')
    if not valid or not plain or "@" in urlsplit(url).netloc or len(url) > _LONGEST_URL:
        raise Invalid(
            "Enter an address that begins with https://, without spaces or a password.",
            field=field,
        )
    return url


def next_work(
    queries: Sequence[Q],
    tools: Sequence[Tool],
    *,
    rounds: int,
    taken: Collection[Slot[Q]],
    met: Set[Q],
    count: int,
    seed: str,
) -> list[Slot[Q]]:
    """Return up to ``count`` free slots for one person, each of another query.

    Earlier rounds come first, so that every query is judged once before it is judged twice; the
    person's tools alternate. The order of queries differs between rounds, so that different people
    share queries. ``met`` are queries that the person has met already.
    """
    held = set(taken)
    free = [slot for slot in _slots(queries, tools, rounds) if slot not in held]
    ranks = {slot: draw_integer(seed, "crowd", slot[2], slot[0]) for slot in free}
    seen, used = set(met), Counter[Tool]()
    chosen: list[Slot[Q]] = []
    while len(chosen) < count:
        open_slots = [slot for slot in free if slot[0] not in seen]
        if not open_slots:
            break
        best = min(open_slots, key=lambda slot: (slot[2], used[slot[1]], ranks[slot]))
        chosen.append(best)
        seen.add(best[0])
        used[best[1]] += 1
    return chosen


def _slots(queries: Sequence[Q], tools: Sequence[Tool], rounds: int) -> list[Slot[Q]]:
    return [
        (query, tool, number) for number in range(rounds) for query in queries for tool in tools
    ]
