import io
import json
import re
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.cases import each_case
from tests.clients import tight
from tests.factories import BOTH, Enter, make_study, make_user, sign_in
from tests.judging import job_of, judge_to_the_end
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Study, User
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments.bulk import void

S = "/studies/tulips"


@pytest.fixture
def admin(sessions: Sessions, enter: Enter) -> User:
    """Create a study of four queries and two tools, and sign in an administrator."""
    with sessions.write.begin() as session:
        make_study(session, slug="tulips", queries=4, documents=5, k=2, tools=BOTH)
    return enter(role=Role.ADMIN, name="Maren Oduya", email="maren@x.example")


@pytest.fixture
def assessors(admin: User, sessions: Sessions) -> list[User]:
    """Create four assessors."""
    assert admin.role is Role.ADMIN
    with sessions.write.begin() as session:
        return [make_user(session, name=f"Person {n}", email=f"p{n}@x.example") for n in range(4)]


def assign(client: httpx.Client, assessors: list[User], rounds: int = 2) -> httpx.Response:
    people = [str(user.id) for user in assessors]
    return client.post(f"{S}/assign", data={"people": people, "rounds": str(rounds), "seed": ""})


def finish_one(client: httpx.Client, sessions: Sessions) -> Assignment:
    with sessions.write.begin() as session:
        row = session.scalars(select(Assignment).where(Assignment.tool == Tool.PAIRS)).first()
        assert row is not None
        job = job_of(session, row)
    judge_to_the_end(client, job)
    return row


@pytest.mark.usefixtures("admin")
@each_case("page",
    ["", "/guidelines", "/queries", "/documents", "/assign", "/work", "/progress", "/delete",
     "/settings", "/exports", "/crowd", "/training", "/messages"],
)  # fmt: skip
def test_every_page_of_a_study_is_shown(client: httpx.Client, page: str) -> None:
    reply = client.get(S + page)
    assert reply.status_code == 200
    assert "style=" not in reply.text
    assert "`" not in reply.text
    assert client.get(f"/studies/elsewhere{page}").status_code == 404


@pytest.mark.usefixtures("admin")
def test_researchers_look_and_do_not_touch(client: httpx.Client, enter: Enter) -> None:
    enter(role=Role.RESEARCHER)
    page = client.get(S).text
    assert "Archive" not in page
    assert "/assign" not in page
    assert client.get(f"{S}/progress").status_code == 200


def test_a_researcher_is_given_the_study_and_loses_it(
    app: FastAPI, client: httpx.Client, sessions: Sessions, admin: User
) -> None:
    with sessions.write.begin() as session:
        rosa = make_user(session, role=Role.RESEARCHER, name="Rosa Keller", reads=False)

    def seen_by_rosa() -> tuple[int, bool]:
        sign_in(app, client, rosa)
        found = client.get(S).status_code, "tulips" in client.get("/studies").text
        sign_in(app, client, admin)
        return found

    assert seen_by_rosa() == (404, False)
    assert "No researcher sees this study yet" in client.get(f"{S}/settings").text
    assert client.post(f"{S}/access", data={"person": rosa.id, "given": "true"}).status_code == 303
    page = tight(client.get(f"{S}/settings").text)
    assert 'Remove<span class="vh">Rosa Keller' in page
    assert "Give access" not in page, "nobody is left"
    assert seen_by_rosa() == (200, True)
    assert client.post(f"{S}/access", data={"person": rosa.id}).status_code == 303
    assert seen_by_rosa() == (404, False)


@pytest.mark.usefixtures("admin")
def test_queries_and_documents_are_found_by_words(client: httpx.Client) -> None:
    assert "1 to 1 of 1 query " in client.get(f"{S}/queries?search=upright 3").text
    assert "No query found" in client.get(f"{S}/queries?search=nothing").text
    assert "1 to 5 of 5 documents" in client.get(f"{S}/documents?search=q2-").text


def test_the_grid_is_shown_before_anything_is_assigned(
    client: httpx.Client, assessors: list[User], sessions: Sessions
) -> None:
    page = client.get(
        f"{S}/assign?" + "&".join(f"people={user.id}" for user in assessors) + "&rounds=2"
    ).text
    assert "Create 16 assignments" in page
    assert page.count("<td data-tool=") == 16
    with sessions.read() as session:
        assert session.scalars(select(Assignment)).all() == []


