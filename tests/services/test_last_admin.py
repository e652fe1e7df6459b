from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy.orm import Session

from tests.factories import make_user
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.accounts import users
from topkapi.app.services.accounts.users import lock_active_admins

pytestmark = pytest.mark.both

ROUNDS = 8
Act = Callable[[Session, User], None]


def demote(session: Session, user: User) -> None:
    users.change_role(session, user, Role.ASSESSOR)


def disable(session: Session, user: User) -> None:
    users.disable_user(session, user)


@pytest.mark.parametrize("acts", [(demote, demote), (disable, disable), (demote, disable)])
def test_two_administrators_who_act_on_each_other_at_once_leave_one(
    sessions: Sessions, acts: tuple[Act, Act]
) -> None:
    for _ in range(ROUNDS):
        with sessions.write.begin() as session:
            ids = [make_user(session, role=Role.ADMIN).id for _ in acts]
        together = Barrier(len(acts))

        def attempt(act: Act, user_id: int, together: Barrier = together) -> bool:
            with sessions.read() as session:  # like a request after authentication
                user = session.get_one(User, user_id)
            together.wait()
            try:
                with sessions.write.begin() as session:
                    act(session, session.merge(user, load=False))
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(len(acts)) as pool:
            done = list(pool.map(attempt, acts, ids))
        with sessions.write.begin() as session:
            left = list(lock_active_admins(session))
            assert (sum(done), len(left)) == (1, 1)
            session.get_one(User, left[0]).role = Role.ASSESSOR
