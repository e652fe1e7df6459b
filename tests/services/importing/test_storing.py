import io
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.factories import make_assignment
from tests.studies import (
    STUDY,
    append,
    candidate,
    document,
    load,
    offered,
    query,
    small_study,
    write_gzip,
    write_jsonl,
    zipped,
)
from topkapi.app.db.models import (
    AuditEvent,
    Candidate,
    Content,
    Document,
    Query,
    Ranking,
    Study,
    StudyFile,
)
from topkapi.app.db.models.document import content_hash
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing import (
    StudyRefused,
    Unchanged,
    ZipSource,
    import_study,
    open_source,
    preview_study,
)

pytestmark = pytest.mark.both
RANKED = ((1, "d1"), (2, "d0"), (3, "d2"), (4, "unknown"))


@pytest.fixture
def folder(session: Session, tmp_path: Path) -> Path:
    """Return the folder of a small study that has been imported."""
    folder = small_study(tmp_path / "study")
    load(session, folder)
    return folder


def column(session: Session, *columns: Any) -> list[Any]:
    return [
        tuple(row) if len(columns) > 1 else row[0]
        for row in session.execute(select(*columns).order_by(*columns))
    ]


def test_a_study_arrives_whole(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "guidelines.md").write_text("# Prefer what helps\r\n")
    report = load(session, folder)
    study = session.scalars(select(Study)).one()
    assert (study.slug, study.name, study.guidelines) == (
        "small",
        "Small study",
        "# Prefer what helps\n",
    )
    assert study.settings == StudySettings(k=3)
    assert column(session, Query.position, Query.external_id) == [(0, "q0"), (1, "q1")]
    assert offered(session) == [(f"q{n // 3}", f"d{n}", n % 5) for n in range(6)]
    assert (report.action, report.queries, report.new_documents) == ("create", 2, 6)
    event = session.scalars(select(AuditEvent)).one()
    assert (event.action, event.subject, event.detail["documents"]) == ("study.create", "small", 6)


def test_a_zip_is_the_folder_it_holds(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / ".DS_Store").write_bytes(b"\0")
    with ZipSource(io.BytesIO(zipped(folder, inside="my study/")), name="up.zip") as source:
        import_study(session, source)
    assert len(offered(session)) == 6
    with pytest.raises(Unchanged, match="these files contain nothing new"):
        load(session, folder)


def test_a_dry_run_reports_and_writes_nothing(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "readme.txt").write_text("x")
    with open_source(folder) as source:
        report = preview_study(session, source)
    assert (report.dry_run, report.new_candidates, report.ignored) == (True, 6, ("readme.txt",))
    assert report.read_from["candidates"] == "candidates.jsonl (jsonl)"
    assert any("would import" in line for line in report.lines())
    assert session.scalar(select(func.count()).select_from(Study)) == 0


def test_pages_keep_their_files_and_paths(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=2)
    pages = folder / "pages" / "a"
    pages.mkdir(parents=True)
    (pages / "one.html").write_text("<link rel=stylesheet href=s.css><h1>One &amp; only</h1><p>x")
    (pages / "two.md").write_text("# Two\n\ntext")
    (pages / "s.css").write_text("p { color: red }")
    (pages / "i.png").write_bytes(b"\x89PNG\0\xff")
    write_jsonl(
        folder / "documents.jsonl",
        [{"id": "d0", "path": "pages/a/one.html"}, {"id": "d1", "path": "pages/a/two.md"}],
    )
    load(session, folder)
    paths = column(session, StudyFile.path)
    assert paths == [f"pages/a/{name}" for name in ("i.png", "one.html", "s.css", "two.md")]
    assert column(session, Document.path) == ["pages/a/one.html", "pages/a/two.md"]
    kinds = dict(column(session, Content.media_type, Content.text))
    assert kinds["text/html"] == "One & only\n\nx"
    assert kinds["text/markdown"] == "# Two\n\ntext"
    assert kinds["image/png"] is None
    image = session.scalars(select(Content.data).where(Content.media_type == "image/png")).one()
    assert image == b"\x89PNG\0\xff"


def test_contents_are_kept_once_and_by_what_they_are(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=3)
    same = "<b>same</b>"
    write_jsonl(
        folder / "documents.jsonl",
        [{"id": "d0", "text": same}, {"id": "d1", "html": same}, {"id": "d2", "text": same}],
    )
    load(session, folder)
    found = dict(column(session, Document.external_id, Document.content_hash))
    assert found["d0"] == found["d2"] == content_hash("text/plain", same.encode())
    assert column(session, Content.media_type, Content.text) == [
        ("text/html", "same"),
        ("text/plain", same),
    ]


