"""Sessions that start from a stored prior of the assessor's errors, and those of old versions."""

import pytest

from tests.domain.people import answer_once, truthful
from topkapi.app.domain.log import answer
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.error_prior import CELLS, LAPSES, ErrorPrior
from topkapi.app.domain.pairs.robust.strategy import RobustStrategy
from topkapi.app.domain.pairs.session import PairSession
from topkapi.app.domain.pairs.strategy import CELLS as STORED_CELLS

PRIOR = ErrorPrior.of([0.0 if number < LAPSES.size else -8.0 for number in range(CELLS)]).logs
MEANS = [[-2.0, -1.0], [4.0, 4.0]]


def test_the_prior_is_stored_with_the_question_and_recalled() -> None:
    plan = Plan(tuple(range(8)), 3, "robust", 3, budget=9, seed="p")
    person = truthful({item: float(item) for item in plan.order})
    session = PairSession(plan)
    assert session.awaits_prior
    session.use_prior(PRIOR)
    for _ in range(4):
        assert answer_once(session, person)
    log = [*map(answer, session.effective)]
    offered = session.pending_question
    assert offered is not None
    assert offered["prior"] == list(PRIOR)
    resumed = PairSession(plan, log, offered)
    assert not resumed.awaits_prior
    for each in (session, resumed):
        assert isinstance(each.strategy, RobustStrategy)
        assert answer_once(each, person)
    assert session.state == resumed.state
    assert session.pending_question == resumed.pending_question
    plain = PairSession(plan, log)
    assert answer_once(plain, person)
    assert plain.pending_question != session.pending_question, "the prior matters"


@pytest.mark.parametrize(
    ("version", "prior"), [(1, MEANS), (2, MEANS), (3, [-3.7] * 42)], ids=["1", "2", "old grid"]
)
def test_an_open_session_of_an_old_version_continues_with_its_stored_question(
    version: int, prior: list[object]
) -> None:
    assert STORED_CELLS == CELLS
    plan = Plan(tuple(range(8)), 3, "robust", version, budget=9, seed="v1")
    person = truthful({item: float(item) for item in plan.order})
    session = PairSession(plan)
    for _ in range(3):
        assert answer_once(session, person)
    log = [*map(answer, session.effective)]
    stored = {"after": 3, "pair": [6, 1], "prior": prior}  # of that version
    resumed = PairSession(plan, log, stored)
    assert {resumed.state.question.left, resumed.state.question.right} == {1, 6}  # type: ignore[union-attr]
    for _ in range(6):
        assert answer_once(resumed, person)
    assert resumed.state.confidence is not None  # type: ignore[union-attr]


def test_a_finished_session_of_version_1_keeps_its_list() -> None:
    plan = Plan(tuple(range(5)), 2, "robust", 1, budget=2, seed="v1")
    person = truthful({item: float(item) for item in plan.order})
    session = PairSession(plan)
    for _ in range(2):
        assert answer_once(session, person)
    log = [*map(answer, session.effective)]
    old = {"ranking": [3, 0], "quality": 0.6, "concluded_quality": 0.6, "error_rate": 0.1}
    stored = {
        "after": 2,
        "ranking": [[3], [0]],
        "confidence": {**old, "answers": 2, "pages": [[3, 0.5, 1, 4]]},
    }
    state = PairSession(plan, log, stored).state
    assert state.result.ranking == (3, 0)  # type: ignore[union-attr]
    assert state.confidence.overlap is None  # type: ignore[union-attr]
