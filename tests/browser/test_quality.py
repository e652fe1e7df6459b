"""Quality of answers in the browser: adjudication, known answers."""

import pytest
from playwright.sync_api import BrowserContext, expect
from sqlalchemy import select

from tests.browser.assigned_work import Site, ready
from tests.browser.looks import sound
from tests.factories import queries_of
from tests.services.test_adjudication import judge, split_study
from topkapi.app.db.models import Assignment, GoldPair, User
from topkapi.app.db.queries.assignments.assignments import candidates_of_study
from topkapi.app.domain.enums import Tool
from topkapi.app.services.assignments import manual_assignment

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("own_site", ["postgresql"], indirect=True)
def test_an_adjudication_from_the_dashboard_to_the_common_list(
    own_site: Site, admin: User, context: BrowserContext
) -> None:
    url, page, slug = own_site.server.url, context.new_page(), f"split{admin.id}"
    with own_site.sessions.write.begin() as session:
        study, people = split_study(session, slug)
        people[2].name = name = f"Chidi {slug}"
        title, chidi = study.name, people[2]
    page.goto(url)
    card = page.locator("section.card", has=page.get_by_role("link", name=title))
    card.get_by_role("link", name="Adjudicate").click()
    expect(page.get_by_role("heading", name="Adjudication")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="q0")
    expect(row).to_contain_text("2 lists")
    expect(row).to_contain_text("1 open pair")
    sound(page, "adjudication")
    row.get_by_role("combobox").select_option(label=f"{name} (invited, has not signed in yet)")
    page.get_by_role("button", name="Assign adjudication of q0").click()
    expect(page.get_by_text("Adjudication assigned.")).to_be_visible()
    expect(row).to_contain_text(f"{name}, not finished")

    context.add_cookies([own_site.cookie(chidi)])
    judging = context.new_page()
    with own_site.sessions.read.begin() as session:
        work = select(Assignment.id).where(Assignment.user_id == chidi.id)
        judging.goto(f"{url}/assignments/{session.scalars(work).one()}")
    ready(judging)
    judging.get_by_role("button", name="Left is better").click()
    expect(
        judging.get_by_text("You have judged the pairs on which other assessors disagreed")
    ).to_be_visible()
    judging.close()
    context.add_cookies([own_site.cookie(admin)])

    page.goto(f"{url}/studies/{slug}/progress")
    page.get_by_role("link", name="Adjudicate disagreement").click()
    expect(row).to_contain_text(f"{name}, finished")
    row.get_by_role("link", name="q0").click()
    expect(page.get_by_role("region", name="Ranks and grades of the pages")).to_be_visible()
    page.goto(f"{url}/studies/{slug}/work?state=finished")
    expect(page.get_by_role("row").filter(has_text=name)).to_contain_text("adjudication")


def test_accuracy_on_known_pairs_is_shown_live(
    own_site: Site, admin: User, context: BrowserContext
) -> None:
    url, page, slug = own_site.server.url, context.new_page(), f"gold{admin.id}"
    with own_site.sessions.write.begin() as session:
        study, people = split_study(session, slug)
        query = queries_of(session, study)[1]
        pages = candidates_of_study(session, study.id)[query.id]
        for index, left in enumerate(pages):
            for right in pages[index + 1 :]:
                pair = {"query_id": query.id, "left_id": left, "right_id": right}
                session.add(GoldPair(**pair, answer="left"))
        row = manual_assignment.assign_one(
            session, study, email=people[2].email, query="q1", tool=Tool.PAIRS, round_number=1
        )
    page.goto(f"{url}/studies/{slug}/progress")
    expect(page.get_by_role("heading", name="Assessors", exact=True)).to_be_visible()
    expect(page.get_by_role("columnheader", name="Known pairs")).to_have_count(0)
    with own_site.sessions.write.begin() as session:
        judge(session, session.get_one(Assignment, row.id), [f"q1-d{n}" for n in (3, 2, 1, 0)])
    line = page.locator("#p-people tr").filter(has_text="Chidi").first
    expect(line).to_contain_text("0 %")
    reasons = page.locator("#p-people .why")
    expect(reasons).to_contain_text("inaccurate")
    expect(reasons).to_contain_text("answers on known pairs are right")
    expect(page.locator("#p-stats")).to_contain_text("Right on known pairs")
    sound(page, "known-pairs")
