"""All steps of an administrator: import, invite, assign, watch progress, export."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect
from sqlalchemy import select

from tests.browser.assigned_work import Site, ready
from tests.browser.looks import barriers, flaws, sound, widths
from tests.clients import connect
from tests.exporting import by_worth, judge, make_judged_study
from tests.factories import PASSWORD, make_assignment, make_study, make_user, queries_of
from tests.judging import job_of, judge_to_the_end
from tests.studies import append, small_study, zipped
from tests.waiting import until
from topkapi.app.db.models import Assignment, JudgmentRow, Study, User
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.study import StudySettings
from topkapi.app.installation.secret import load_secret
from topkapi.app.services.accounts.invitations import first_code
from topkapi.app.services.assignments.bulk import withdraw
from topkapi.app.services.assignments.rotation import assign_rotation

pytestmark = pytest.mark.browser


def study_zip(tmp_path: Path, slug: str, tools: str = 'pairs", "grades') -> Path:
    folder = small_study(tmp_path / slug, queries=4, documents=6)
    (folder / "study.toml").write_text(
        f'name = "Tulips {slug}"\nslug = "{slug}"\nk = 2\ntools = ["{tools}"]\n'
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
    page.get_by_label("People per query").fill("0")
    page.keyboard.press("Tab")
    expect(page.locator("#rounds:user-invalid")).to_be_focused()
    page.get_by_label("People per query").fill("1")
    page.keyboard.press("Tab")
    expect(page.get_by_text("every query by 1 person with each tool")).to_be_visible()
    page.get_by_label("People per query").fill("2")
    page.keyboard.press("Tab")
    expect(page.get_by_text("4 people, 4 queries each; every query by 2 people")).to_be_visible()
    page.get_by_text("Details", exact=True).click()
    expect(page.locator("td[data-tool]")).to_have_count(16)
    assert barriers(page) == []
    page.get_by_role("button", name="Create 16 assignments").click()
    expect(page.get_by_text("16 assignments created.")).to_be_visible()

    page.get_by_role("link", name="See progress").click()
    stats = page.locator("#p-stats")
    expect(stats).to_contain_text("0 of 16")
    page.evaluate("window.sameDocument = true")
    judge_one(own_site, people[0][1])
    expect(stats).to_contain_text("1 of 16")
    expect(page.locator("#p-matrix [data-state=done]")).to_have_count(1)
    expect(page.locator("#p-latest")).to_contain_text(f"{people[0][0]} finished")
    assert page.evaluate("window.sameDocument") is True, "it was updated, not loaded again"
    assert barriers(page) == []

    page.get_by_role("link", name="Results").click()
    page.get_by_role("navigation", name="Study", exact=True).get_by_text("Exports").click()
    with page.expect_download() as download:
        page.locator("a[href$='judgments.jsonl']").first.click()
    assert '"query"' in Path(download.value.path()).read_text()


def test_from_an_empty_server_to_a_judged_pair_in_fourteen_actions(
    own_site: Site, new_context: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    actions = list[str]()

    def act(what: Locator, name: str, *given: object) -> None:
        actions.append(name)
        getattr(what, name)(*given)

    def opened(address: str) -> Page:
        """Open a link that the server has printed, or that an administrator has sent."""
        page = new_context().new_page()
        page.goto(address)
        return page

    printed = first_code(load_secret(own_site.server.secret_file))
    page = opened(f"{own_site.server.url}/first/{printed}")
    act(page.get_by_label("E-mail"), "fill", "maren@x.example")
    act(page.get_by_label("Name"), "fill", "Maren Oduya")
    act(page.get_by_label("Password"), "fill", PASSWORD)
    act(page.get_by_role("button", name="Set password and sign in"), "click")
    expect(page.get_by_role("heading", name="Try the demo")).to_be_visible()
    sound(page, "first-run")
    path = study_zip(tmp_path, "own", tools="pairs")
    act(page.get_by_label("Your file", exact=True), "set_input_files", path)
    act(page.get_by_role("button", name="Import 4 queries"), "click")
    act(page.get_by_label("E-mail"), "fill", "ansa@x.example")
    act(page.get_by_role("button", name="Create link"), "click")
    sent = page.get_by_label("Send this link to ansa@x.example").input_value()
    expect(page.get_by_text("1 person, 4 queries each; every query by 1 person.")).to_be_visible()
    sound(page, "assign-first")
    act(page.get_by_role("button", name="Create 4 assignments"), "click")
    expect(page.get_by_text("4 assignments created.")).to_be_visible()

    actions.append("open the link")
    judging = opened(sent)
    act(judging.get_by_label("Password"), "fill", PASSWORD)
    act(judging.get_by_role("button", name="Set password and sign in"), "click")
    act(judging.locator("a[data-enter]"), "click")
    ready(judging)
    act(judging.get_by_role("button", name="Left is better", exact=True), "click")
    until(lambda: answers(own_site) == 1, "the answer")
    assert len(actions) <= 14, actions


def answers(site: Site) -> int:
    with site.sessions.read() as session:
        return len(session.scalars(select(JudgmentRow)).all())


def one_primary(page: Page) -> str:
    """Return where the only primary button of the page leads; it is there if it is a button."""
    (button,) = page.locator(".btn--primary:visible").all()
    return urljoin(page.url, button.get_attribute("href") or page.url.partition("?")[0])


def test_each_page_of_a_study_leads_to_what_it_needs_first(
    own_site: Site, admin: User, context: BrowserContext
) -> None:
    page, url = context.new_page(), f"{own_site.server.url}/studies/tulips"
    with own_site.sessions.write.begin() as session:
        study = make_study(session, slug="tulips", queries=4)

    def leads_to(address: str, sign: str) -> None:
        page.goto(url)
        expect(page.locator(".hero__next")).to_contain_text(sign)
        for below in ("", "/messages", *(tab for tab in OF_STUDY if tab != "/delete"), *FURTHER):
            page.goto(url + below)
            assert one_primary(page) == url + address, (sign, below)

    leads_to("/assign", "nobody invited")
    with own_site.sessions.write.begin() as session:
        people = [make_user(session, name=f"Person {n}").id for n in range(3)]
        study = session.get_one(Study, study.id)
        rows = assign_rotation(session, study, people, rounds=2, actor_id=admin.id)
        one_of_each = {row.query_id: row.id for row in rows}
        withdraw(session, study, list(one_of_each.values())[:2])
    leads_to("/assign", "missing work")
    page.goto(f"{url}/assign")
    sound(page, "missing")
    page.get_by_role("button", name="Fill 2 gaps").click()
    expect(page.get_by_text("2 assignments created.")).to_be_visible()
    for below in ("", "/assign", "/progress"):
        page.goto(url + below)
        assert one_primary(page) == f"{url}/messages"


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
        mine = select(Assignment).where(
            Assignment.user_id == user.id, Assignment.tool == Tool.PAIRS
        )
        job = job_of(session, session.scalars(mine.limit(1)).one())
    with connect(base_url=site.server.url) as client:
        judge_to_the_end(client, job, lambda left, right: "left" if left < right else "right")


PAGES = ("/studies", "/people", "/audit", "/imports")
OF_STUDY = (
    *("", "/queries", "/documents", "/settings", "/guidelines", "/guidelines/edit", "/assign"),
    *("/work", "/progress", "/delete"),
)
FURTHER = ("/training", "/plan", "/crowd", "/machines", "/adjudication", "/report", "/exports")


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
        query.text, query.description, page_of = WORD * 2, WORD * 40, f"queries/{query.id}"
        long = make_user(session, name=LONG)
        row = make_assignment(session, user=long, query=query, seed="l", round=5)
        judge(session, row, person=lambda question: opposite(by_worth(question)))
        make_user(session, name=f"Free {LONG}")
        wide = make_user(session, name="W" * 175)
    named = ("adjudication", "progress", "report", page_of)
    for user, paths in (
        (admin, [f"/studies/{slug}/{name}" for name in named]),
        (admin, [f"/people/{wide.id}", f"/studies/{slug}/assign"]),
        (long, ["/queue"]),
    ):
        context.add_cookies([own_site.cookie(user)])
        page = context.new_page()
        for path in paths:
            page.goto(f"{own_site.server.url}{path}")
            page.evaluate("document.querySelectorAll('main > details').forEach(e => e.open = true)")
            for width in widths(page):
                assert flaws(page) == [], (path, width)
                if path.endswith("adjudication"):
                    button = page.get_by_role("button", name="Assign adjudication of q0")
                    button.scroll_into_view_if_needed()
                    assert page.locator(".scroll").evaluate("(box) => box.scrollLeft") == 0
                    expect(button).to_be_in_viewport(ratio=1)


def opposite(answer: Answer) -> Answer:
    return Answer.LEFT if answer is Answer.RIGHT else Answer.RIGHT
