from datetime import timedelta

import httpx
import pytest

from tests.clients import tight
from tests.factories import Enter, make_assignment, make_study, queries_of
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Tool


@pytest.fixture
def ansa(enter: Enter) -> User:
    return enter()


@pytest.mark.usefixtures("ansa")
def test_an_empty_queue_says_what_will_be_here(client: httpx.Client) -> None:
    page = client.get("/").text
    assert "No work yet" in page
    assert "<table" not in page


def test_one_click_continues(client: httpx.Client, sessions: Sessions, ansa: User) -> None:
    with sessions.write.begin() as session:
        queries = queries_of(session, make_study(session, queries=3))
        works = [make_assignment(session, user=ansa, query=query) for query in queries]
        works[1].answered, works[1].expected_left, works[1].active_ms = 62, 41, 767_000
        works[1].last_entry_at = now() - timedelta(hours=3)
        works[2].finished_at = works[2].last_entry_at = now()
        works[2].answered, works[2].active_ms = 88, 60_000
    page = client.get("/").text
    assert "1 of 3 finished." in page
    before = tight(page).partition("data-enter>Continue")[0]
    assert f'href="/assignments/{works[1].id}"' in before[-80:]
    assert "62 of about 103, about 8 minutes left. Last answer 3 hours ago." in " ".join(
        page.split()
    )
    assert 'width="60.2%"' in page
    rows = page[page.index("<tbody>") :]
    assert f"/assignments/{works[1].id}" not in rows, "shown once"
    assert "01:00" in rows
    shown = ("<svg", ">00:00<", ">Waiting<", ">Finished<")
    assert [rows.count(cell) for cell in shown] == [0, 0, 0, 1]


def test_finished_work_is_said_to_be_finished(
    client: httpx.Client, sessions: Sessions, ansa: User
) -> None:
    with sessions.write.begin() as session:
        work = make_assignment(session, user=ansa)
        work.finished_at = work.last_entry_at = now()
    page = client.get("/").text
    assert "All your work is finished" in page
    assert ">Continue<" not in tight(page)


@pytest.mark.thorough
def test_queries_are_shown_as_text(client: httpx.Client, sessions: Sessions, ansa: User) -> None:
    with sessions.write.begin() as session:
        query = queries_of(session, make_study(session))[0]
        query.text = query.description = "<img src=x onerror=alert(1)>"
        make_assignment(session, user=ansa, query=query)
    assert "<img" not in client.get("/").text


def test_a_long_queue_is_shown_some_at_a_time(
    client: httpx.Client, sessions: Sessions, ansa: User
) -> None:
    with sessions.write.begin() as session:
        queries = queries_of(session, make_study(session, queries=103, documents=1))
        works = [make_assignment(session, user=ansa, query=query) for query in queries]
        works[102].last_entry_at = works[102].finished_at = now()
    first, second = client.get("/").text, client.get("/?page=2").text
    assert first.count('<th scope="row">') == 100
    assert first.count('<th scope="rowgroup"') == 1
    assert "1 to 100 of 102 queries" in first
    assert 'href="/?page=2"' in first
    assert second.count('<th scope="row">') == 2
    assert "1 of 103 finished." in second
    assert f'href="/assignments/{works[102].id}"' in second
    assert "data-enter" in second
    assert client.get("/?page=0").status_code == 422


def test_the_queue_says_what_was_done_today_and_what_is_left(
    client: httpx.Client, sessions: Sessions, ansa: User
) -> None:
    with sessions.write.begin() as session:
        queries = queries_of(session, make_study(session, queries=2))
        work, _ = [make_assignment(session, user=ansa, query=query) for query in queries]
        work.answered, work.expected_left, work.active_ms = 60, 30, 600_000
        work.last_entry_at = now()
    client.cookies.set("topkapi_zone", "nonsense", domain="localhost.local")
    page = client.get("/").text
    assert "About 20 minutes left." in page  # 30 left, and 90 for the one that waits
    with sessions.write.begin() as session:
        make_assignment(session, user=ansa, tool=Tool.GRADES)
    client.cookies.set("topkapi_zone", "-600", domain="localhost.local")
    page = client.get("/").text
    assert "0 of 3 finished. About 20 minutes for 2 queries; no estimate yet for 1." in tight(page)
