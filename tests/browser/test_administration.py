"""All steps of an administrator: import, invite, assign, watch progress, export."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from sqlalchemy import select

from tests.browser.assigned_work import Site
from tests.browser.looks import barriers, flaws, sound, widths
from tests.exporting import by_worth, judge, make_judged_study
from tests.factories import make_assignment, make_user, queries_of
from tests.judging import Job, answer_to
from tests.studies import append, small_study, zipped
from tests.waiting import WATCHDOG
from topkapi.app.db.models import Assignment, User
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.accounts import tokens

pytestmark = pytest.mark.browser


@pytest.fixture
def admin(own_site: Site, context: BrowserContext) -> User:
    """Sign in an administrator."""
    with own_site.sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN, name="Maren Oduya")
    context.add_cookies([own_site.cookie(user)])
    return user


def study_zip(tmp_path: Path, slug: str) -> Path:
    folder = small_study(tmp_path / slug, queries=4, documents=6)
    (folder / "study.toml").write_text(
        f'name = "Tulips {slug}"\nslug = "{slug}"\nk = 2\ntools = ["pairs", "grades"]\n'
    )
    path = tmp_path / f"{slug}.zip"
    path.write_bytes(zipped(folder))
    return path


def send(page: Page, site: Site, path: Path) -> None:
    page.goto(f"{site.server.url}/imports")
    page.get_by_label("Study", exact=True).set_input_files(path)
    page.get_by_role("button", name="Upload").click()


def invite(page: Page, site: Site, name: str, email: str) -> str:
    page.goto(f"{site.server.url}/people")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("E-mail", exact=True).fill(email)
    page.get_by_role("button", name="Create link").press("Enter")
    return page.get_by_label(f"Send this link to {email}").input_value()


@pytest.mark.parametrize("own_site", ["postgresql"], indirect=True)
def test_from_a_zip_to_an_export(
    own_site: Site, admin: User, new_context: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    context = new_context()
    context.add_cookies([own_site.cookie(admin)])
    url, page = own_site.server.url, context.new_page()
    slug = "tulips"
    send(page, own_site, study_zip(tmp_path, slug))
    page.get_by_role("button", name="Import 4 queries").click()
    expect(page.get_by_text("The study was imported.")).to_be_visible()
    assert barriers(page) == []

    people = [(f"Person {n}", f"p{n}@{slug}.example") for n in range(4)]
    links = [invite(page, own_site, name, email) for name, email in people]
    accept(new_context(), links[0], people[0][0])

    page.goto(f"{url}/studies/{slug}/assign")
    page.get_by_label("Rounds").fill("2")
    page.get_by_role("button", name="Update preview").click()
    expect(page.locator("td[data-tool]")).to_have_count(16)
    assert barriers(page) == []
    page.get_by_role("button", name="Assign 16 missing assignments").click()
    expect(page.get_by_text("16 assignments created.")).to_be_visible()

    page.get_by_role("link", name="See progress").click()
    stats = page.locator("#p-stats")
    expect(stats).to_contain_text("0 of 16")
    page.evaluate("window.sameDocument = true")
    judge_one(own_site, people[0][1])
    expect(stats).to_contain_text("1 of 16")
    expect(page.locator("#p-matrix td[data-state=done]")).to_have_count(1)
    expect(page.locator("#p-latest")).to_contain_text(f"{people[0][0]} finished")
    assert page.evaluate("window.sameDocument") is True, "it was updated, not loaded again"
    assert barriers(page) == []

    page.get_by_role("link", name="Results").click()
    page.get_by_role("navigation", name="Study", exact=True).get_by_text("Exports").click()
    with page.expect_download() as download:
        page.locator("a[href$='judgments.jsonl']").first.click()
    assert '"query"' in Path(download.value.path()).read_text()


def accept(context: BrowserContext, link: str, name: str) -> None:
    """Open the invitation in another browser and accept it."""
    page = context.new_page()
    page.goto(link)
    assert barriers(page) == []
    page.get_by_label("Password").fill("short but long")
    page.get_by_role("button", name="Set password and sign in").click()
    expect(page.get_by_role("heading", name="Your queue")).to_be_visible()
    expect(page.get_by_text(name)).to_be_visible()


def judge_one(site: Site, email: str) -> None:
    """Judge one query to its end through the API."""
    with site.sessions.write.begin() as session:
        user = session.scalars(select(User).where(User.email == email)).one()
        mine = select(Assignment.id).where(
            Assignment.user_id == user.id, Assignment.tool == Tool.PAIRS
        )
        job = Job(session.scalars(mine).first() or 0, tokens.issue_token(session, user, "t")[1])
    with httpx.Client(base_url=site.server.url, headers=job.headers, timeout=WATCHDOG) as client:
        state = client.get(job.url).json()
        while state["state"] == "asking":
            body = answer_to(state, lambda left, right: "left" if left < right else "right")
            state = client.post(f"{job.url}/judgments", json=body).raise_for_status().json()


PAGES = ("/studies", "/people", "/audit", "/imports")
OF_STUDY = (
    *("", "/queries", "/documents", "/settings", "/guidelines", "/guidelines/edit", "/assign"),
    *("/work", "/progress", "/delete"),
)


def test_every_page_fits_and_is_accessible(
    own_site: Site, admin: User, context: BrowserContext, tmp_path: Path
) -> None:
    page, url, slug = context.new_page(), own_site.server.url, "look"
    folder = small_study(tmp_path / "bad")
    append(folder / "queries.jsonl", '{"id": "q0", "text": ""}\n')
    path = tmp_path / "bad.zip"
    path.write_bytes(zipped(folder))
    send(page, own_site, path)
    expect(page.get_by_role("alert")).to_contain_text("Nothing was imported")
    expect(page.get_by_role("region", name="Problems")).to_contain_text("queries.jsonl")
    assert barriers(page) == []
    send(page, own_site, study_zip(tmp_path, slug))
    page.get_by_role("button", name="Import 4 queries").click()
    expect(page.get_by_text("The study was imported.")).to_be_visible()
    for address in (*PAGES, *(f"/studies/{slug}{below}" for below in OF_STUDY)):
        page.goto(url + address)
        sound(page, address.rpartition("/")[2] or "study")
    page.goto(f"{url}/people/{admin.id}")
    sound(page, "person")


@pytest.mark.usefixtures("admin")
def test_sorting_by_key_turns_the_table_round(own_site: Site, context: BrowserContext) -> None:
    with own_site.sessions.write.begin() as session:
        for name in ("Aaron First", "Zoe Last"):
            make_user(session, name=name)
    page = context.new_page()
    page.goto(f"{own_site.server.url}/people?search=st")
    page.get_by_role("link", name="Name", exact=True).press("Enter")
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute(
        "aria-sort", "descending"
    )
    assert page.locator("tbody th").all_inner_texts() == ["Zoe Last", "Aaron First"]
    assert "sort=-name" in page.url


@pytest.mark.usefixtures("admin")
def test_a_busy_server_breaks_no_dashboard(own_site: Site, context: BrowserContext) -> None:
    with own_site.sessions.write.begin() as session:
        for number in (1, 2):
            make_judged_study(session, slug=f"busy-{number}")
    page, thrown, asked = context.new_page(), list[str](), list[int]()
    page.on("pageerror", lambda error: thrown.append(str(error)))

    def busy(route: Route) -> None:
        asked.append(1)
        error = f'<div class="notice">The server is busy, {len(asked)}.</div>'
        route.fulfill(status=503, headers={"Retry-After": "1"}, body=error)

    page.route("**/dashboard/*/agreement", busy)
    page.goto(f"{own_site.server.url}/")
    expect(page.locator("dd[hx-get$=agreement]")).to_have_count(2)
    expect(page.locator("#notice")).to_have_text("The server is busy, 2.")
    assert thrown == []


LONG = "Bartholomew Featherstonehaugh-Cholmondeley"
WORD = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"


def test_long_names_and_words_leave_room_for_what_is_said_about_them(
    own_site: Site, admin: User, context: BrowserContext
) -> None:
    slug = "long"
    with own_site.sessions.write.begin() as session:
        study = make_judged_study(session, slug=slug)
        study.settings = StudySettings(k=3, tools=(Tool.PAIRS, Tool.GRADES))
        query = queries_of(session, study)[0]
        query.text = WORD
        long = make_user(session, name=LONG)
        row = make_assignment(session, user=long, query=query, seed="l", round=5)
        judge(session, row, person=lambda question: opposite(by_worth(question)))
        make_user(session, name=f"Free {LONG}")
    for user, paths in (
        (admin, [f"/studies/{slug}/{name}" for name in ("adjudication", "progress", "report")]),
        (long, ["/queue"]),
    ):
        context.add_cookies([own_site.cookie(user)])
        page = context.new_page()
        for path in paths:
            page.goto(f"{own_site.server.url}{path}")
            for width in widths(page):
                assert flaws(page) == [], (path, width)
                if path.endswith("adjudication"):
                    button = page.get_by_role("button", name="Assign adjudication of q0")
                    button.scroll_into_view_if_needed()
                    assert page.locator(".scroll").evaluate("(box) => box.scrollLeft") == 0
                    expect(button).to_be_in_viewport(ratio=1)


def opposite(answer: Answer) -> Answer:
    return Answer.LEFT if answer is Answer.RIGHT else Answer.RIGHT
