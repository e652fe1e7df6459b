"""Importing an edited study again: the difference is shown, and the choice is kept."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from sqlalchemy import select

from tests.browser.assigned_work import Site
from tests.browser.looks import barriers
from tests.browser.test_steering import upload
from tests.factories import make_user
from tests.services.importing.test_collections import antique
from tests.studies import append, small_study, zipped
from topkapi.app.db.models import Study
from topkapi.app.domain.enums import Role
from topkapi.app.services.importing import import_study, open_source
from topkapi.app.services.studies.edit_study import change_study

pytestmark = pytest.mark.browser


def test_an_administrator_chooses_between_edits_and_files(
    site: Site, context: BrowserContext, tmp_path: Path
) -> None:
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN, name="Maren Oduya")
        slug = f"again{user.id}"
        folder = small_study(tmp_path / slug)
        settings = f'name = "Tulips"\nslug = "{slug}"\nk = 3\n'
        (folder / "study.toml").write_text(settings)
        (folder / "guidelines.md").write_text("# Choose\n\nLook once.\nThen answer.\n")
        with open_source(folder) as source:
            import_study(session, source)
        study = session.scalars(select(Study).where(Study.slug == slug)).one()
        change_study(
            session,
            study,
            name="Tulips, edited",
            guidelines="# Choose\n\nLook twice.\nThen answer.\n",
            settings={"idle_seconds": 45},
            actor_id=user.id,
        )
    (folder / "study.toml").write_text(settings.replace("Tulips", "Tulips of 2026"))
    (folder / "guidelines.md").write_text("# Choose\n\nLook carefully.\nThen answer.\n")
    append(folder / "queries.jsonl", '{"id": "q9", "text": "one more"}\n')
    append(folder / "candidates.jsonl", '{"query": "q9", "document": "d0"}\n')

    context.add_cookies([site.cookie(user)])
    page = context.new_page()
    upload(page, site.server.url, folder)
    guidelines = page.get_by_role("group", name="Guidelines")
    expect(guidelines.get_by_text("Look twice.")).to_be_visible()
    expect(guidelines.get_by_text("Look carefully.")).to_be_visible()
    expect(guidelines.get_by_text("Maren Oduya changed it on the page Guidelines")).to_be_visible()
    pause = page.get_by_role("group", name="idle_seconds")
    expect(pause.get_by_label("Keep the edit")).to_be_checked()
    assert barriers(page) == []
    name = page.get_by_role("group", name="Name")
    page.get_by_role("button", name="Import 1 query").click()  # nothing chosen yet: not sent
    expect(page.get_by_role("button", name="Import 1 query")).to_be_visible()
    guidelines.get_by_label("Keep the edit").check()
    name.get_by_label("Use the file").press("Space")
    page.get_by_role("button", name="Import 1 query").click()
    expect(page.get_by_text("The study was imported.")).to_be_visible()
    expect(page.get_by_text("guidelines (kept)")).to_be_visible()
    with site.sessions.read() as session:
        study = session.scalars(select(Study).where(Study.slug == slug)).one()
        assert study.name == "Tulips of 2026"
        assert "Look twice." in study.guidelines
        assert study.settings.idle_seconds == 45

    page.goto(f"{site.server.url}/studies/{slug}/guidelines")
    page.get_by_role("link", name="History").click()
    expect(page.get_by_role("heading", name="Version 2")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="Edit from this version 1").click()
    expect(page.get_by_label("Guidelines in Markdown")).to_have_value(
        "# Choose\n\nLook once.\nThen answer.\n"
    )


def test_a_part_of_raw_files_is_imported_and_a_wrong_file_is_diagnosed(
    site: Site, context: BrowserContext, tmp_path: Path
) -> None:
    with site.sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN, name="Maren Oduya")
    context.add_cookies([site.cookie(user)])
    page = context.new_page()
    folder = antique(tmp_path / "antique", queries=5, judged=4)
    path = tmp_path / "antique.zip"
    path.write_bytes(zipped(folder))
    page.goto(f"{site.server.url}/imports")
    page.get_by_text("Take a part, pool runs, a prior, or another name").click()
    assert barriers(page) == []
    page.get_by_label("Study", exact=True).set_input_files(path)
    page.get_by_label("Queries", exact=True).fill("2")
    page.get_by_label("Candidates per query").fill("3")
    page.get_by_label("Slug").fill(f"antique-{user.id}")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("button", name="Import 2 queries")).to_be_visible()
    expect(page.get_by_text("2 of 5 queries with candidates were taken")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("button", name="Import 2 queries").click()
    expect(page.get_by_text("The study was imported.")).to_be_visible()

    swapped = "".join(f"{n}_{n} 0 {n} 1\n" for n in range(4))
    for name in ("antique-test.qrel", "antique-train.qrel"):
        (folder / name).write_text(swapped)
    upload(page, site.server.url, folder)
    expect(page.get_by_text("The columns look swapped")).to_be_visible()
    assert barriers(page) == []
