"""Pictures and PDF files as documents: imported, rendered, served, refused."""

from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.media import pdf_of, png_of
from tests.studies import load, write_jsonl
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Content, Document, Study, StudyFile
from topkapi.app.db.queries.studies import importing as stored
from topkapi.app.services.importing import StudyRefused, Unchanged
from topkapi.app.services.pages import pdf_rendering
from topkapi.app.web.pages.page_links import PageLink

GUIDE = pdf_of("Water the tulips daily", "Cut the stems at an angle")


def media_study(folder: Path, *, named: bool = True) -> Path:
    """Write a study whose pages are a PDF, a picture and a text; ``named``: in documents.jsonl."""
    pages = folder / "pages"
    pages.mkdir(parents=True)
    (folder / "study.toml").write_text('name = "Media"\nk = 2\n')
    (pages / "guide.pdf").write_bytes(GUIDE)
    (pages / "vase.png").write_bytes(png_of(60))
    (pages / "text.txt").write_text("Tulips like cool water.")
    ids = ["guide", "vase", "text"] if named else ["guide", "text"]
    if named:
        names = {"guide": "guide.pdf", "vase": "vase.png", "text": "text.txt"}
        records = ({"id": each, "path": f"pages/{names[each]}"} for each in ids)
        write_jsonl(folder / "documents.jsonl", records)
    write_jsonl(folder / "queries.jsonl", [{"id": "q", "text": "keep tulips"}])
    write_jsonl(folder / "candidates.jsonl", ({"query": "q", "document": each} for each in ids))
    return folder


@pytest.mark.thorough
def test_a_pdf_keeps_its_bytes_and_gets_its_text_and_pictures(
    session: Session, tmp_path: Path
) -> None:
    load(session, media_study(tmp_path / "study"))
    statement = select(Document.external_id, Content.media_type).join(Document.content)
    kinds = {row[0]: row[1] for row in session.execute(statement)}
    assert kinds == {"guide": "application/pdf", "vase": "image/png", "text": "text/plain"}
    stored = session.scalars(
        select(Content).join(Document).where(Document.external_id == "guide")
    ).one()
    assert stored.data == GUIDE
    assert stored.text == "Water the tulips daily\n\nCut the stems at an angle"
    paths = set(session.scalars(select(StudyFile.path)))
    rendered = {f"pages/guide.pdf.rendered/{name}" for name in ("1.webp", "2.webp", "index.html")}
    assert paths == {*rendered, "pages/vase.png", "pages/text.txt"}
    with pytest.raises(Unchanged):
        load(session, tmp_path / "study")


@pytest.mark.thorough
def test_without_a_documents_file_pdfs_are_documents_and_pictures_are_not(
    session: Session, tmp_path: Path
) -> None:
    report = load(session, media_study(tmp_path / "study", named=False))
    assert report.documents == 2
    assert set(session.scalars(select(Document.external_id))) == {"guide", "text"}


@pytest.mark.thorough
def test_two_documents_may_share_a_pdf(session: Session, tmp_path: Path) -> None:
    folder = media_study(tmp_path / "study")
    documents = [{"id": each, "path": "pages/guide.pdf"} for each in ("guide", "vase", "text")]
    write_jsonl(folder / "documents.jsonl", documents)
    assert load(session, folder).documents == 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("guide.pdf", b"%PDF-1.4 but not really", "it is damaged"),
        ("guide.pdf", pdf_of(), "it is damaged"),
        ("vase.png", b"GIF89a not a PNG", "not a picture of its kind"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(
    session: Session, tmp_path: Path, name: str, data: bytes, says: str
) -> None:
    folder = media_study(tmp_path / "study")
    (folder / "pages" / name).write_bytes(data)
    with pytest.raises(StudyRefused, match=says):
        load(session, folder)


def test_a_pdf_of_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_rendering, "MAX_PDF_PAGES", 1)
    with pytest.raises(pdf_rendering.BadPdf, match="2 pages"):
        pdf_rendering.check_pdf(GUIDE)


@pytest.mark.thorough
def test_media_are_served_as_pages_in_which_nothing_runs(
    app: FastAPI, client: httpx.Client, sessions: Sessions, tmp_path: Path
) -> None:
    with sessions.write.begin() as session:
        load(session, media_study(tmp_path / "study"))
        study_id = session.scalars(select(Study.id)).one()
        numbers = stored.document_numbers(session, study_id)

    def address(name: str, path: str) -> str:
        link = PageLink(study_id, numbers[name], "light", 3, ("tulips",))
        return str(app.state.page_links.address(link, path))

    guide = address("guide", "pages/guide.pdf")
    page = client.get(guide)
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert '<mark data-mark="1">tulips</mark> </span>' in page.text
    assert page.text.count('class="sheet"') == 2
    picture = client.get(guide.removesuffix("guide.pdf") + "guide.pdf.rendered/1.webp")
    assert (picture.headers["content-type"], picture.content[8:12]) == ("image/webp", b"WEBP")
    vase = address("vase", "pages/vase.png")
    assert '<img src="vase.png?raw=1"' in client.get(vase).text
    opened = client.get(f"{vase}?raw=1", headers={"Sec-Fetch-Dest": "document"})
    assert opened.headers["content-type"].startswith("text/html")  # never on its own in a tab
    raw = client.get(f"{vase}?raw=1", headers={"Sec-Fetch-Dest": "image"})
    assert (raw.headers["content-type"], raw.content) == ("image/png", png_of(60))
