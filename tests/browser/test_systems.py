"""An administrator adds runs of two systems, compares them with a baseline, and removes one."""

import pytest
from playwright.sync_api import BrowserContext, FilePayload, expect

from tests.browser.assigned_work import Site
from tests.browser.looks import barriers, sound, widths
from tests.exporting import make_judged_study
from tests.factories import make_user
from tests.ranked import compare_lists
from tests.systems import packed, run_of
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.browser


def file(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def test_from_two_runs_to_their_scores(site: Site, context: BrowserContext) -> None:
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN)
        slug = f"systems-{user.id}"
        make_judged_study(session, slug=slug)
    context.add_cookies([site.cookie(user)])
    page = context.new_page()
    page.goto(f"{site.server.url}/studies/{slug}/report")
    page.get_by_role("link", name="Systems", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="No systems yet")).to_be_visible()
    assert barriers(page) == []
    page.get_by_label("TREC runs").set_input_files([file("bad.run", b"q0 Q0 q0-d0 1 high bm25")])
    page.get_by_role("button", name="Add runs").press("Enter")
    expect(page.get_by_text("bad.run, line 1: score 'high'")).to_be_visible()
    expect(page.get_by_text("No run was added")).to_be_visible()
    runs = [
        file("bm25.run", run_of("bm25").encode()),
        file("dense.run.gz", packed(run_of("dense", turned=True))),
    ]
    page.get_by_label("TREC runs").set_input_files(runs)
    page.get_by_role("button", name="Add runs").press("Enter")
    by_one = page.get_by_role("region", name="Scores by one measure")
    expect(by_one.get_by_role("row", name="bm25")).to_contain_text("2 of 2")
    page.get_by_label("Baseline").select_option("bm25")
    page.get_by_label("Measure", exact=True).select_option("map")
    page.get_by_role("button", name="Compare").press("Enter")
    expect(by_one.get_by_role("row", name="dense")).to_contain_text("not significant")
    expect(by_one.get_by_role("columnheader", name="map")).to_be_visible()
    with site.sessions.write.begin() as session:
        compare_lists(session, slug, make_user(session).email)
    page.reload()
    board = page.get_by_role("region", name="Leaderboard", exact=True)
    expect(board.get_by_role("rowheader", name="system-0")).to_be_visible()
    sound(page, "systems")
    for _width in widths(page):
        expect(page.get_by_role("link", name="Exports", exact=True)).to_be_in_viewport()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download CSV").press("Enter")
    assert saved.value.path().read_text().startswith("system,measure,mean,")
    page.get_by_role("button", name="Remove bm25").press("Enter")
    expect(page.get_by_role("button", name="Remove dense")).to_be_visible()
    expect(page.get_by_role("button", name="Remove bm25")).to_have_count(0)
