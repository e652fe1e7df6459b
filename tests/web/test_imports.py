import os
import re
import threading
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.clients import tight
from tests.factories import Enter, make_study, token_headers
from tests.studies import append, small_study, zipped
from tests.waiting import WATCHDOG, until
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import AuditEvent, Candidate, Query, Study, User
from topkapi.app.domain.enums import Role
from topkapi.app.services.importing import preview_study
from topkapi.app.services.importing.kinds import SIDE_FILES
from topkapi.app.services.importing.uploads import ImportRunner, Stage, UploadStore
from topkapi.app.services.studies import full_copy, lifecycle
from topkapi.app.web.common.cookies import CSRF_HEADER


@pytest.fixture
def admin(enter: Enter) -> User:
    """Create an administrator and sign in."""
    return enter(role=Role.ADMIN)


@pytest.fixture
def token(admin: User, sessions: Sessions) -> dict[str, str]:
    """Return the authorization header of an administrator."""
    with sessions.write.begin() as session:
        return token_headers(session, admin)


def send(client: httpx.Client, data: bytes, name: str = "small.zip", **options: str) -> str:
    reply = client.post("/imports", data=options, files={"file": (name, data)})
    assert reply.status_code == 303, reply.text
    return reply.headers["location"]


def wait(client: httpx.Client, address: str) -> str:
    """Return the page of an upload once its work is done."""

    def finished() -> str:
        page = client.get(address).text
        return "" if "hx-trigger" in page else page

    return until(finished, "the end of the upload")


def slugs(sessions: Sessions) -> list[str]:
    with sessions.read() as session:
        return list(session.scalars(select(Study.slug)))


def test_a_study_is_shown_first_and_written_when_confirmed(
    admin: User, client: httpx.Client, sessions: Sessions, tmp_path: Path
) -> None:
    address = send(client, zipped(small_study(tmp_path / "study")))
    page = wait(client, address)
    assert "Small study" in page
    assert "Import 2 queries" in page
    assert slugs(sessions) == []
    assert client.post(f"{address}/confirm").status_code == 303
    assert "The study was imported" in wait(client, address)
    assert slugs(sessions) == ["small"]
    with sessions.read() as session:
        event = session.scalars(select(AuditEvent)).one()
    assert (event.user_id, event.action) == (admin.id, "study.create")
    assert list((tmp_path / "uploads").glob("*.study")) == []


def test_the_scores_of_a_ranker_are_a_second_file_of_the_form(
    token: dict[str, str], client: httpx.Client, sessions: Sessions, tmp_path: Path
) -> None:
    form = client.get("/imports").text
    route = client.get("/api/v1/openapi.json").json()["paths"]["/api/v1/studies"]["post"]
    schema = route["requestBody"]["content"]["multipart/form-data"]["schema"]["properties"]
    for kind in SIDE_FILES:
        assert schema[kind.role]["description"] == kind.hint
        assert f", a {kind.one}, " in form
        assert re.search(rf'<input [^>]*name="{kind.role}" type="file"', form)
        assert kind.hint in form
    data = zipped(small_study(tmp_path / "study"))
    wrong = {"file": ("small.zip", data), "prior": ("bm25.run", b"q0 Q0 d0 1 7.5 bm25\nq0 Q0\n")}
    address = client.post("/imports", files=wrong).headers["location"]
    named = r"prior\.run</td><td class=\"r\"><span class=\"unit\">line</span>2<"
    assert re.search(named, tight(wait(client, address)))
    files = {"file": ("small.zip", data), "prior": ("bm25.run", b"q0 Q0 d0 1 7.5 bm25\n")}
    address = client.post("/imports", files=files).headers["location"]
    wait(client, address)
    client.post(f"{address}/confirm")
    wait(client, address)
    reply = client.post("/api/v1/studies?slug=other", headers=token, files=files)
    assert reply.status_code == 201, reply.text
    with sessions.read() as session:
        features = [each for each in session.scalars(select(Candidate.features)) if each]
        priors = [study.settings.prior for study in session.scalars(select(Study))]
    assert (features, priors) == ([{"prior": 7.5}] * 2, ["prior"] * 2)
    left = [path.suffix for path in (tmp_path / "uploads").iterdir()]
    assert not {".study", ".prior"} & set(left)


@pytest.mark.usefixtures("admin")
def test_a_study_is_confirmed_once(client: httpx.Client, tmp_path: Path) -> None:
    address = send(client, zipped(small_study(tmp_path / "study")))
    wait(client, address)
    first, second = (client.post(f"{address}/confirm").status_code for _ in range(2))
    assert (first, second) == (303, 409)


