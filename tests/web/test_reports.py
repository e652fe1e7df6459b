import io
import json
import re
import zipfile
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from tests.clients import tight
from tests.commands import Command
from tests.exporting import judge
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Query

API = "/api/v1/studies/tulips/report"
PAGE = "/studies/tulips/report"


@pytest.mark.thorough
def test_api_files_and_command_tell_the_same(
    client: httpx.Client, headers: dict[str, str], folder_of_commands: Path, topkapi: Command
) -> None:
    answer = client.get(API, headers=headers)
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["format"], answer.json()["study"]["assessors"]) == ("topkapi-report", 3)
    packed = client.get(f"{PAGE}.zip")
    assert packed.headers["content-disposition"] == 'attachment; filename="tulips-report.zip"'
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    out = folder_of_commands / "out"
    topkapi.done("report", "tulips", "--out", str(out), "--no-plots")
    written = {path.name: path.read_bytes() for path in out.iterdir()}
    assert files == written
    assert json.loads(written["report.json"]) == answer.json()
    assert packed.content == client.get(f"{PAGE}.zip").content


@pytest.mark.thorough
@pytest.mark.usefixtures("headers")
def test_the_page_shows_figures_and_keeps_the_rules_of_pages(client: httpx.Client) -> None:
    answer = client.get(PAGE)
    page = answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert not re.search(r"<style|<script(?![^>]* src)|\sstyle=|\son\w+=", page)
    for words in ("T1 pairs", "T2 grades", "Krippendorff", "Consensus", "Time per judgment"):
        assert words in page
    assert page.count("<h1") == 1
    assert 'aria-current="page">Report<' in page
    assert "every figure may still change" in page
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


@pytest.mark.thorough
@pytest.mark.usefixtures("headers")
def test_queries_are_named_by_their_words_and_lead_to_their_pages(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.read() as session:
        rows = session.execute(select(Query.id, Query.text)).all()
    sections = client.get(PAGE).text.split('id="queries"')[1]
    by_query, consensus = sections.split('id="consensus"')
    for section in (by_query, consensus):
        for number, text in rows[:2]:
            assert f'<a href="/studies/tulips/queries/{number}">{text}</a>' in section
    assert "<details><summary>" in tight(consensus)
    assert client.get(f"/studies/tulips/queries/{rows[0][0]}").status_code == 200


@pytest.mark.thorough
@pytest.mark.usefixtures("headers")
def test_names_can_be_hidden(client: httpx.Client, headers: dict[str, str]) -> None:
    assert "Bao 1" in client.get(PAGE).text
    for address in (PAGE, f"{PAGE}.zip", API):
        shown = client.get(address, params={"pseudonyms": "true"}, headers=headers).content
        assert b"Bao 1" not in shown
    assert "assessor-01" in client.get(PAGE, params={"pseudonyms": "true"}).text


@pytest.mark.usefixtures("headers")
def test_hostile_names_stay_text(client: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="bad", documents=4)
        study.name = "<img src=x>"
        (query,) = queries_of(session, study)
        query.text = "<script>alert(1)</script>"
        for name in ("<b>Eve</b>", '" onload="x'):
            user = make_user(session, name=name)
            judge(session, make_assignment(session, user=user, query=query))
    page = client.get("/studies/bad/report").text
    assert "&lt;b&gt;Eve" in page
    for raw in ("<img src=x>", "<b>Eve", "<script>alert", '" onload="'):
        assert raw not in page


@pytest.mark.usefixtures("headers")
def test_a_study_without_work_says_what_is_missing(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="fresh")
        (query,) = queries_of(session, make_study(session, slug="one", documents=4))
        judge(session, make_assignment(session, user=make_user(session, name="Eve"), query=query))
    fresh = client.get("/studies/fresh/report").text
    assert "Nothing is assigned yet" in fresh
    assert "matrix--heat" not in fresh
    one = client.get("/studies/one/report").text
    assert "Only Eve has finished anything so far" in one
    assert "nan" not in re.sub(r"<[^>]*>", " ", one).lower().split()
