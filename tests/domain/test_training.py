"""The rule of training, as properties over whole trainings, and checks of practice questions."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.study import StudySettings
from topkapi.app.domain.training.practice import PracticeQuestion, allowed_answers, check_question
from topkapi.app.domain.training.rules import (
    Step,
    TrainingRecord,
    TrainingRules,
    concluded,
    rules_of,
)

QUALIFIED = st.builds(TrainingRules, needed=st.integers(1, 8), tries=st.integers(1, 5))
RULES = st.one_of(QUALIFIED, st.builds(TrainingRules, tries=st.integers(1, 5)))
TRY = st.lists(st.booleans(), min_size=1, max_size=6)


def play(rules: TrainingRules, tries: list[list[bool]]) -> tuple[TrainingRecord, int]:
    """Answer try after try while practice is open; return the record and the tries begun."""
    record, begun = TrainingRecord(confirmed=True), 0
    for answers in tries:
        if record.step(rules) is not Step.PRACTICE:
            break
        begun += 1
        for number in range(1, len(answers) + 1):
            record = concluded(
                rules, record, agreed=sum(answers[:number]), answered=number, asked=len(answers)
            )
    return record, begun


@given(rules=RULES, tries=st.lists(TRY, max_size=8))
def test_work_opens_exactly_after_the_first_try_that_is_good_enough(
    rules: TrainingRules, tries: list[list[bool]]
) -> None:
    record, begun = play(rules, tries)
    seen = tries[:begun]
    good = [rules.needed is None or sum(t) >= min(rules.needed, len(t)) for t in seen]
    assert record.passed == any(good)
    assert not any(good[:-1])  # nobody practises again after passing
    assert record.failed == good.count(False)


@given(rules=QUALIFIED, tries=st.lists(TRY, min_size=6, max_size=8))
def test_nobody_has_more_tries_than_the_study_allows(
    rules: TrainingRules, tries: list[list[bool]]
) -> None:
    record, begun = play(rules, tries)
    assert begun <= rules.tries
    assume(not record.passed)
    assert record.step(rules) is Step.FAILED
    assert record.tries_left(rules) == 0


@given(rules=QUALIFIED, granted=st.integers(1, 3))
def test_a_granted_try_opens_practice_again(rules: TrainingRules, granted: int) -> None:
    failed = TrainingRecord(confirmed=True, failed=rules.tries)
    assert failed.step(rules) is Step.FAILED
    again = replace(failed, granted=granted)
    assert (again.step(rules), again.tries_left(rules)) == (Step.PRACTICE, granted)


@given(rules=RULES, agreed=st.integers(0, 9), asked=st.integers(1, 9))
def test_an_incomplete_try_changes_nothing(rules: TrainingRules, agreed: int, asked: int) -> None:
    assume(agreed < asked)
    record = TrainingRecord(confirmed=True)
    after = concluded(rules, record, agreed=agreed, answered=asked - 1, asked=asked)
    assert after == record


@given(rules=RULES, asked=st.integers(0, 9))
def test_nothing_is_passed_before_the_guidelines_are_confirmed(
    rules: TrainingRules, asked: int
) -> None:
    record = TrainingRecord()
    assert record.step(rules) is Step.GUIDELINES
    assert concluded(rules, record, agreed=asked, answered=asked, asked=asked) == record


@given(rules=RULES)
def test_without_practice_questions_confirming_is_the_training(rules: TrainingRules) -> None:
    record = TrainingRecord(confirmed=True)
    assert concluded(rules, record, agreed=0, answered=0, asked=0).passed


def question(tool: Tool = Tool.PAIRS, **changes: object) -> PracticeQuestion:
    sides = {
        Tool.PAIRS: (("a",), ("b",), "left"),
        Tool.GRADES: (("a",), (), "good"),
        Tool.LISTS: (("a", "b"), ("b", "a"), "left_much"),
    }
    left, right, answer = sides[tool]
    made = PracticeQuestion(tool, "tulips", "", left, right, (answer,), "Because it helps.")
    return replace(made, **changes)  # type: ignore[arg-type]


EVERYTHING = StudySettings(tools=tuple(Tool))


@pytest.mark.parametrize("tool", Tool)
def test_every_allowed_answer_of_every_tool_is_accepted(tool: Tool) -> None:
    for answer in allowed_answers(EVERYTHING, tool):
        check_question(question(tool, answers=(answer,)), EVERYTHING)


@each_case(
    ("broken", "field"),
    [
        (question(answers=("better",)), "answer"),
        (question(answers=()), "answer"),
        (question(right=("a",)), "right"),
        (question(right=()), "right"),
        (question(query=" "), "query"),
        (question(explanation=""), "explanation"),
        (question(Tool.GRADES, answers=("splendid",)), "answer"),
        (question(Tool.GRADES, right=("b",)), "right"),
        (question(Tool.LISTS, left=("a", "a")), "left"),
    ],
)
def test_a_broken_question_is_refused_by_field(broken: PracticeQuestion, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        check_question(broken, EVERYTHING)
    assert refusal.value.field == field


def test_the_study_must_use_the_tool_and_offer_the_answer() -> None:
    with pytest.raises(Invalid, match="does not use"):
        check_question(question(Tool.GRADES), StudySettings())
    with pytest.raises(Invalid, match="no answer 'tie'"):
        check_question(question(answers=("tie",)), StudySettings(allow_ties=False))


@given(rules=QUALIFIED, failed=st.integers(0, 4))
def test_answers_are_shown_after_the_try_or_when_no_later_one_asks_them(
    rules: TrainingRules, failed: int
) -> None:
    assume(failed < rules.tries)
    record, strict = TrainingRecord(confirmed=True, failed=failed), replace(rules, explains=False)
    is_last = failed == rules.tries - 1
    assert record.shows_answers(rules, record.attempt) == is_last
    assert record.shows_answers(strict, record.attempt) == is_last
    for earlier in range(1, record.attempt):
        assert record.shows_answers(rules, earlier)
        assert not record.shows_answers(strict, earlier)
    assert replace(record, passed=True).shows_answers(strict, record.attempt)


def test_training_settings_are_checked_and_never_frozen() -> None:
    settings = StudySettings(training=True, training_needed=2, training_tries=4)
    assert rules_of(settings) == TrainingRules(2, 4)
    assert rules_of(replace(settings, training_explain=False)) == TrainingRules(2, 4, False)
    assert settings.frozen_settings() == StudySettings().frozen_settings()
    assert StudySettings.from_json(settings.as_json()) == settings
    for wrong in ({"training_needed": 0}, {"training_tries": 0}, {"training_contact": "x" * 301}):
        with pytest.raises(Invalid):
            StudySettings(**wrong)