@pytest.mark.usefixtures("admin")
def test_a_refused_study_lists_its_problems(
    client: httpx.Client, sessions: Sessions, tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study")
    append(folder / "queries.jsonl", '{"id": "q0", "text": ""}\n')
    address = send(client, zipped(folder))
    page = tight(wait(client, address))
    assert "Nothing was imported" in page
    named = r"queries\.jsonl</td><td class=\"r\"><span class=\"unit\">line</span>3<"
    assert re.search(named, page)
    assert re.search(r"Read without problems: 2 queries, \d+ pages of \d+ bytes, \d+ cand", page)
    assert client.post(f"{address}/confirm").status_code == 409
    assert slugs(sessions) == []


@pytest.mark.usefixtures("admin")
@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [(b"PK\x03\x04 not a zip", "x.zip", "damaged"), (b"no features here\n", "x.txt", "x.txt")],
)
def test_what_is_no_study_is_refused_under_its_own_name(
    client: httpx.Client, data: bytes, name: str, expected: str
) -> None:
    page = wait(client, send(client, data, name))
    assert expected in page
    assert name in page


@pytest.mark.usefixtures("admin")
def test_a_letor_file_is_a_study(client: httpx.Client, sessions: Sessions) -> None:
    lines = b"2 qid:1 1:0.5 2:1 #docid = a\n0 qid:1 1:0.1 2:0 #docid = b\n"
    address = send(client, lines, "letor-fold.txt")
    assert "letor-fold" in wait(client, address)
    client.post(f"{address}/confirm")
    wait(client, address)
    assert len(slugs(sessions)) == 1


@pytest.mark.usefixtures("admin")
def test_no_file_and_an_empty_file_are_refused(client: httpx.Client) -> None:
    assert client.post("/imports", data={"x": "y"}).status_code == 422
    reply = client.post("/imports", files={"file": ("x.zip", b"")})
    assert reply.status_code == 422
    assert "The file is empty" in reply.text


@pytest.mark.usefixtures("admin")
def test_a_file_that_says_it_is_too_large_is_refused_unread(
    client: httpx.Client, token: dict[str, str]
) -> None:
    headers = {**token, "Content-Length": str(3 * 1024**3)}
    reply = client.post("/api/v1/studies", content=b"x", headers=headers)
    assert reply.status_code == 413
    assert "larger than 2 GB" in reply.json()["detail"]


def test_a_stream_that_grows_too_large_is_cut_off(tmp_path: Path) -> None:
    from io import BytesIO

    from topkapi.app.domain.errors import Invalid

    store = UploadStore(tmp_path / "up", largest=10)
    path = store.new_file()
    with pytest.raises(Invalid, match="Split the study"):
        store.keep(BytesIO(b"x" * 11), path)
    assert not path.exists()


def test_the_upload_is_not_read_for_strangers(client: httpx.Client, enter: Enter) -> None:
    reply = client.post("/imports", files={"file": ("x.zip", b"PK")})
    assert reply.headers["location"].startswith("/sign-in")
    enter(role=Role.RESEARCHER)
    assert client.post("/imports", files={"file": ("x.zip", b"PK")}).status_code == 403


@pytest.mark.usefixtures("admin")
def test_a_plain_form_is_believed_by_its_field(client: httpx.Client, tmp_path: Path) -> None:
    csrf = client.headers.pop(CSRF_HEADER)
    data = zipped(small_study(tmp_path / "study"))
    assert client.post("/imports", files={"file": ("s.zip", data)}).status_code == 403
    reply = client.post("/imports", data={"csrf_token": csrf}, files={"file": ("s.zip", data)})
    assert reply.status_code == 303


def test_old_uploads_are_removed_and_one_that_vanishes_meanwhile_does_no_harm(
    tmp_path: Path,
) -> None:
    store = UploadStore(tmp_path / "up")
    old = store.new_file()
    old.touch()
    os.utime(old, (0, 0))
    gone = store.new_file().with_name("gone.study")
    gone.symlink_to(tmp_path / "nowhere")  # listed, and not there when it is looked at
    assert store.new_file().parent == gone.parent
    assert not old.exists()


def test_an_upload_whose_server_died_says_so(tmp_path: Path) -> None:
    from dataclasses import replace
    from datetime import timedelta

    store = UploadStore(tmp_path / "up")
    path = store.new_file()
    path.write_bytes(b"PK")
    upload = store.enter(path, filename="../../etc/x.zip", size=2, user_id=1)
    assert upload.filename == "x.zip"
    old = replace(upload, stage=Stage.WRITING, changed_at=upload.changed_at - timedelta(hours=1))
    store.save(old)
    assert store.find(upload.id).stage is Stage.REFUSED


@pytest.mark.usefixtures("admin")
def test_discarded_and_unknown_uploads(client: httpx.Client, tmp_path: Path) -> None:
    address = send(client, zipped(small_study(tmp_path / "study")))
    wait(client, address)
    assert client.post(f"{address}/cancel").headers["location"] == "/imports"
    assert "discarded" in client.get(address).text
    assert client.get("/imports/..%2fsecret").status_code == 404
    assert client.get(f"/imports/{'0' * 32}").status_code == 404


