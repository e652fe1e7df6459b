"""An administrator starts a machine, watches it, stops it and continues it."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from tests.browser.assigned_work import Site
from tests.browser.looks import barriers, sound
from tests.chat_endpoint import ChatEndpoint, Fault, serving_chat
from tests.factories import make_user
from tests.live import FORKER, serving
from tests.ranked import make_ranked_study
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.browser


def test_a_machine_is_started_watched_stopped_and_continued(
    sqlite_url: str, tmp_path: Path, context: BrowserContext
) -> None:
    engine = make_engine(sqlite_url)
    sessions = make_sessions(engine)
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN)
        make_ranked_study(session, slug="ranked", queries=2, documents=6)
    endpoint = ChatEndpoint(faults=lambda _number: Fault(503) if stuck else None)
    stuck: list[bool] = []
    with (
        serving_chat(endpoint),
        serving(
            sqlite_url,
            tmp_path,
            start=FORKER.start,
            work=True,
            model_endpoint=endpoint.address,
            model_key=endpoint.key,
        ) as server,
    ):
        site = Site(server, sessions)
        context.add_cookies([site.cookie(user)])
        page = context.new_page()
        page.goto(f"{server.url}/studies/ranked/machines")
        page.get_by_label("Model at").fill("fake")
        page.get_by_label("Price of a million tokens sent").fill("2")
        page.get_by_label("Price of a million tokens received").fill("8")
        page.get_by_label("Most it may cost in all runs").fill("0.000001")
        page.keyboard.press("Tab")
        page.get_by_role("button", name="Estimate").click()
        expect(page.get_by_role("status")).to_contain_text("2 queries, about ")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_contain_text("Raise it to at least 0.0")
        assert endpoint.requests == 0
        expect(page.get_by_label("Model at")).to_have_value("fake")
        page.get_by_label("Most it may cost in all runs").fill("")

        page.get_by_text("T1 pairs, built in").click()
        prompt = page.get_by_label("Prompt for T1 pairs")
        prompt.fill(prompt.input_value() + "Think before you reply.\n")
        sound(page, "machines")
        page.get_by_role("button", name="Save as a new version").first.click()
        expect(page.get_by_text("T1 pairs, version 1")).to_be_visible()

        stuck.append(True)
        start(page)
        expect(page.get_by_role("heading", name="Running")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        stuck.clear()
        expect(page.get_by_text("The job was stopped.")).to_be_visible()
        expect(page.get_by_text("Its answers are kept")).to_be_visible()

        page.goto(f"{server.url}/studies/ranked/machines")
        start(page)
        runs = page.get_by_role("region", name="Runs")  # the page goes there by itself
        expect(runs.get_by_role("row").nth(1)).to_contain_text("done")
        expect(runs.get_by_role("row").nth(1)).to_contain_text("pairs prompt 1")
        expect(runs.get_by_role("row").nth(2)).to_contain_text("stopped")
        assert barriers(page) == []

        judged_elsewhere(page, b"q0 0 q0-d0 2\nq0 0\n")
        expect(page.get_by_role("alert")).to_contain_text("judged.qrels, line 2: 2 columns")
        judged_elsewhere(page, b"q0 0 q0-d0 2\nq7 0 d 1\n")
        done = "elsewhere: 1 grade of 1 query imported, 1 about other queries or pages left out."
        expect(page.get_by_role("status")).to_contain_text(done)
    engine.dispose()
    assert max(endpoint.paid.values()) == 1
    assert all("Think before you reply." in each for each in endpoint.prompts[1:])
    assert endpoint.key not in server.log.read_text()


def start(page: Page) -> None:
    page.get_by_label("Model at").fill("fake")
    page.get_by_role("button", name="Start").click()


def judged_elsewhere(page: Page, lines: bytes) -> None:
    page.get_by_label("Name of the machine").fill("elsewhere")
    file = FilePayload(name="judged.qrels", mimeType="text/plain", buffer=lines)
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Import").click()
