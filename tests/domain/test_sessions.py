"""What every tool's session provides to the services, through the base class alone."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.analysis.data.exports.records import PAIR_ANSWERS
from topkapi.analysis.dcglearn import ANSWERS
from topkapi.analysis.report.subjects.lists import ANSWER_NAMES as NAMES
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid, NothingToRedo, NothingToUndo
from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.log import Entry, EntryKind, answer, fold, stacks
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.session import AnySession, SubmittedAnswer
from topkapi.app.domain.sessions import SESSIONS, read_log

PAGES = {f"page {number}": number for number in range(1, 6)}
LISTS = [
    {"id": 11, "system": "a", "documents": [1, 2, 3]},
    {"id": 12, "system": "b", "documents": [3, 2, 1]},
    {"id": 13, "system": "c", "documents": [4, 5, 1]},
]
PLANS: Mapping[Tool, dict[str, Any]] = {
    Tool.PAIRS: {"order": [1, 2, 3, 4, 5], "k": 2, "seed": "s", "check_share": 0.5},
    Tool.GRADES: {"order": [1, 2, 3, 4, 5], "grades": ["bad", "good"], "seed": "s"},
    Tool.LISTS: {
        "lists": LISTS,
        "pairs": [[11, 12], [11, 13], [12, 13]],
        "size": 3,
        "choice": "all",
        "repeats": False,
        "seed": "s",
    },
}
EMPTY = dict.fromkeys(
    ("question_kind", "left_id", "right_id", "left_ranking_id", "right_ranking_id", "answer")
)


def submitted(judgment: Any, names: Mapping[int, str]) -> SubmittedAnswer:
    """Return the judgment as a person would submit it."""
    if hasattr(judgment, "grade"):
        return SubmittedAnswer(judgment.grade, document=names[judgment.document])
    return SubmittedAnswer(
        judgment.answer.value, left=names[judgment.left], right=names[judgment.right]
    )


def first_judgment(session: AnySession) -> Any:
    return session.choices[0].judgment


@pytest.mark.parametrize("tool", Tool)
def test_a_session_is_judged_to_its_end_through_the_base_class(tool: Tool) -> None:
    session = SESSIONS[tool].open(PLANS[tool])
    ids = session.list_ids or PAGES
    names = {number: name for name, number in ids.items()}
    rows = []
    while session.state.shown:
        assert session.progress.expected_left > 0
        judgment = first_judgment(session)
        given = submitted(judgment, names)
        assert session.judgment(given, ids) == judgment
        assert session.matches(judgment, given, ids)
        rows.append(SimpleNamespace(entry=EntryKind.ANSWER, **(EMPTY | session.columns(judgment))))
        session.append(answer(judgment))
    assert session.choices == ()
    assert session.progress.expected_left == 0
    again = SESSIONS[tool].open(PLANS[tool])
    again.extend(read_log(tool, rows))
    assert (again.state, again.effective) == (session.state, session.effective)


@pytest.mark.parametrize("tool", Tool)
@given(kinds=st.lists(st.sampled_from(EntryKind), max_size=12))
def test_a_session_undoes_and_redoes_as_the_fold_of_its_log(
    tool: Tool, kinds: list[EntryKind]
) -> None:
    session, log = SESSIONS[tool].open(PLANS[tool]), []
    for kind in kinds:
        if kind is EntryKind.ANSWER and not session.state.shown:
            continue
        entry = answer(first_judgment(session)) if kind is EntryKind.ANSWER else Entry(kind)
        try:
            session.append(entry)
        except (NothingToUndo, NothingToRedo):
            continue
        log.append(entry)
    done, undone = stacks(log)
    assert list(session.effective) == done
    assert (session.can_undo, session.can_redo) == (bool(done), bool(undone))


def test_undo_or_redo_of_nothing_is_refused() -> None:
    with pytest.raises(NothingToUndo):
        fold([(EntryKind.UNDO, None)])
    with pytest.raises(NothingToRedo):
        fold(
            [
                (EntryKind.ANSWER, 1),
                (EntryKind.UNDO, None),
                (EntryKind.ANSWER, 2),
                (EntryKind.REDO, None),
            ]
        )


def test_the_report_knows_all_answers_and_names_those_about_lists_as_their_buttons_do() -> None:
    assert set(PAIR_ANSWERS) == set(Answer)
    assert {answer.value: answer.label for answer in ListAnswer} == NAMES
    assert [answer.value for answer in ListAnswer] == list(ANSWERS)


def test_a_page_that_cannot_be_judged_has_no_grade_of_that_name() -> None:
    with pytest.raises(Invalid, match="cannot be the name of a grade"):
        SESSIONS[Tool.GRADES].open({"order": [1, 2], "grades": ["good", UNJUDGEABLE], "seed": "s"})
