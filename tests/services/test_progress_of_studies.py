from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from tests.assessing import Assessor
from tests.factories import make_assignment, make_study, make_user, queries_of, work_on
from tests.ranked import add_rankings, give_lists
from topkapi.app.db.base import now
from topkapi.app.db.models import Study, User
from topkapi.app.db.queries.progress import Ordered
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.pairs.checks import self_consistency
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.matrix import matrix
from topkapi.app.services.progress.study_progress import PEOPLE_SORTS, QUERY_SORTS

pytestmark = pytest.mark.both


def ordered(sort: str = "name", *, search: str = "", limit: int = 10, offset: int = 0) -> Ordered:
    return Ordered(sort.removeprefix("-"), sort.startswith("-"), search, limit, offset)


@pytest.fixture
def study(session: Session) -> Study:
    """Make a study: Ansa finished one and began one, Bao has two waiting, one is withdrawn."""
    made = make_study(session, queries=3)
    ansa, bao = make_user(session, name="Ansa"), make_user(session, name="Bao")
    at = now()
    work_on(session, made, ansa, 0, answered=30, expected_left=0, active_ms=300_000,
          last_entry_at=at - timedelta(days=3), finished_at=at - timedelta(days=3),
          checks=4, checks_agreed=3)  # fmt: skip
    work_on(session, made, ansa, 1, answered=10, expected_left=20, active_ms=100_000,
          last_entry_at=at - timedelta(hours=1))  # fmt: skip
    work_on(session, made, bao, 1)
    work_on(session, made, bao, 2)
    work_on(session, made, bao, 0, withdrawn_at=at, answered=99, last_entry_at=at, active_ms=1)
    return made


def test_a_study_is_summed_up_without_withdrawn_work(session: Session, study: Study) -> None:
    seen = study_progress.overview(session, study).all
    sums = seen.sums
    assert (sums.assigned, sums.begun, sums.finished, sums.answered) == (4, 2, 1, 40)
    assert seen.ms_per_answer == 10_000
    assert seen.consistency == 0.75
    # Begun work takes (30 + 10 + 20) / 2 = 30 answers each, so the two waiting add 60 to the 20.
    assert seen.left == 80
    assert seen.ms_left == 800_000
    work_on(session, study, make_user(session), 0, round=-1, expected_left=2)
    assert study_progress.overview(session, study).all.left == 82, "adjudications are no measure"


def test_what_is_left_is_unknown_until_something_was_begun(session: Session) -> None:
    study = make_study(session)
    work_on(session, study, make_user(session), 0)
    assert study_progress.overview(session, study).all.left is None


def test_a_study_without_work_has_nothing_to_tell(session: Session) -> None:
    seen = study_progress.overview(session, make_study(session))
    assert (seen.all.sums.assigned, seen.all.ms_per_answer, dict(seen.tools)) == (0, None, {})


def test_people_are_sorted_filtered_and_cut_by_the_database(session: Session, study: Study) -> None:
    seen = study_progress.overview(session, study)
    for sort in PEOPLE_SORTS:
        rows, total = study_progress.people(session, ordered(sort), seen)
        assert (total, {user.name for user, _ in rows}) == (2, {"Ansa", "Bao"})
    rows, _ = study_progress.people(session, ordered("-answered"), seen)
    assert [(user.name, line.sums.answered) for user, line in rows] == [("Ansa", 40), ("Bao", 0)]
    rows, total = study_progress.people(session, ordered(search="BA"), seen)
    assert [(user.name, line.left) for user, line in rows] == [("Bao", 60)]
    rows, total = study_progress.people(session, ordered(limit=1, offset=1), seen)
    assert ([user.name for user, _ in rows], total) == (["Bao"], 2)


def test_every_query_is_listed_with_its_work(session: Session, study: Study) -> None:
    seen = study_progress.overview(session, study)
    for sort in QUERY_SORTS:
        _, total = study_progress.by_query(session, study, ordered(sort), seen)
        assert total == 3
    rows, _ = study_progress.by_query(session, study, ordered("query"), seen)
    found = [(query.name, line.sums.finished, line.sums.assigned) for query, line in rows]
    assert found == [
        ("q0", 1, 1), ("q1", 0, 2), ("q2", 0, 1),
    ]  # fmt: skip