def test_two_rounds_are_assigned_and_one_more_is_refused(
    client: httpx.Client, assessors: list[User], sessions: Sessions
) -> None:
    assert assign(client, assessors, 1).headers["location"] == f"{S}/assign?done=8"
    shown = client.get(f"{S}/assign").text  # no round that nobody asked for
    assert "Everything is assigned" in shown
    assert "Promised so far: 1." in shown
    everyone = "&".join(f"people={user.id}" for user in assessors)
    assert "Create 8 assignments" in client.get(f"{S}/assign?{everyone}&rounds=2").text
    assert assign(client, assessors, 2).headers["location"] == f"{S}/assign?done=8"
    refused = assign(client, assessors, 3)
    assert refused.status_code == 422
    assert "4 assessors and 2 tools allow 2 rounds, not 3" in refused.text
    assert "Everything is assigned" in client.get(f"{S}/assign").text
    with sessions.read() as session:
        assert len(session.scalars(select(Assignment)).all()) == 16


def test_somebody_whose_work_was_voided_is_not_proposed(
    client: httpx.Client, assessors: list[User], sessions: Sessions
) -> None:
    assign(client, assessors, 1)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study).where(Study.slug == "tulips")).one()
        work = session.scalars(
            select(Assignment).where(Assignment.user_id == assessors[1].id).order_by(Assignment.id)
        ).all()[0]
        work.finished_at = now()
        session.flush()
        void(session, study, [work.id], reason="clicks at random")
    page = client.get(f"{S}/assign").text
    for person in assessors:
        box = page.split(f'type="checkbox" name="people" value="{person.id}"')[1].split("</label>")[
            0
        ]
        is_void = person is assessors[1]
        assert box.lstrip().startswith("checked") is not is_void
        assert ("work voided" in box) is is_void
    assert f'type="hidden" name="people" value="{assessors[1].id}"' not in page
    chosen = client.get(f"{S}/assign?people={assessors[1].id}").text
    assert re.search(rf'name="people" value="{assessors[1].id}"\s+checked', chosen)
    assert "no selected person is free" in chosen