def test_a_page_that_names_its_encoding_is_stored_in_utf8(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=1)
    (folder / "documents.jsonl").unlink()
    (folder / "pages").mkdir()
    page = '<meta charset="iso-8859-1"><p>café “quoted”'.encode("cp1252")
    (folder / "pages" / "d0.html").write_bytes(page)
    load(session, folder)
    assert session.scalars(select(Content.text)).one() == "café “quoted”"
    assert session.scalars(select(Content.data)).one() == page.decode("cp1252").encode()


TOPICS = """<top>
<num> Number: 301
<title> International Organized Crime
<desc> Description:
Identify organizations
that participate.
<narr> Narrative:
A relevant document must name &amp; describe.
</top>

<top>
<num>302</num>
<title>Poliomyelitis</title>
</top>
"""


def test_trec_topics_qrels_and_two_columns_are_read(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    folder.mkdir()
    (folder / "study.toml").write_text('name = "Trec"\nk = 2\n')
    write_gzip(folder / "topics.txt.gz", TOPICS)
    (folder / "documents.tsv").write_text("FR94-1\tOne text.\nFT-2\tAnother\twith a tab.\n")
    (folder / "qrels.robust.txt").write_text("301 0 FR94-1 2\n301 0 FT-2 -1\n302 0 FT-2 1\n")
    load(session, folder)
    first = session.scalars(select(Query).where(Query.external_id == "301")).one()
    assert (first.text, first.description, first.narrative) == (
        "International Organized Crime",
        "Identify organizations that participate.",
        "A relevant document must name & describe.",
    )
    assert offered(session) == [("301", "FR94-1", 2), ("301", "FT-2", -1), ("302", "FT-2", 1)]
    assert "Another\twith a tab." in column(session, Content.text)


def test_runs_are_candidates_and_rankings(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=3)
    (folder / "study.toml").write_text(STUDY + 'tools = ["pairs", "lists"]\n')
    (folder / "candidates.jsonl").unlink()
    run = "q0 Q0 d2 1 9.5 bm25\nq0 Q0 d0 2 9 bm25\nq0 Q0 d1 3 8 bm25\n"
    (folder / "run.bm25.txt").write_text(run)
    (folder / "rankings").mkdir()
    (folder / "rankings" / "bm25.run").write_text(run)
    (folder / "rankings" / "other.run").write_text("q0 Q0 d1 1 1 other\nq0 Q0 d2 2 3 other\n")
    report = load(session, folder)
    assert [name for _, name, _ in offered(session)] == ["d2", "d0", "d1"]
    numbers = dict(column(session, Document.external_id, Document.id))
    found = {row.system: row.documents for row in session.scalars(select(Ranking))}
    assert found == {
        "bm25": [numbers[name] for name in ("d2", "d0", "d1")],
        "other": [numbers["d2"], numbers["d1"]],
    }
    assert report.rankings == 2
    assert Tool.LISTS in session.scalars(select(Study.settings)).one().tools


LETOR = """2 qid:10 1:0.5 2:1 #docid = GX1 inc = 1
0 qid:10 1:0 2:-3e-2 #docid = GX2
# a comment
1 qid:11 2:7 #docid = GX1
"""


def test_a_letor_file_is_a_study_of_feature_cards(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "Fold1 train.txt.gz"
    write_gzip(path, LETOR)
    report = load(session, path)
    assert (report.slug, report.documents) == ("fold1-train", 3)
    assert offered(session) == [("10", "GX1@10", 2), ("10", "GX2", 0), ("11", "GX1@11", 1)]
    assert column(session, Query.text) == ["Query 10", "Query 11"]
    features = {tuple(row.features.items()) for row in session.scalars(select(Candidate))}  # type: ignore[union-attr]
    assert (("1", 0.5), ("2", 1.0)) in features
    text = session.scalars(select(Content.text).where(Content.text.contains("GX2"))).one()
    assert text is not None
    assert text.split() == ["GX2", "Feature", "Value", "1", "0", "2", "-0.03"]


def test_letor_features_join_real_documents(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=2)
    (folder / "candidates.jsonl").unlink()
    (folder / "letor.txt").write_text("1 qid:q0 1:0.5 #docid = d0\n0 qid:q0 1:1 #docid = d1\n")
    load(session, folder)
    assert offered(session) == [("q0", "d0", 1), ("q0", "d1", 0)]
    assert "Do it 0 times." in column(session, Content.text)


def test_files_can_be_named_in_the_settings(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "queries.jsonl").rename(folder / "my-queries.jsonl")
    append(folder / "study.toml", '[files]\nqueries = "my-queries.jsonl"\n')
    assert load(session, folder).queries == 2


def grown(folder: Path) -> Path:
    """Write the small study with a third query that has its own document."""
    append(folder / "queries.jsonl", '{"id": "q2", "text": "one more"}\n')
    append(folder / "documents.jsonl", '{"id": "d6", "text": "One more page."}\n')
    append(folder / "candidates.jsonl", '{"query": "q2", "document": "d6"}\n')
    append(folder / "candidates.jsonl", '{"query": "q2", "document": "d0"}\n')
    return folder


def test_queries_and_documents_can_be_added(session: Session, folder: Path) -> None:
    first = session.scalars(select(Query).where(Query.external_id == "q0")).one()
    assignment = make_assignment(session, query=first)
    plan = dict(assignment.plan)
    report = load(session, grown(folder))
    assert (report.action, report.new_queries, report.new_documents, report.new_candidates) == (
        "extend",
        1,
        1,
        2,
    )
    assert [row for row in offered(session) if row[0] == "q2"] == [
        ("q2", "d6", None),
        ("q2", "d0", None),
    ]
    assert column(session, Query.position, Query.external_id)[-1] == (2, "q2")
    session.refresh(assignment)
    assert assignment.plan == plan


def test_candidates_are_added_behind_the_others_while_nobody_is_assigned(
    session: Session, folder: Path
) -> None:
    append(folder / "candidates.jsonl", '{"query": "q0", "document": "d4"}\n')
    load(session, folder)
    assert [name for of, name, _ in offered(session) if of == "q0"] == ["d0", "d1", "d2", "d4"]


def test_untitled_pages_and_cut_runs_are_no_change_when_imported_again(
    session: Session, tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=3)
    (folder / "study.toml").write_text(STUDY + 'tools = ["pairs", "lists"]\n')
    pages = [{"id": f"d{n}", "html": f"<title>Tulip {n}</title><p>{n}"} for n in range(3)]
    write_jsonl(folder / "documents.jsonl", pages)
    (folder / "rankings").mkdir()
    for system in ("bm25", "other"):  # the fourth is unknown, and never shown
        lines = (f"q0 Q0 {name} {rank} {9 - rank} {system}\n" for rank, name in RANKED)
        (folder / "rankings" / f"{system}.run").write_text("".join(lines))
    load(session, folder)
    assert column(session, Document.title) == ["Tulip 0", "Tulip 1", "Tulip 2"]
    assert {len(row.documents) for row in session.scalars(select(Ranking))} == {3}
    make_assignment(session, query=session.scalars(select(Query)).one())
    with pytest.raises(Unchanged):
        load(session, folder)


@pytest.mark.parametrize(
    ("file", "records", "says"),
    [
        ("queries.jsonl", [{**query(0), "text": "other"}, query(1)], "query 'q0'"),
        ("documents.jsonl", [{**document(0), "text": "other"}], "document 'd0'"),
        ("documents.jsonl", [{**document(1), "title": "other"}], "document 'd1'"),
        ("candidates.jsonl", [{**candidate(0, of=0), "grade": 4}], "candidate 'd0' of query 'q0'"),
    ],
)
def test_what_is_there_cannot_be_changed(
    session: Session, folder: Path, file: str, records: list[dict[str, Any]], says: str
) -> None:
    first = session.scalars(select(Query).where(Query.external_id == "q0")).one()
    make_assignment(session, query=first)
    if file == "queries.jsonl":
        write_jsonl(folder / file, records)
    else:
        old = (folder / file).read_text().splitlines(keepends=True)
        keep = [line for line in old if not _is_about(line, records[0])]
        write_jsonl(folder / file, records)
        append(folder / file, "".join(keep))
    with pytest.raises(StudyRefused, match=says) as refused:
        load(session, folder)
    assert refused.value.problems[0].file == file


def _is_about(line: str, record: dict[str, Any]) -> bool:
    key = "id" if "id" in record else "document"
    return f'"{key}": "{record[key]}"' in line and record.get("query", "") in line


def test_settings_stay_once_work_is_assigned_but_words_may_change(
    session: Session, folder: Path
) -> None:
    (folder / "study.toml").write_text(STUDY.replace("k = 3", "k = 2"))
    load(session, folder)
    study = session.scalars(select(Study)).one()
    assert study.settings.k == 2
    make_assignment(session, query=session.scalars(select(Query)).first())
    (folder / "guidelines.md").write_text("Better words.")
    load(session, folder)
    assert study.guidelines == "Better words."
    (folder / "study.toml").write_text(STUDY)
    with pytest.raises(StudyRefused, match="k is 3 here, but 2 in the study, and work is assigned"):
        load(session, folder)


def test_settings_that_an_older_version_did_not_know_are_no_change(
    session: Session, folder: Path
) -> None:
    study = session.scalars(select(Study)).one()
    study.settings = StudySettings(k=3)
    session.flush()
    with pytest.raises(Unchanged):
        load(session, folder)
