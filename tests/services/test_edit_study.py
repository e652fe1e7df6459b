"""Tests of editing a study: settings are frozen once work was made from them."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.models import AuditEvent, Study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.study import Grade, StudySettings
from topkapi.app.services.studies.edit_study import change_study, version_of


@pytest.fixture
def study(session: Session) -> Study:
    return make_study(session, slug="tulips", k=3)


def acts(session: Session) -> list[tuple[str, dict[str, Any]]]:
    session.flush()
    rows = session.scalars(select(AuditEvent).order_by(AuditEvent.id))
    return [(row.action, row.detail) for row in rows]


def assign(session: Session, study: Study) -> None:
    make_assignment(session, query=queries_of(session, study)[0])


def test_anything_changes_while_nothing_is_assigned(session: Session, study: Study) -> None:
    actor = make_user(session)
    changed = change_study(
        session,
        study,
        name="  Cut  tulips ",
        guidelines="# Look\r\nTwice.",
        settings={"k": 5, "tools": ["grades", "pairs"], "budget": None, "check_share": 1},
        actor_id=actor.id,
    )
    assert changed
    assert (study.name, study.guidelines) == ("Cut tulips", "# Look\nTwice.")
    expected = StudySettings(k=5, tools=(Tool.PAIRS, Tool.GRADES), check_share=1.0)
    assert study.settings == expected
    (settings, detail), (guidelines, sizes) = acts(session)
    assert (settings, guidelines) == ("study.settings", "study.guidelines")
    assert detail == {
        "k": "3 to 5",
        "tools": "pairs to pairs/grades",
        "check_share": "0.0 to 1.0",
        "name": "'Study tulips' to 'Cut tulips'",
    }
    assert sizes == {"characters": 13, "characters_before": 27}


def test_no_change_leaves_no_trace(session: Session, study: Study) -> None:
    assert not change_study(session, study, name=study.name, settings={"k": 3})
    assert acts(session) == []


def test_what_assigned_work_was_made_from_stays(session: Session, study: Study) -> None:
    assign(session, study)
    before = version_of(study)
    with pytest.raises(Conflict, match="depends on k, sorter, and all assessors of a study"):
        change_study(session, study, name="Other", settings={"k": 4, "sorter": "tournament"})
    names = [grade.name for grade in StudySettings().grades]
    with pytest.raises(Conflict, match="depends on grades"):
        change_study(session, study, settings={"grades": names[:4]})
    assert version_of(study) == before
    assert acts(session) == []


def test_the_rest_changes_at_any_time(session: Session, study: Study) -> None:
    assign(session, study)
    explained = [{"name": g.name, "description": "when"} for g in StudySettings().grades]
    change_study(
        session,
        study,
        name="Other",
        guidelines="New.",
        settings={"idle_seconds": 60, "grades": explained, "k": 3},
    )
    found = study.settings
    assert (study.name, study.guidelines, found.idle_seconds) == ("Other", "New.", 60)
    assert found.grades[0] == Grade("bad", "when")
    assert acts(session)[0][1]["grades"] == "descriptions changed"


def test_withdrawn_work_fixes_nothing(session: Session, study: Study) -> None:
    row = make_assignment(session, query=queries_of(session, study)[0])
    row.withdrawn_at = row.created_at
    session.flush()
    assert change_study(session, study, settings={"k": 4})


def test_a_change_made_meanwhile_is_not_overwritten(session: Session, study: Study) -> None:
    seen = version_of(study)
    change_study(session, study, guidelines="Theirs.", seen=seen)
    with pytest.raises(Conflict, match="Someone else"):
        change_study(session, study, guidelines="Mine.", seen=seen)
    assert study.guidelines == "Theirs."


@each_case(
    ("given", "field", "message"),
    [
        ({"name": "  "}, "name", "1 to 300 printable"),
        ({"name": "a\x07b"}, "name", "printable characters"),
        ({"guidelines": "a\0b"}, "guidelines", "NUL"),
        ({"guidelines": "a" * 200_001}, "guidelines", "the maximum is 200,000"),
        ({"settings": {"k": "3"}}, "k", "Use a whole number"),
        ({"settings": {"k": True}}, "k", "Use a whole number"),
        ({"settings": {"k": 0}}, "k", "from 1 to 1000"),
        ({"settings": {"k": None}}, "k", "Use a whole number"),
        ({"settings": {"colour": 1}}, "colour", "no setting 'colour'. The settings are k, tools"),
        ({"settings": {"tools": ["T1"]}}, "tools", "Choose from 'pairs', 'grades', 'lists'"),
        ({"settings": {"tools": []}}, "tools", "one or more tools"),
        ({"settings": {"sorter": "bubble"}}, "sorter", "it can be heap"),
        ({"settings": {"grades": ["good", "good"]}}, "grades", "all different"),
        ({"settings": {"grades": ["good", {"title": "x"}]}}, "grades", "has a name"),
        ({"settings": {"grades": ["", "good"]}}, "grades", "The value is empty"),
        ({"settings": {"idle_seconds": 5}}, "idle_seconds", "from 10 to 3600"),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    session: Session, study: Study, given: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(Invalid, match=message) as refused:
        change_study(session, study, **given)
    assert refused.value.field == field
    assert acts(session) == []