def test_who_has_answered_by_token_is_not_expected_to_sign_in(
    client: httpx.Client, assessors: list[User], sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        for person in assessors:
            session.get_one(User, person.id).password_hash = None
    assert client.get(f"{S}/assign").text.count("has not signed in yet") == len(assessors)
    assign(client, assessors, 1)
    with sessions.write.begin() as session:
        mine = select(Assignment).where(Assignment.user_id == assessors[0].id)
        session.scalars(mine).all()[0].last_entry_at = now()
    assert client.get(f"{S}/assign").text.count("has not signed in yet") == len(assessors) - 1


@pytest.mark.usefixtures("assessors")
def test_one_is_assigned_by_hand_or_refused_with_the_reason(client: httpx.Client) -> None:
    form = {"email": "p0@x.example", "query": "q1", "tool": "pairs", "round": "1"}
    assert client.post(f"{S}/assign/one", data=form).status_code == 303
    refused = client.post(f"{S}/assign/one", data={**form, "tool": "grades"})
    assert refused.status_code == 409
    assert "Person 0 already judges q1 by pairs in round 1" in refused.text
    assert "Already changed" not in refused.text
    assert 'value="q1"' in refused.text


@pytest.mark.usefixtures("assessors")
def test_a_csv_file_is_taken_whole_or_refused_by_line(
    client: httpx.Client, sessions: Sessions
) -> None:
    good = b"query,assessor,tool,round\nq0,p0@x.example,pairs,1\nq0,p1@x.example,grades,1\n"
    bad = good + b"q9,p1@x.example,pairs,1\n"
    refused = client.post(f"{S}/assign/csv", files={"file": ("a.csv", bad)})
    assert refused.status_code == 422
    assert "There is no query &#39;q9&#39;" in refused.text
    with sessions.read() as session:
        assert session.scalars(select(Assignment)).all() == []
    assert client.post(f"{S}/assign/csv", files={"file": ("a.csv", good)}).status_code == 303
    assert client.post(f"{S}/assign/csv").status_code == 422


def test_a_bulk_withdrawal_is_confirmed_and_can_be_undone(
    client: httpx.Client, assessors: list[User], sessions: Sessions
) -> None:
    assign(client, assessors, 1)

    def withdrawn() -> int:
        with sessions.read() as session:
            rows = session.scalars(select(Assignment.withdrawn_at)).all()
        return sum(at is not None for at in rows)

    with sessions.write.begin() as session:
        first = session.scalars(select(Assignment).order_by(Assignment.id)).all()
        first[0].last_entry_at = now()
        manual_assignment.withdraw(session, session.scalars(select(Study)).one(), first[-1].id)
    form = {"act": "withdraw", "all": "true", "state": "open"}
    asked = client.post(f"{S}/work/bulk", data=form)
    assert asked.status_code == 200
    assert "Withdraw 7 assignments?" in asked.text
    assert "1 assignment has answers, which are kept" in asked.text
    assert withdrawn() == 1
    done = client.post(f"{S}/work/bulk", data={**form, "confirmed": "true"})
    assert withdrawn() == 8
    page = client.get(done.headers["location"]).text
    assert "7 assignments withdrawn" in page
    number = re.findall(r'name="ids" value="(\d+)"', page)[0]
    undo = {"act": "undo", "ids": number, "state": "open"}
    back = client.post(f"{S}/work/bulk", data=undo).headers["location"]
    assert "7 assignments given back" in client.get(back).text
    assert withdrawn() == 1
    again = {"act": "restore", "ids": str(first[-1].id), "state": "withdrawn"}
    assert client.post(f"{S}/work/bulk", data=again).status_code == 303
    assert withdrawn() == 0


@pytest.mark.usefixtures("assessors")
def test_work_is_withdrawn_and_handed_on(client: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        row = manual_assignment.assign_one(
            session, study, email="p0@x.example", query="q0", tool=Tool.PAIRS, round_number=1
        )
    path = f"{S}/work/{row.id}"
    assert "Person 0" in client.get(f"{S}/work?search=person 0").text
    reply = client.post(
        f"{path}/reassign", data={"email": "p1@x.example", "next": f"{S}/work?state="}
    )
    assert reply.headers["location"] == f"{S}/work?state="
    refused = client.post(f"{path}/reassign", data={"email": "nobody@x.example"})
    assert refused.status_code == 404
    assert "no account for nobody@x.example" in refused.text
    with sessions.read() as session:
        rows = session.scalars(select(Assignment).order_by(Assignment.id)).all()
        assert [each.withdrawn_at is None for each in rows] == [False, True]
    back = client.post(f"{S}/work/{rows[1].id}/withdraw", data={"next": "//evil.example"})
    assert back.headers["location"] == f"{S}/work"
    assert "2 of 2 assignments" in client.get(f"{S}/work?state=withdrawn").text


def test_only_what_has_changed_is_sent_again(
    client: httpx.Client, assessors: list[User], sessions: Sessions
) -> None:
    assign(client, assessors)
    page = client.get(f"{S}/progress?sort=-answered").text
    poll = re.search(r'hx-get="([^"]+)"', page)
    assert poll
    address = poll.group(1).replace("&amp;", "&")
    assert client.get(address).status_code == 204
    finish_one(client, sessions)
    changed = client.get(address)
    assert changed.status_code == 200
    ids = re.findall(r'id="(p-\w+|poll)"', changed.text)
    assert set(ids) == {"p-stats", "p-matrix", "p-people", "p-queries", "p-latest", "poll"}
    assert "1 of 16" in changed.text
    marks = re.search(r"seen=([\w.]+)", changed.text)
    assert marks
    stale = marks.group(1).split(".")
    stale[0] = "000000000000"
    part = client.get(f"{S}/progress?sort=-answered&seen={'.'.join(stale)}")
    assert re.findall(r'id="(p-\w+)"', part.text) == ["p-stats"]


@pytest.mark.thorough
def test_a_study_is_archived_copied_and_deleted(
    client: httpx.Client, assessors: list[User], sessions: Sessions
) -> None:
    assign(client, assessors)
    finish_one(client, sessions)
    confirm = {"confirm": "tulips"}
    assert "Archive the study first" in client.post(f"{S}/delete", data=confirm).text
    assert client.post(f"{S}/archive").status_code == 303
    assert "archived" in client.get(S).text
    refused = client.post(f"{S}/delete", data=confirm)
    assert refused.status_code == 409
    assert "no copy holds them" in refused.text
    copy = client.post(f"{S}/copy")
    assert copy.headers["content-type"] == "application/zip"
    name = re.search(
        r'filename="(topkapi-tulips-[\d-]+\.zip)"', copy.headers["content-disposition"]
    )
    assert name
    with ZipFile(io.BytesIO(copy.content)) as archive:
        head = json.loads(archive.read("copy.json"))
    assert head["rows"]["assignments"] == 16
    assert name.group(1) in client.get(f"{S}/delete").text
    assert client.post(f"{S}/delete", data={"confirm": "Tulips"}).status_code == 422
    assert client.post(f"{S}/delete", data=confirm).headers["location"] == "/studies"
    assert client.get(S).status_code == 404
    assert "study.delete" in client.get("/audit?subject=tulips").text


@pytest.mark.usefixtures("admin")
def test_copies_leave_nothing_on_the_disk(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert client.post(f"{S}/copy").status_code == 200
    assert client.post("/studies/elsewhere/copy").status_code == 404
    assert list(tmp_path.glob("*.zip")) == []
