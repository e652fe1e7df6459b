"""Forks of a session: their cost."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs import sorter_run
from topkapi.app.domain.pairs.answers import Answer, Judgment, Preference
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Asking, PairSession
from topkapi.app.domain.pairs.sorters.heap import heap
from topkapi.app.domain.pairs.sorters.registry import SORTERS


def answered(session: PairSession, count: int, answer: Answer = Answer.LEFT) -> PairSession:
    """Return the session after ``count`` equal answers."""
    for _ in range(count):
        assert isinstance(session.state, Asking)
        asked = session.state.question
        judgment = Judgment(asked.kind, asked.left, asked.right, answer)
        session.append(Entry(EntryKind.ANSWER, judgment))
    return session


class Counted:
    """Counts how often a heap sorter was started and how often the memory was queried."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started = self.asked = 0
        known = sorter_run.Memory.known
        monkeypatch.setitem(SORTERS, "heap", replace(SORTERS["heap"], sort=self._sort))

        def counted(memory: sorter_run.Memory, pair: Any) -> Preference | None:
            self.asked += 1
            return known(memory, pair)

        monkeypatch.setattr(sorter_run.Memory, "known", counted)

    def _sort(self, items: Sequence[int], k: int) -> Generator[Any, Any, Any]:
        self.started += 1
        return heap(items, k)


def test_a_fork_does_not_query_its_memory_for_past_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    session = answered(PairSession(Plan(order=tuple(range(50)), k=10, seed="s")), 60)
    counted = Counted(monkeypatch)
    twin = session.fork()
    assert (counted.started, counted.asked) == (0, 0)
    answered(twin, 1)
    assert counted.started == 1
    assert counted.asked <= 4  # the current pair, and those that the answer leads to


def test_a_fork_that_loses_a_page_starts_one_sorter(monkeypatch: pytest.MonkeyPatch) -> None:
    session = answered(PairSession(Plan(order=tuple(range(50)), k=10, seed="s")), 60)
    counted = Counted(monkeypatch)
    answered(session.fork(), 1, Answer.LEFT_BAD)
    assert counted.started == 1
