"""Researchers are given studies, and lose them; each change is recorded once."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.factories import make_study, make_user
from topkapi.app.db.models import AuditEvent, StudyAccess
from topkapi.app.db.queries.studies.studies import researchers_of, study_of_slug
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.accounts import users
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.services.studies.lifecycle import set_access


def test_access_is_given_and_taken_and_recorded_once(session: Session) -> None:
    study, other = make_study(session, slug="tulips"), make_study(session, slug="roses")
    rosa = make_user(session, role=Role.RESEARCHER, reads=False)
    for given in (True, True, False, False, True):
        set_access(session, study, rosa, given=given)
        assert (rosa in researchers_of(session, study.id)) is given
        assert (study_of_slug(session, "tulips", rosa.id) is study) is given
        assert study_of_slug(session, other.slug, rosa.id) is None
    found = session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()
    assert [(each.action, each.subject, each.detail) for each in found] == [
        (f"study.{verb}_access", "tulips", {"person": rosa.email})
        for verb in ("give", "take", "give")
    ]


@pytest.mark.parametrize("role", [Role.ADMIN, Role.ASSESSOR])
def test_only_researchers_are_given_studies(session: Session, role: Role) -> None:
    user = make_user(session, role=role)
    with pytest.raises(Conflict, match="is not a researcher"):
        set_access(session, make_study(session), user, given=True)


@pytest.mark.parametrize("how", ["another role", "the same role", "erased"])
def test_who_is_no_researcher_any_more_loses_the_studies(session: Session, how: str) -> None:
    make_study(session)
    rosa = make_user(session, role=Role.RESEARCHER)
    if how == "erased":
        erase_user(session, rosa)
    else:
        users.change_role(session, rosa, Role.RESEARCHER if "same" in how else Role.ASSESSOR)
    kept = session.scalars(select(StudyAccess)).all()
    assert bool(kept) is (how == "the same role")
