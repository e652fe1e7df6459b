"""Collections as people have them become studies without a conversion script."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.studies import append, candidate, load, offered, small_study, write_jsonl, zipped
from topkapi.app.db.models import Content, Document, Query, Study
from topkapi.app.services.importing import (
    ReadOptions,
    StudyRefused,
    ZipSource,
    import_study,
    open_source,
)
from topkapi.app.services.importing.checking import check_study


def texts(session: Session) -> dict[str, str]:
    statement = select(Document.external_id, Content.text).join(
        Content, Content.hash == Document.content_hash
    )
    return {row[0]: row[1] or "" for row in session.execute(statement)}


def antique(folder: Path, *, queries: int = 200, judged: int = 40) -> Path:
    """Write files with the names and formats of ANTIQUE: train and test, whitespace, repeats."""
    folder.mkdir()
    with (folder / "antique-collection.txt").open("w") as pages:
        for query in range(queries):
            for number in range(judged):
                pages.write(f"{query}_{number}\tAnswer {number} to question {query}, e.g. weed.\n")
        for number in range(50):
            pages.write(f"extra_{number}\t\n")  # empty, and a candidate of no query
    for split in ("train", "test"):
        with (folder / f"antique-{split}-queries.txt").open("w") as asked:
            for query in range(queries):
                asked.write(f"{query}\twhy is question {query} asked?\n")
            asked.write("unjudged\tnobody judged this\n")
        with (folder / f"antique-{split}.qrel").open("w") as qrels:
            for query in range(queries):
                for number in range(judged):
                    line = f"{query} U0 {query}_{number} {number % 4 + 1}\n"
                    qrels.write(line * (2 if number == 0 else 1))
    (folder / "README.md").write_text("queries and qrels of a collection")
    return folder


def test_antique_becomes_a_study_of_20_queries_with_30_candidates(
    session: Session, tmp_path: Path
) -> None:
    report = load(
        session, antique(tmp_path / "antique"), options=ReadOptions(queries=20, candidates=30)
    )
    assert (report.slug, report.queries, report.candidates) == ("antique", 20, 600)
    assert report.documents == 600
    found = offered(session)
    assert found[:2] == [("0", "0_0", 1), ("0", "0_1", 2)]
    assert {query for query, _, _ in found} == {str(number) for number in range(20)}
    assert report.read_from["candidates"] == "antique-test.qrel (qrels)"
    assert "antique-train.qrel" in report.ignored
    notes = "\n".join(report.notes)
    assert "20 of 200 queries with candidates were taken, in file order" in notes
    assert "1 query without candidates left out" in notes
    assert "20 identical duplicate lines of candidates merged" in notes
    assert "there is no study.toml" in notes


def test_another_split_and_name_can_be_chosen(session: Session, tmp_path: Path) -> None:
    folder = antique(tmp_path / "antique", queries=3, judged=4)
    options = ReadOptions(split="train", name="Antique, part", slug="part")
    report = load(session, folder, options=options)
    assert report.read_from["queries"] == "antique-train-queries.txt"
    assert (report.name, report.slug, report.queries) == ("Antique, part", "part", 3)
    assert session.scalars(select(Study.name)).one() == "Antique, part"


def test_files_of_any_name_are_named_in_study_toml(session: Session, tmp_path: Path) -> None:
    folder = antique(tmp_path / "antique", queries=3, judged=9)
    pages = (folder / "antique-collection.txt").read_text()
    (folder / "antique-collection.txt").rename(folder / "one.dat")
    (folder / "other.dat").write_text(pages)
    with pytest.raises(StudyRefused) as refused:
        load(session, folder)
    (problem,) = refused.value.problems
    assert "2 files may contain them: one.dat, other.dat" in problem.problem
    assert "[files] documents = 'one.dat'" in problem.mend
    (folder / "study.toml").write_text('[files]\ndocuments = "other.dat"\n')
    report = load(session, folder, options=ReadOptions(queries=2))
    assert (report.name, report.queries) == ("antique", 2)


@pytest.mark.parametrize(
    ("queries", "documents", "qrels"),
    [
        ("topics.filtered.dl19.txt", "qrels_text.dl19.gz", "qrels.dl19-passage.txt"),
        ("antique-test-queries.txt", "antique-qrels-texts.txt", "antique-test.qrel"),
        ("asked.tsv", "answers.tsv", "judged.tsv"),
    ],
)
def test_files_are_recognised_by_their_content(
    session: Session, tmp_path: Path, queries: str, documents: str, qrels: str
) -> None:
    whole = antique(tmp_path / "whole", queries=3, judged=9)
    folder = tmp_path / "dl19"
    folder.mkdir()
    (whole / "antique-test-queries.txt").rename(folder / queries)
    (whole / "antique-collection.txt").rename(folder / documents)
    (whole / "antique-test.qrel").rename(folder / qrels)
    (folder / "sizes.txt").write_text("3 queries, 12 answers\n")
    report = load(session, folder)
    assert (report.queries, report.candidates, report.documents) == (3, 27, 27)
    assert report.read_from["documents"] == f"{documents}, recognised by its content"
    assert report.read_from["queries"].startswith(queries)
    assert report.ignored == ("sizes.txt",)
    assert offered(session)[:2] == [("0", "0_0", 1), ("0", "0_1", 2)]


def test_documents_whose_first_ids_are_no_candidates_are_recognised(
    session: Session, tmp_path: Path
) -> None:
    folder = antique(tmp_path / "antique", queries=3, judged=9)
    others = "".join(f"other_{number}\tNobody judged this.\n" for number in range(300))
    pages = (folder / "antique-collection.txt").read_text()
    (folder / "antique-collection.txt").unlink()
    (folder / "antique.dat").write_text(others + pages)
    assert load(session, folder).documents == 27


def beir(folder: Path) -> Path:
    """Write a BEIR folder: titles without text, queries of other splits, metadata."""
    (folder / "qrels").mkdir(parents=True)
    write_jsonl(
        folder / "corpus.jsonl",
        [
            {"_id": "d1", "title": "On weeds", "text": "Pull them.", "metadata": {"url": "x"}},
            {"_id": "d2", "title": "Only a title", "text": "", "metadata": {}},
            {"_id": "d3", "title": "", "text": "", "metadata": {}},
        ],
    )
    write_jsonl(
        folder / "queries.jsonl",
        [
            {"_id": "q1", "text": "how to weed", "metadata": {}},
            {"_id": "q2", "text": "of the training split", "metadata": {}},
        ],
    )
    for split, query in (("train", "q2"), ("test", "q1")):
        lines = f"query-id\tcorpus-id\tscore\n{query}\td1\t2\n{query}\td2\t0\n"
        (folder / "qrels" / f"{split}.tsv").write_text(lines)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_a_beir_folder_becomes_a_study(session: Session, tmp_path: Path, packed: bool) -> None:
    folder = beir(tmp_path / "scifact")
    if packed:
        data = io.BytesIO(zipped(folder, inside="scifact/"))
        with ZipSource(data, name="scifact.zip") as source:
            report = import_study(session, source)
    else:
        report = load(session, folder)
    assert report.slug == "scifact"
    assert offered(session) == [("q1", "d1", 2), ("q1", "d2", 0)]
    assert texts(session) == {"d1": "Pull them.", "d2": "Only a title"}
    assert report.read_from["candidates"] == "qrels/test.tsv (tsv)"
    assert "fields of corpus.jsonl that are not read: metadata" in report.notes


RECORDS: dict[str, list[dict[str, Any]]] = {
    "queries": [{"query_id": 1, "text": 'say "weed", please'}, {"query_id": 2, "text": "two"}],
    "docs": [
        {"doc_id": "d1", "title": "One", "body": "first; page", "lang": "en"},
        {"doc_id": "d2", "title": "Two", "body": "second, page", "lang": "en"},
    ],
    "qrels": [
        {"query_id": 1, "doc_id": "d1", "relevance": 2, "iteration": "0"},
        {"query_id": 1, "doc_id": "d2", "relevance": 0, "iteration": "0"},
        {"query_id": 2, "doc_id": "d2", "relevance": 1, "iteration": "0"},
    ],
}


def write_csv(path: Path, records: list[dict[str, Any]], delimiter: str = ",") -> None:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(records)


def write_as(format: str, folder: Path) -> None:
    for name, records in RECORDS.items():
        if format == "jsonl":
            write_jsonl(folder / f"{name}.jsonl", records)
        elif format == "json":
            (folder / f"{name}.json").write_text(json.dumps(records))
        elif format == "pretty json":
            (folder / f"{name}.json").write_text(json.dumps(records, indent=2))
        elif format == "csv":
            write_csv(folder / f"{name}.csv", records)
        elif format == "semicolons":
            write_csv(folder / f"{name}.csv", records, ";")
        elif format == "tsv":
            rows = [list(records[0]), *(map(str, record.values()) for record in records)]
            (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
        elif format == "utf-16":
            text = "".join(json.dumps(record) + "\n" for record in records)
            (folder / f"{name}.jsonl").write_bytes(text.encode("utf-16"))
        elif format == "utf-16 csv, packed":
            write_csv(folder / "x.csv", records)
            data = (folder / "x.csv").read_text().encode("utf-16-le")
            (folder / f"{name}.csv.gz").write_bytes(gzip.compress(data))
            (folder / "x.csv").unlink()
        else:
            parquet = pytest.importorskip("pyarrow.parquet")
            from pyarrow import Table

            parquet.write_table(Table.from_pylist(records), folder / f"{name}.parquet")


@pytest.mark.parametrize(
    "format",
    ["jsonl", "json", "pretty json", "csv", "semicolons", "tsv", "utf-16", "utf-16 csv, packed",
     "parquet"],
)  # fmt: skip
def test_records_are_read_from_any_format_under_the_names_of_ir_datasets(
    session: Session, tmp_path: Path, format: str
) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    write_as(format, folder)
    report = load(session, folder)
    assert offered(session) == [("1", "d1", 2), ("1", "d2", 0), ("2", "d2", 1)]
    assert texts(session) == {"d1": "first; page", "d2": "second, page"}
    assert session.scalars(select(Query.text).order_by(Query.position)).first() == (
        'say "weed", please'
    )
    assert session.scalars(select(Document.title).order_by(Document.id)).all() == ["One", "Two"]
    assert any("lang" in note for note in report.notes)


def test_header_lines_of_two_columns_and_of_qrels_are_recognised(
    session: Session, tmp_path: Path
) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "topics.tsv").write_text("qid\tquery\n1\tweeds\n")
    (folder / "collection.tsv").write_text('pid\tpassage\n7\tAn "open quote\n8\tB\n')
    (folder / "qrels.txt").write_text("qid iter docno rel\n1 0 7 3\n1 0 8 0\n")
    load(session, folder)
    assert offered(session) == [("1", "7", 3), ("1", "8", 0)]
    assert texts(session)["7"] == 'An "open quote'


def test_qrels_of_three_columns_are_read(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "candidates.jsonl").unlink()
    (folder / "qrels.txt").write_text("q0 d0 1\nq1 d1 -1\n")
    load(session, folder)
    assert offered(session) == [("q0", "d0", 1), ("q1", "d1", -1)]


def test_identical_duplicates_are_merged_with_a_count(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    for name in ("queries", "documents", "candidates"):
        path = folder / f"{name}.jsonl"
        path.write_text(path.read_text() + path.read_text().splitlines()[0] + "\n")
    report = load(session, folder)
    assert len(offered(session)) == 6
    assert [note for note in report.notes if "merged" in note] == [
        "1 identical duplicate line of queries merged",
        "1 identical duplicate line of documents merged",
        "1 identical duplicate line of candidates merged",
    ]
    assert session.scalar(select(func.count(Document.id))) == 6


def test_a_part_of_a_letor_file_is_taken(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    rows = [f"{d % 3} qid:{q} 1:0.{d} #docid = d{q}{d}" for q in range(5) for d in range(4)]
    path.write_text("\n".join(rows))
    report = load(session, path, options=ReadOptions(queries=2, candidates=3))
    assert (report.queries, report.candidates, report.documents) == (2, 6, 6)


@pytest.mark.thorough
def test_a_large_json_array_is_read_piece_by_piece(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=3)
    (folder / "documents.jsonl").unlink()
    records = [{"id": f"d{number}", "text": "x" * 300_000} for number in range(3)]
    records += [{"id": f"d{number}", "text": "y"} for number in range(3, 3000)]
    (folder / "documents.json").write_text(json.dumps(records))
    report = load(session, folder)
    assert report.documents == 3000


def test_parquet_without_its_reader_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "documents.jsonl").write_bytes(b"PAR1 and more")
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "pyarrow.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "without"))
    with (
        pytest.raises(StudyRefused, match=r"looks like Parquet.*pip install .pyarrow") as refused,
        open_source(folder) as source,
    ):
        check_study(source)
    assert refused.value.problems[0].file == "documents.jsonl"


def test_practice_pages_are_kept_when_a_part_is_taken(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small", queries=3, documents=3)
    append(folder / "study.toml", "training = true\n")
    question = {"id": "p1", "query": "how", "left": "d7", "right": "d8", "answer": "left"}
    write_jsonl(folder / "practice.jsonl", [{**question, "explanation": "It says how."}])
    report = load(session, folder, options=ReadOptions(queries=1, candidates=2))
    assert (report.queries, report.candidates, report.documents, report.practice) == (1, 2, 4, 1)
    assert report.unused_documents == 0


def test_candidates_of_unknown_queries_are_counted(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small", queries=2, documents=3)
    records = [candidate(number, of=7) for number in range(2)]
    text = "".join(json.dumps(record) + "\n" for record in records)
    append(folder / "candidates.jsonl", text)
    report = load(session, folder, options=ReadOptions(queries=2))
    assert "2 candidate lines of queries that are not among the queries left out" in report.notes
