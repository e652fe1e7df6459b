"""Progress is measured against what was promised: queries x tools x rounds, on every page."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from tests.clients import tight
from tests.exporting import by_worth, judge
from tests.factories import Enter, make_assignment, make_study, make_user, queries_of, token_headers
from tests.studies import append, small_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Study
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.pairs.answers import Answer, Question
from topkapi.app.services.assignments import bulk
from topkapi.app.services.assignments.rotation import assign_rotation, plan_rotation
from topkapi.app.services.importing import import_and_commit, open_source

URL = "/studies/small"
TILE = re.compile(r"Work finished</dt><dd>(\d+) of (\d+)")
COUNTS = re.compile(r"\b(\d+) of (\d+)<")


@pytest.fixture
def admin(client: httpx.Client, sessions: Sessions, enter: Enter) -> httpx.Client:
    user = enter(role=Role.ADMIN, name="Ada")
    with sessions.write.begin() as session:
        client.headers.update(token_headers(session, user))
    return client


def imported(sessions: Sessions, folder: Path) -> None:
    with open_source(folder) as source:
        import_and_commit(sessions, source)


def looked_up(admin: httpx.Client, sessions: Sessions) -> dict[str, tuple[int, int]]:
    """Return finished and promised work as each page and the API show it."""
    progress = tight(admin.get(f"{URL}/progress").text)
    table = progress[progress.index('id="p-queries"') :]
    texts = {
        "dashboard": TILE.findall(tight(admin.get("/").text)),
        "progress": TILE.findall(progress),
        "overview": re.findall(r"(\d+) of (\d+) assignments finished", tight(admin.get(URL).text)),
        "studies": COUNTS.findall(tight(admin.get("/studies").text)),
        "results": COUNTS.findall(tight(admin.get("/results").text)),
        "progress by query": COUNTS.findall(table[: table.index("</table>")]),
        "queries": COUNTS.findall(tight(admin.get(f"{URL}/queries").text)),
    }
    with sessions.read() as session:
        addresses = [
            f"{URL}/queries/{each.id}"
            for each in queries_of(session, session.scalars(select(Study)).one())
        ]
    line = re.compile(r"(\d+) of (\d+) assignments finished")
    texts["query pages"] = [line.findall(admin.get(each).text)[0] for each in addresses]
    found = {
        page: (sum(int(done) for done, _ in each), sum(int(all) for _, all in each))
        for page, each in texts.items()
    }
    told = admin.get("/api/v1/studies/small/progress").json()
    found["api"] = told["finished"], told["promised"]
    found["api by tool"] = tuple(
        sum(each[name] for each in told["tools"].values()) for name in ("finished", "promised")
    )
    missing = len(admin.get(f"{URL}/tables/gaps.csv").text.splitlines()) - 1
    found["gaps"] = told["finished"], told["assigned"] + missing
    listed = [
        admin.get(f"{URL}/work", params={"state": state}).text.count('aria-label="Select q')
        for state in ("finished", "open")
    ]
    found["assignments"] = listed[0], sum(listed) + missing
    offered = re.search(r"Create (\d+) assignment", admin.get(f"{URL}/assign").text)
    found["assign"] = told["finished"], told["assigned"] + int(offered[1] if offered else 0)
    return found


def test_every_page_measures_progress_against_the_promise(
    admin: httpx.Client, sessions: Sessions, tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "small", queries=4, documents=6)
    append(folder / "study.toml", 'tools = ["pairs", "grades"]\n')
    imported(sessions, folder)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        people = [make_user(session, name=f"Person {number}").id for number in range(6)]
        for row in assign_rotation(session, study, people[:4], rounds=2)[:14]:
            judge(session, row)
    found = looked_up(admin, sessions)
    assert set(found.values()) == {(14, 16)}, found
    assert "missing" not in admin.get("/").text

    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        mine = select(Assignment).where(
            Assignment.user_id == people[0], Assignment.finished_at.is_not(None)
        )
        void = [row.id for row in session.scalars(mine)]
        bulk.void(session, study, void, reason="clicks at random")
    done = 14 - len(void)
    found = looked_up(admin, sessions)
    assert found.pop("assign")[1] <= 16, "nobody else is selected who is free"
    assert 'value="2" aria-describedby="rounds-h"' in admin.get(f"{URL}/assign").text
    assert set(found.values()) == {(done, 16)}, found
    page = tight(admin.get("/").text)
    assert f"{len(void)} of 16 assignments are missing, on {len(void)} queries." in page
    assert f'href="{URL}/assign">Fill {len(void)} gap' in page

    append(folder / "queries.jsonl", '{"id": "q4", "text": "new"}\n{"id": "q5", "text": "newer"}\n')
    pages = [
        f'{{"query": "q{query}", "document": "d{page}"}}' for query in (4, 5) for page in range(4)
    ]
    append(folder / "candidates.jsonl", "".join(f"{line}\n" for line in pages))
    imported(sessions, folder)
    found = looked_up(admin, sessions)
    assert found.pop("assign")[0] == done
    assert set(found.values()) == {(done, 24)}, found
    assert "2 of them without any assessor" in admin.get("/").text

    append(folder / "documents.jsonl", '{"id": "more", "title": "t", "text": "one more"}\n')
    append(folder / "candidates.jsonl", '{"query": "q0", "document": "more"}\n')
    imported(sessions, folder)
    with sessions.read() as session:
        reopened = done - len(
            session.scalars(
                select(Assignment).where(
                    Assignment.finished_at.is_not(None), Assignment.withdrawn_at.is_(None)
                )
            ).all()
        )
    assert reopened > 0
    found = looked_up(admin, sessions)
    assert found.pop("assign")[0] == done - reopened
    assert set(found.values()) == {(done - reopened, 24)}, found

    chosen: dict[str, Any] = {"people": people, "rounds": 2}
    offered = admin.get(f"{URL}/assign", params=chosen).text
    assert f"Create {8 + len(void)} assignments" in offered
    parts = {"gaps": f"Fill {len(void)} gaps", "new": "Assign 8 assignments"}
    for part, words in parts.items():
        assert words in tight(offered)
        assert admin.post(f"{URL}/assign", data=chosen | {"part": part}).status_code == 303
        offered = admin.get(f"{URL}/assign", params=chosen).text
        assert words not in tight(offered)
    assert admin.post(f"{URL}/assign", data=chosen).status_code == 303
    found = looked_up(admin, sessions)
    assert set(found.values()) == {(done - reopened, 24)}, found
    assert "missing" not in admin.get("/").text


def test_a_study_is_not_finished_while_something_is_missing(
    admin: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="small", queries=2, documents=3, k=2, tools=(Tool.PAIRS,))
        people = [make_user(session).id for _ in range(2)]
        rows = assign_rotation(session, study, people, rounds=1)
        for row in rows:
            judge(session, row)
    assert ">finished<" in admin.get("/studies").text
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        bulk.void(session, study, [rows[0].id], reason="careless")
    for page in ("/studies", URL, "/"):
        assert ">finished<" not in tight(admin.get(page).text)
    assert "1 of 2 assignments is missing, on 1 query, 1 of them without" in admin.get("/").text


def test_by_hand_a_query_is_promised_as_often_as_it_was_assigned(
    admin: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="small", queries=3, documents=3)
        first, second, _ = queries_of(session, study)
        rows = [
            make_assignment(session, query=first, round=number, user=make_user(session))
            for number in range(2)
        ]
        make_assignment(session, query=second, user=make_user(session))
        judge(session, rows[0])
        judge(session, rows[1])
        session.flush()
        bulk.void(session, study, [rows[1].id], reason="careless")
    found = looked_up(admin, sessions)
    assert found.pop("assign")[0] == 1
    assert set(found.values()) == {(1, 4)}, found


def test_a_promise_is_lowered_only_on_purpose(admin: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="small", queries=2, documents=3, k=2, tools=(Tool.PAIRS,))
        people = [make_user(session).id for _ in range(3)]
        rows = assign_rotation(session, study, people, rounds=2)
        bulk.withdraw(session, study, [row.id for row in rows if row.round == 1])
        plan = plan_rotation(session, study, people, strict=False)
        assert (plan.rounds, len(plan.missing)) == (2, 2), "as before unless told otherwise"
    assert looked_up(admin, sessions)["overview"] == (0, 4)
    chosen: dict[str, Any] = {"people": people, "rounds": 1}
    offered = admin.get(f"{URL}/assign", params=chosen).text
    assert "2 rounds were promised" in offered
    assert "Promise 1 round<" in tight(offered)
    assert admin.post(f"{URL}/assign", data=chosen).status_code == 303
    assert looked_up(admin, sessions)["overview"] == (0, 2)


def test_a_query_page_says_no_more_than_its_lists(admin: httpx.Client, sessions: Sessions) -> None:
    def unsure(asked: Question) -> Answer:
        return Answer(by_worth(asked) + "_unjudgeable" * (1 in (asked.left, asked.right)))

    with sessions.write.begin() as session:
        queries = queries_of(session, make_study(session, slug="small", queries=3, documents=5))
        people = (unsure, lambda _: Answer.LEFT_UNJUDGEABLE, lambda _: Answer.LEFT_BAD, by_worth)
        for query, person in zip((*queries, queries[0]), people, strict=True):
            judge(session, make_assignment(session, query=query, k=4), person=person)
        make_assignment(session, query=queries[0], round=-1)
    said = "".join(tight(admin.get(f"{URL}/queries/{query.id}").text) for query in queries)
    for words in ("No page differs by three", "No page is best by", "(adjudication, not begun)"):
        assert words in said
    assert "supervised-kemeny" not in said