def test_candidates_without_a_document_are_left_out_on_page_and_in_the_api(
    client: httpx.Client, token: dict[str, str], tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study")
    append(folder / "candidates.jsonl", '{"query": "q0", "document": "nowhere"}\n')
    data, left_out = zipped(folder), "1 candidate left out: their documents are missing or empty"
    assert "There is no document" in wait(client, send(client, data))
    assert f"{left_out}." in wait(client, send(client, data, leave_out="missing"))
    reply = client.post(
        "/api/v1/studies", params={"leave_out": "missing"}, headers=token, content=data
    ).json()
    assert (reply["candidates"], reply["left_out"]) == (6, 1)
    assert left_out in reply["notes"]


def test_runs_are_pooled_on_page_and_in_the_api(
    client: httpx.Client, token: dict[str, str], tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "candidates.jsonl").unlink()
    rows = [f"q{n} Q0 d{d} 1 {9 - d} bm25\n" for n in range(2) for d in range(3)]
    (folder / "run.txt").write_text("".join(rows))
    data = zipped(folder)
    assert "the first 2 of run.txt" in wait(client, send(client, data, pool="2"))
    reply = client.post("/api/v1/studies", params={"pool": 2}, headers=token, content=data).json()
    assert (reply["candidates"], reply["read_from"]["candidates"]) == (4, "the first 2 of run.txt")


@pytest.mark.parametrize("how", ["body", "form"])
def test_a_program_imports_after_a_dry_run(
    client: httpx.Client, token: dict[str, str], sessions: Sessions, tmp_path: Path, how: str
) -> None:
    data = zipped(small_study(tmp_path / "study"))

    def post(**params: str) -> httpx.Response:
        if how == "form":
            return client.post(
                "/api/v1/studies", params=params, headers=token, files={"file": ("s.zip", data)}
            )
        headers = {**token, "Content-Type": "application/zip"}
        return client.post("/api/v1/studies", params=params, headers=headers, content=data)

    dry = post(dry_run="true")
    assert (dry.status_code, dry.json()["new_queries"], dry.json()["dry_run"]) == (200, 2, True)
    assert slugs(sessions) == []
    made = post()
    assert (made.status_code, made.json()["slug"]) == (201, "small")
    again = post()
    assert (again.status_code, again.json()["code"]) == (409, "unchanged")
    with sessions.read() as session:
        assert len(session.scalars(select(Query)).all()) == 2
    assert list((tmp_path / "uploads").glob("*.study")) == []


def test_a_program_is_told_every_problem(
    client: httpx.Client, token: dict[str, str], tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study")
    append(folder / "candidates.jsonl", '{"query": "q7", "document": "d0"}\n')
    headers = {**token, "Content-Type": "application/octet-stream"}
    reply = client.post("/api/v1/studies", headers=headers, content=zipped(folder))
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    (problem,) = reply.json()["problems"]
    assert (problem["file"], problem["line"], problem["field"]) == ("candidates.jsonl", 7, "query")


def held_reading(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Hold the reading of studies: return what says that one has begun, and what lets it go on."""
    entered, go_on = threading.Event(), threading.Event()

    def slow(*given: object, **named: object) -> object:
        entered.set()
        assert go_on.wait(WATCHDOG)
        return original(*given, **named)  # type: ignore[arg-type]

    original = preview_study
    monkeypatch.setattr("topkapi.app.services.importing.service.preview_study", slow)
    return entered, go_on


@pytest.mark.usefixtures("admin")
def test_requests_are_answered_while_a_study_is_imported(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, go_on = held_reading(monkeypatch)
    address = send(client, zipped(small_study(tmp_path / "study")))
    assert entered.wait(WATCHDOG)
    assert "Reading" in client.get(address).text
    assert client.get("/people").status_code == 200
    go_on.set()
    assert "Small study" in wait(client, address)


def test_studies_sent_at_once_are_read_one_after_the_other(
    app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten large studies at once take the memory of one, and no thread of the requests."""
    entered, go_on = held_reading(monkeypatch)
    runner: ImportRunner = app.state.uploads
    path = tmp_path / "study.zip"
    path.write_bytes(zipped(small_study(tmp_path / "study")))
    futures = [runner.import_now(path, "study.zip", actor_id=1, dry_run=True) for _ in range(3)]
    assert entered.wait(WATCHDOG)
    assert [each.running() for each in futures] == [True, False, False]
    go_on.set()
    assert [each.result().slug for each in futures] == ["small"] * 3
    runner.close()


@pytest.mark.thorough
@pytest.mark.usefixtures("admin")
def test_a_full_copy_is_uploaded_and_restored(
    client: httpx.Client, sessions: Sessions, tmp_path: Path
) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="tulips")
        full_copy.write_copy(session, study, tmp_path / "copy.zip")
        lifecycle.archive(session, study)
        lifecycle.delete_study(session, study, confirm="tulips")
    address = send(client, (tmp_path / "copy.zip").read_bytes(), "copy.zip")
    page = wait(client, address)
    assert "full copy" in page
    assert slugs(sessions) == []
    assert client.post(f"{address}/confirm").status_code == 303
    assert "The study was imported" in wait(client, address)
    assert slugs(sessions) == ["tulips"]