def test_what_is_left_is_estimated_by_tool_in_every_table(session: Session, study: Study) -> None:
    cora = make_user(session, name="Cora")
    work_on(session, study, cora, 0, tool=Tool.GRADES, answered=4, last_entry_at=now())
    work_on(session, study, cora, 1, tool=Tool.GRADES)
    seen, last = study_progress.overview(session, study), ordered("-expected_left")
    assert [line.left for _, line in study_progress.people(session, last, seen)[0]] == [60, 20, 4]
    asked, _ = study_progress.by_query(session, study, last, seen)
    assert [(query.name, line.left) for query, line in asked] == [("q1", 54), ("q2", 30), ("q0", 0)]
    assert seen.all.left == 84


def test_the_matrix_says_how_far_each_piece_is(session: Session, study: Study) -> None:
    rows, _ = study_progress.people(session, ordered(), study_progress.overview(session, study))
    users = [user for user, _ in rows]
    queries = queries_of(session, study)
    add_rankings(session, study)
    bao = next(user for user in users if user.name == "Bao")
    study.settings = replace(study.settings, tools=tuple(Tool))
    give_lists(session, study, queries[1], user=session.get_one(User, bao.id))
    ids = [user.id for user in users], [query.id for query in queries]
    cells = matrix(session, *ids, at=now() + timedelta(days=4))
    notes = {
        (user.name, query.external_id): cells.get((user.id, query.id))
        for user in users
        for query in queries
    }
    shown = {
        key: [(c.tool, c.state, c.note) for c in found] for key, found in notes.items() if found
    }
    assert shown == {
        ("Ansa", "q0"): [(Tool.PAIRS, "done", "done")],
        ("Ansa", "q1"): [(Tool.PAIRS, "late", "idle 4 d")],
        ("Bao", "q1"): [(Tool.PAIRS, "wait", "waiting"), (Tool.LISTS, "wait", "waiting")],
        ("Bao", "q2"): [(Tool.PAIRS, "wait", "waiting")],
    }
    cells = matrix(session, *ids)
    assert cells[users[0].id, queries[1].id][0].note == "33 %"


def test_what_was_finished_last_comes_first(session: Session, study: Study) -> None:
    (last,) = study_progress.latest(session, study_progress.overview(session, study))
    assert (last.person, last.query, last.tool, last.answered) == ("Ansa", "q0", Tool.PAIRS, 30)


def test_someone_much_quicker_than_the_others_is_pointed_at(session: Session, study: Study) -> None:
    quick = make_user(session, name="Dora")
    work_on(session, study, quick, 2, round=1, answered=50, active_ms=50_000, last_entry_at=now())
    seen = study_progress.overview(session, study)
    rows, _ = study_progress.people(session, ordered(), seen)
    assert {user.name: study_progress.is_very_fast(line, seen) for user, line in rows} == {
        "Ansa": False, "Bao": False, "Dora": True,
    }  # fmt: skip


def test_consistency_compares_a_check_with_the_first_answer_sides_swapped() -> None:
    def judged(kind: QuestionKind, left: int, right: int, answer: Answer) -> Judgment:
        return Judgment(kind, left, right, answer)

    sort, check = QuestionKind.SORT, QuestionKind.CHECK
    done = [
        judged(sort, 1, 2, Answer.LEFT),
        judged(sort, 3, 4, Answer.TIE),
        judged(check, 2, 1, Answer.RIGHT),
        judged(check, 4, 3, Answer.LEFT),
        judged(check, 2, 1, Answer.LEFT_BAD),
    ]
    assert self_consistency(done) == (2, 1)


def test_checks_are_summed_up_as_they_are_answered_and_taken_back(session: Session) -> None:
    row = make_assignment(
        session, check_share=0.5, query=queries_of(session, make_study(session, documents=12))[0]
    )
    assessor, checks = Assessor(session, row), 0
    while checks < 2:
        state = assessor.look().state
        assert isinstance(state, Asking)
        is_check = state.question.kind is QuestionKind.CHECK
        checks += is_check
        # A check shows the sides swapped: the same answer again is the other side.
        assessor.answer("right" if is_check else "left")
    assert (row.checks, row.checks_agreed) == (2, 2)
    assessor.step(EntryKind.UNDO)
    assert (row.checks, row.checks_agreed) == (1, 1)
