"""A running study in the browser: dashboard, growth, gaps, rebalancing, void work, own page."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from tests.browser.assigned_work import Site, moved_on, pair_of, question_of, ready
from tests.browser.looks import sound
from tests.exporting import judge
from tests.factories import make_user
from tests.studies import append, candidate, document, query, small_study, zipped
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Document, Query, Ranking, Study, User
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.services.assignments.rotation import assign_rotation
from topkapi.app.services.importing import import_study, open_source

pytestmark = pytest.mark.browser
NAMES = ("Ansa Lehto", "Bao Trinh", "Chidi Eze", "Dora Kiss")


def running(session: Session, slug: str, folder: Path) -> tuple[Study, list[User]]:
    """Import a study of eight queries and assign one round of it to four people."""
    small_study(folder, queries=8)
    text = f'name = "Study of {slug}"\nslug = "{slug}"\nk = 2\ntools = ["pairs", "grades"]\n'
    (folder / "study.toml").write_text(text)
    with open_source(folder) as source:
        import_study(session, source)
    study = required_study(session, slug)
    study.created_at = now() - timedelta(days=30)
    people = [make_user(session, name=f"{name} {slug}") for name in NAMES]
    assign_rotation(session, study, [person.id for person in people], rounds=1)
    return study, people


def finish(row: Assignment, answered: int, seconds: float, days: int) -> None:
    at = now() - timedelta(days=days)
    row.answered, row.active_ms = answered, int(answered * seconds * 1000)
    row.last_entry_at = row.finished_at = at


def upload(page: Page, url: str, folder: Path) -> None:
    path = folder.with_suffix(".zip")
    path.write_bytes(zipped(folder))
    page.goto(f"{url}/imports")
    page.get_by_label("Study", exact=True).set_input_files(path)
    page.get_by_role("button", name="Upload").click()


def a_finished_list_and_a_system_with_another_page(site: Site, slug: str) -> Assignment:
    with site.sessions.write.begin() as session:
        study = required_study(session, slug)
        page = Document.study_id == study.id, Document.external_id == "d38"
        work = session.scalars(
            select(Assignment)
            .options(joinedload(Assignment.user))
            .join(Query)
            .where(Query.study_id == study.id, Query.external_id == "q0")
            .where(Assignment.tool == Tool.PAIRS)
        ).one()
        judge(session, work)
        ranked = list(session.scalars(select(Document.id).where(*page)))
        session.add(Ranking(query_id=work.query_id, system="bm25", documents=ranked))
        return work


def only_the_new_page_is_asked_about(site: Site, context: BrowserContext, work: Assignment) -> None:
    context.clear_cookies()
    context.add_cookies([site.cookie(work.user)])
    tab = context.new_page()
    tab.goto(f"{site.server.url}/queue")
    expect(tab.get_by_text("Your answers stand;")).to_be_visible()
    expect(tab.locator(".hero").filter(has_text="New pages")).to_contain_text("1 page added")
    sound(tab, "queue-growth")
    tab.goto(f"{site.server.url}/assignments/{work.id}")
    expect(tab.locator("#notice")).to_contain_text("1 page was added.")
    sound(tab, "judging-growth")
    for _ in range(2):  # better than the second, and than the first
        ready(tab)
        titles, question = pair_of(tab), question_of(tab)
        assert "Page 38" in titles
        tab.keyboard.press("ArrowLeft" if titles[0] == "Page 38" else "ArrowRight")
        moved_on(tab, question)
        expect(tab.get_by_text("was added.")).to_have_count(0)
    expect(tab.get_by_text("Finished and saved")).to_be_visible()
    expect(tab.locator("main")).to_contain_text("Page 38")
    tab.close()


@pytest.mark.parametrize("own_site", ["postgresql"], indirect=True)
def test_a_study_grows_while_it_runs(
    own_site: Site, admin: User, context: BrowserContext, tmp_path: Path
) -> None:
    url, page, slug = own_site.server.url, context.new_page(), f"grow{admin.id}"
    folder = tmp_path / slug
    with own_site.sessions.write.begin() as session:
        running(session, slug, folder)
    for number in range(8, 13):  # queries with pages of their own
        append(folder / "queries.jsonl", json.dumps(query(number)) + "\n")
        for page_number in range(3 * number, 3 * number + 3):
            append(folder / "documents.jsonl", json.dumps(document(page_number)) + "\n")
            more = json.dumps(candidate(page_number, of=number))
            append(folder / "candidates.jsonl", more + "\n")
    upload(page, url, folder)
    page.get_by_role("button", name="Import 5 queries").click()
    expect(page.get_by_text("The study was imported.")).to_be_visible()
    page.goto(f"{url}/studies/{slug}/documents?q=38")
    expect(page.get_by_text("Page 38")).to_be_visible()
    work = a_finished_list_and_a_system_with_another_page(own_site, slug)
    page.goto(f"{url}/studies/{slug}/queries/{work.query_id}")
    line = page.get_by_role("row").filter(has_text="bm25")
    expect(line).to_contain_text("1 of 1")
    expect(line).to_contain_text("d38")
    sound(page, "query-gaps")
    append(folder / "candidates.jsonl", json.dumps(candidate(38, of=0)) + "\n")
    upload(page, url, folder)
    expect(
        page.get_by_text("2 assignments of queries with new candidates continue")
    ).to_be_visible()
    expect(page.get_by_text(f"This reopens finished work of {work.user.email}")).to_be_visible()
    sound(page, "reimport-growth")
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_text("The study was imported.")).to_be_visible()
    only_the_new_page_is_asked_about(own_site, context, work)
    context.add_cookies([own_site.cookie(admin)])
    page.goto(f"{url}/studies/{slug}/queries/{work.query_id}")
    expect(page.get_by_text("Every page in the systems")).to_be_visible()

    page.goto(f"{url}/studies/{slug}/assign")
    expect(page.get_by_text("New queries", exact=True).first).to_be_visible()
    sound(page, "assign-new")
    page.get_by_role("button", name="Assign 10 assignments").click()
    expect(page.get_by_text("10 assignments created.")).to_be_visible()

    with own_site.sessions.write.begin() as session:
        make_user(session, name=f"Emil Sand {slug}")
    page.goto(f"{url}/studies/{slug}/assign")
    page.get_by_text("More people or more often").click()
    page.get_by_label(f"Emil Sand {slug}").check()
    move = page.get_by_role("button", name="Move 5 assignments")
    expect(move).to_be_visible()
    sound(page, "assign-move")
    move.click()
    expect(page.get_by_text("5 assignments created.")).to_be_visible()

    page.goto(f"{url}/studies/{slug}/work")
    page.get_by_text("Change").first.click()
    page.get_by_role("button", name="Withdraw", exact=True).first.click()
    page.goto(f"{url}/studies/{slug}/assign")
    sound(page, "assign-gaps")
    page.get_by_role("button", name="Fill 1 gap").click()
    expect(page.get_by_text("1 assignment created.")).to_be_visible()
    expect(page.get_by_role("button", name="Fill")).to_have_count(0)


def test_from_the_dashboard_to_void_work(
    own_site: Site, admin: User, context: BrowserContext, tmp_path: Path
) -> None:
    url, page, slug = own_site.server.url, context.new_page(), f"void{admin.id}"
    with own_site.sessions.write.begin() as session:
        study, people = running(session, slug, tmp_path / slug)
        for index, person in enumerate(people):
            mine = sorted(work_of(session, person), key=lambda row: row.id)
            for day, row in enumerate(mine[:-1]):
                finish(row, 40, 1.5 if index == 3 else 20, day)
        name = study.name
    page.goto(url)
    expect(page.get_by_role("heading", name="Dashboard")).to_be_visible()
    card = page.locator("section.card", has=page.get_by_role("link", name=name))
    expect(card).to_contain_text("12 of 16")
    expect(card).to_contain_text("Expected end")
    dora = f"Dora Kiss {slug}"
    line = page.locator(".lack").filter(has_text=dora)
    expect(line).to_contain_text("very fast")
    sound(page, "dashboard")
    line.get_by_role("link", name=f"Check {dora}").click()

    page.get_by_label("All 3 that match the filters").check()
    page.get_by_label("Reason to void").fill("Answers within two seconds")
    sound(page, "void")
    page.get_by_role("button", name="Void selected").click()
    expect(page.get_by_text("3 assignments voided")).to_be_visible()
    page.goto(f"{url}/studies/{slug}/progress")
    expect(page.locator("#p-stats")).to_contain_text("9 of 16")
    page.goto(url)
    line = page.locator(".lack").filter(has_text="3 of 16 assignments are missing")
    sound(page, "work-missing")
    line.get_by_role("link", name="Fill 3 gaps").click()
    expect(page.get_by_role("heading", name="To do")).to_be_visible()

    page.goto(f"{url}/studies/{slug}/work?state=void")
    page.get_by_label("All 3 that match the filters").check()
    page.get_by_role("button", name="Restore selected").click()
    expect(page.get_by_text("3 assignments restored")).to_be_visible()
    page.goto(f"{url}/audit?action=assignment.void")
    expect(page.get_by_text("Answers within two seconds").first).to_be_visible()


def work_of(session: Session, person: User) -> list[Assignment]:
    statement = select(Assignment).where(Assignment.user_id == person.id)
    return list(session.scalars(statement))


def test_a_page_of_ones_own(own_site: Site, admin: User, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(f"{own_site.server.url}/results")
    sound(page, "results")
    page.get_by_role("link", name=f"Your account, {admin.name}").click()
    sound(page, "account")
    page.get_by_role("textbox", name="Name").fill("Maren Sund")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Your name is saved.")).to_be_visible()
    page.get_by_label("New token for").fill("notebook")
    page.get_by_role("button", name="Create token").click()
    assert page.get_by_label("New token", exact=True).input_value().startswith("topkapi_")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
