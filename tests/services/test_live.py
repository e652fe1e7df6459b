"""Tests of live sessions: bounded in bytes, evicted in order of use, equal pages stored once."""

import gc
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from topkapi.app.db.queries.judging.labeling import AssignmentKey
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.sessions import SESSIONS
from topkapi.app.services.judging.live_sessions import (
    DocumentHead,
    LiveAssignment,
    LiveSessions,
    QueryHead,
)

CREATED = datetime(2026, 11, 15, tzinfo=UTC)
QUERY = QueryHead(1, 1, "study", "Study", "q", "how to keep tulips", "", "")


def head(number: int) -> DocumentHead:
    """Return a head with texts of usual length, none shared with another page."""
    return DocumentHead(
        number,
        f"document-{number}",
        f"How to keep tulips of kind {number} upright in a vase, and why",
        f"https://flowers.example/tulips/{number}/keeping.html",
        f"{number:064d}",
        f"text/html;{number}",
        f"pages/document-{number}.html",
    )


def key(number: int) -> AssignmentKey:
    return number, CREATED, "digest"


def live_session(
    number: int, *, pages: int = 50, answers: int = 0, tool: Tool = Tool.PAIRS, **plan: Any
) -> LiveAssignment:
    """Return a session after ``answers`` answers, with page heads that it does not share."""
    documents = {each: head(each) for each in range(1000, 1000 + pages)}
    stored = {"order": list(documents), "k": 10, "seed": "s", **plan}
    session = SESSIONS[tool].open(stored)
    for count in range(answers):
        choices = session.choices
        judgment = choices[count % min(2, len(choices))].judgment
        session.append(Entry(EntryKind.ANSWER, judgment))
    ids = {documents[each].name: each for each in documents}
    live = LiveAssignment(key(number), number, 1, tool, stored, session, QUERY, documents, ids, 100)
    live.progress()
    return live


@pytest.mark.thorough
@pytest.mark.parametrize(
    "made",
    [
        {},
        {"answers": 80},
        {"answers": 80, "sorter": "tournament"},
        {"answers": 60, "infer_transitive": True},
        {"pages": 400, "answers": 600, "k": 100},
        {"answers": 20, "sorter": "robust"},
        {"pages": 20, "answers": 10, "sorter": "robust"},
        {"answers": 30, "tool": Tool.GRADES, "grades": ["good", "bad"]},
    ],
)
def test_the_estimated_size_is_near_what_is_allocated(made: dict[str, Any]) -> None:
    live_session(0, **made)  # allocate what is shared: tables, imports
    gc.collect()
    tracemalloc.start()
    try:
        kept = LiveSessions()
        lives = [live_session(number, **made) for number in range(4)]
        for number, live in enumerate(lives):
            for each in live.documents:  # equal pages would be shared
                live.documents[each] = replace(live.documents[each], title=f"Title {number} {each}")
            kept.put(live)
        gc.collect()
        allocated = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert allocated / 1.5 <= kept.size <= allocated * 1.5


def test_the_least_recently_used_go_first() -> None:
    one = live_session(1)
    kept = LiveSessions(capacity=3 * one.size + 40_000)
    for number in (1, 2, 3):
        kept.put(live_session(number))
    again = kept.take(key(1))
    assert again is not None
    kept.put(again)
    kept.put(live_session(4))
    assert [kept.take(key(number)) is not None for number in (1, 2, 3, 4)] == [
        True,
        False,
        True,
        True,
    ]
    assert kept.size == 0


def test_a_session_that_grows_pushes_others_out() -> None:
    kept = LiveSessions(capacity=100_000)
    for number in range(5):
        kept.put(live_session(number))
    before = len(kept)
    kept.put(live_session(9, answers=80))
    assert len(kept) < before
    assert kept.size <= 100_000


def test_finished_sessions_take_a_small_part_of_the_memory() -> None:
    kept = LiveSessions(capacity=16 * 60_000)
    for number in range(40):
        kept.put(live_session(number, pages=5, answers=1, tool=Tool.GRADES, grades=["good", "bad"]))
    working = len(kept)
    for number in range(100, 140):
        kept.put(live_session(number, pages=5, answers=5, tool=Tool.GRADES, grades=["good", "bad"]))
    assert len(kept) < working + 10
    assert all(kept.take(key(number)) for number in range(40))


def test_one_larger_than_all_the_memory_is_not_kept() -> None:
    kept = LiveSessions(capacity=1000)
    kept.put(live_session(1))
    assert (len(kept), kept.size) == (0, 0)


def test_equal_pages_are_kept_once_and_others_are_not_shared() -> None:
    kept = LiveSessions()
    kept.put(live_session(1))
    alone = kept.size
    kept.put(live_session(2))
    assert kept.size - alone < alone / 2
    other = live_session(3)
    other.documents[1000] = replace(other.documents[1000], title="Another title")
    kept.put(other)
    found = [kept.take(key(number)) for number in (1, 2, 3)]
    documents = [each.documents for each in found if each is not None]
    assert documents[0] is documents[1]
    assert documents[2][1000].title == "Another title"
    assert documents[0][1000].title != "Another title"
    assert kept.size == 0
