"""Tests of the prefetch: predicted states are correct, and prefetching has no side effects."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from tests.services.test_labeling import AssignedWork
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, TimerEvent
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import StaleForm
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.answers import Answer, Judgment
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Asking, PairSession
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.states import AssignmentState

pytestmark = pytest.mark.both

CHOICES = st.lists(st.sampled_from([*Answer, "undo", "redo"]), max_size=25)


def play(session: PairSession, choice: Answer | str) -> None:
    """Append one more entry if it is possible."""
    if choice == "undo" and session.can_undo:
        session.append(Entry(EntryKind.UNDO))
    elif choice == "redo" and session.can_redo:
        session.append(Entry(EntryKind.REDO))
    elif isinstance(choice, Answer) and isinstance(session.state, Asking):
        asked = session.state.question
        judgment = Judgment(asked.kind, asked.left, asked.right, choice)
        session.append(Entry(EntryKind.ANSWER, judgment))


def look_of(session: PairSession) -> tuple[Any, ...]:
    return (
        session.state,
        session.length,
        session.effective,
        session.can_redo,
        frozenset(session.seen),
        session.progress,
    )


@pytest.mark.thorough
@given(
    before=CHOICES,
    after=CHOICES,
    sorter=st.sampled_from(["heap", "heap-bottom-up", "tournament", "insertion", "buckets"]),
    rules=st.fixed_dictionaries(
        {
            "check_share": st.sampled_from([0.0, 0.5]),
            "reuse_answers": st.booleans(),
            "infer_transitive": st.booleans(),
            "best_of": st.sampled_from([1, 3]),
            "recheck": st.sampled_from([0, 2]),
        }
    ),
)
@settings(max_examples=120)
def test_a_fork_goes_the_same_way_and_leaves_its_origin_alone(
    before: list[Answer | str], after: list[Answer | str], sorter: str, rules: dict[str, Any]
) -> None:
    plan = Plan(order=tuple(range(5)), k=3, sorter=sorter, **rules)
    session = PairSession(plan)
    for choice in before:
        play(session, choice)
    origin = look_of(session)
    twin = session.fork()
    assert look_of(twin) == origin
    for choice in after:
        play(twin, choice)
    assert look_of(session) == origin
    for choice in after:
        play(session, choice)
    assert look_of(session) == look_of(twin)


class Looker(AssignedWork):
    """Work of which the next questions are looked at, and which is answered with words."""

    def peek(self, position: int, *, deep: bool = False) -> dict[str, AssignmentState]:
        with self.sessions.read.begin() as session:  # a read-only transaction
            found = labeling.peek(session, self.live, position=position, deep=deep, **self.who)
        return {word: assignment_state for words, assignment_state in found for word in words}

    def say(self, word: str) -> AssignmentState:
        now_open = self.look()
        names = [now_open.documents[number].name for number in now_open.state.shown]
        if word in ("undo", "redo"):
            submission = Submission(now_open.position, EntryKind(word))
        elif len(names) == 1:
            submission = Submission(
                now_open.position, answer=SubmittedAnswer(word, document=names[0])
            )
        else:
            answer = SubmittedAnswer(word, left=names[0], right=names[1])
            submission = Submission(now_open.position, answer=answer)
        return self.submit(submission)

    def stored(self) -> tuple[Any, ...]:
        with self.sessions.read.begin() as session:
            row = session.get_one(Assignment, self.assignment_id)
            counts = [session.scalar(select(func.count(t.id))) for t in (JudgmentRow, TimerEvent)]
            return row.answered, row.active_ms, row.last_entry_at, row.finished_at, *counts


def essence(assignment_state: AssignmentState) -> tuple[Any, ...]:
    """Return everything that the screen shows of an assignment state."""
    return (
        assignment_state.position,
        assignment_state.state.shown,
        assignment_state.new,
        assignment_state.progress,
        assignment_state.scale,
        assignment_state.can_undo,
        assignment_state.can_redo,
        assignment_state.finished,
    )


@given(
    words=st.lists(st.integers(0, 100), min_size=1, max_size=12), share=st.sampled_from([0, 0.4])
)
@settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
def test_what_is_foretold_comes(sessions: Sessions, words: list[int], share: float) -> None:
    looker = Looker(sessions, check_share=share)
    for number in words:
        before, stored = looker.look(), looker.stored()
        foretold = looker.peek(before.position)
        assert looker.stored() == stored
        assert essence(looker.look()) == essence(before)
        if not foretold:
            break
        word = sorted(foretold)[number % len(foretold)]
        assert essence(looker.say(word)) == essence(foretold[word])


@pytest.mark.parametrize(
    ("tool", "words", "depth"),
    [(Tool.PAIRS, ("left", "tie", "right"), 2), (Tool.GRADES, ("good", "bad"), 4)],
)
def test_what_is_foretold_further_ahead_comes(
    sessions: Sessions, tool: Tool, words: tuple[str, ...], depth: int
) -> None:
    looker = Looker(sessions, tool=tool)
    looker.say("left" if tool is Tool.PAIRS else "good")
    possible, level = looker.peek(1, deep=True), 0
    while possible:
        word = words[level % len(words)]
        foretold = possible[word]
        assert essence(looker.say(word)) == essence(foretold)
        possible = {name: state for names, state in foretold.ahead for name in names}
        level += 1
    assert level == depth


def test_every_answer_of_a_pair_is_foretold(sessions: Sessions) -> None:
    looker = Looker(sessions)
    assert set(looker.peek(0)) == {answer.value for answer in Answer}
    looker.say("left")
    assert "undo" in looker.peek(1)
    looker.say("undo")
    assert {"redo"} <= set(looker.peek(2))
    assert "undo" not in looker.peek(2)


def test_a_sampled_sorter_foretells_only_what_is_frequent(sessions: Sessions) -> None:
    looker = Looker(sessions, sorter="robust")
    looker.say("left")
    foretold = looker.peek(1)
    assert set(foretold) == {"left", "right", "tie"}
    assert essence(looker.say("tie")) == essence(foretold["tie"])
    assert looker.peek(2, deep=True) == {}


def test_answers_a_study_does_not_offer_are_not_foretold(sessions: Sessions) -> None:
    looker = Looker(sessions, allow_ties=False, allow_bad=False)
    assert set(looker.peek(0)) == {"left", "right", "left_unjudgeable", "right_unjudgeable"}


def test_every_grade_leads_to_the_next_page(sessions: Sessions) -> None:
    looker = Looker(sessions, tool=Tool.GRADES)
    foretold = looker.peek(0)
    assert len({assignment_state.state.shown for assignment_state in foretold.values()}) == 1
    assert essence(looker.say("good")) == essence(foretold["perfect"])


def test_a_position_that_is_not_open_is_refused(sessions: Sessions) -> None:
    looker = Looker(sessions)
    looker.say("left")
    for position in (0, 2):
        with pytest.raises(StaleForm):
            looker.peek(position)
