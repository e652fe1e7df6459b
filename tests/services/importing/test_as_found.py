"""Files as collections and tools have them: gaps, folds, groups, archives, runs."""

import gzip
import io
import json
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.services.importing.test_collections import texts
from tests.studies import append, load, offered, small_study, write_gzip, write_jsonl, zipped
from topkapi.app.db.models import Candidate, Document, Ranking, Study
from topkapi.app.services.fence import limits
from topkapi.app.services.importing import (
    ReadOptions,
    StudyRefused,
    ZipSource,
    import_study,
    open_source,
)
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.kinds.base import Checked
from topkapi.app.services.importing.kinds.candidates import CANDIDATES
from topkapi.app.services.importing.kinds.documents import DOCUMENTS, html_title
from topkapi.app.services.importing.kinds.queries import QUERIES
from topkapi.app.services.importing.sources.tarred import repacked

MISSING = ReadOptions(leave_out="missing")


def checked(path: Path, options: ReadOptions = ReadOptions()) -> Checked:  # noqa: B008
    with open_source(path) as source:
        return check_study(source, options=options)


def refusal(path: Path, options: ReadOptions = ReadOptions()) -> StudyRefused:  # noqa: B008
    with pytest.raises(StudyRefused) as refused:
        checked(path, options)
    return refused.value


def names(found: Checked) -> dict[str, list[str]]:
    offered: dict[str, list[str]] = {}
    for query, document in found[CANDIDATES]:
        offered.setdefault(query, []).append(document)
    return offered


# candidates without a document


def with_gaps(folder: Path) -> Path:
    """Write a study in which d1 is missing, d2 is empty, and nothing is left of q1."""
    small_study(folder, queries=3, documents=3)
    documents = [{"id": "d0", "text": "a"}, {"id": "d2", "text": " "}]
    documents += [{"id": f"d{number}", "text": "b"} for number in range(6, 9)]
    write_jsonl(folder / "documents.jsonl", documents)
    return folder


def test_candidates_without_a_document_are_left_out_if_asked(
    session: Session, tmp_path: Path
) -> None:
    report = load(session, with_gaps(tmp_path / "gaps"), options=MISSING)
    assert [(query, page) for query, page, _ in offered(session)] == [
        ("q0", "d0"), ("q2", "d6"), ("q2", "d7"), ("q2", "d8"),
    ]  # fmt: skip
    assert (report.queries, report.documents, report.left_out) == (2, 4, 5)
    assert "5 candidates left out: their documents are missing or empty" in report.notes
    assert "1 query without candidates left out" in report.notes


def test_the_first_candidates_are_those_with_a_document(tmp_path: Path) -> None:
    folder = with_gaps(tmp_path / "gaps")
    write_jsonl(
        folder / "candidates.jsonl", [{"query": "q0", "document": f"d{n}"} for n in range(9)]
    )
    found = checked(folder, ReadOptions(queries=1, candidates=2, leave_out="missing"))
    assert names(found) == {"q0": ["d0", "d6"]}


def test_an_empty_document_is_refused_unless_left_out(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "pages").mkdir()
    (folder / "pages" / "a.html").write_text(" \n")
    append(folder / "documents.jsonl", '{"id": "x", "path": "pages/a.html"}\n')
    append(folder / "candidates.jsonl", '{"query": "q0", "document": "x"}\n')
    (problem,) = refusal(folder).problems
    assert str(problem).startswith("documents.jsonl, line 7, path: The page is empty.")
    assert "--leave-out missing" in problem.mend
    assert "x" not in checked(folder, MISSING)[DOCUMENTS]


def test_other_faults_of_documents_are_refused_although_empty_ones_are_left_out(
    tmp_path: Path,
) -> None:
    folder = with_gaps(tmp_path / "gaps")
    append(folder / "documents.jsonl", '{"id": "d3", "text": "a", "url": "javascript:x"}\n')
    problems = refusal(folder, MISSING).problems
    assert [problem.field for problem in problems] == ["url"]


@pytest.mark.parametrize("missing", [1, 2])
def test_few_missing_documents_can_be_left_out(tmp_path: Path, missing: int) -> None:
    folder = small_study(tmp_path / "study", queries=4, documents=8)
    left = [{"id": f"d{n}", "text": "a"} for n in range(missing, 32)]
    write_jsonl(folder / "documents.jsonl", left)
    problems = refusal(folder).problems
    assert [problem.problem for problem in problems] == [
        f"There is no document 'd{n}'." for n in range(missing)
    ]
    assert all("--leave-out missing" in problem.mend for problem in problems)


def test_consequences_of_an_error_are_not_listed(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=3, documents=3)
    for name in ("queries.jsonl", "documents.jsonl"):
        first, *others = (folder / name).read_text().splitlines()
        (folder / name).write_text("\n".join([first + "}", *others, ""]))
    append(folder / "candidates.jsonl", '{"query": "q1"}\n')
    (folder / "gold.jsonl").write_text(
        '{"query": "q0", "left": "d0", "right": "d1", "answer": "left"}\n'
        '{"query": "q1", "left": "d3", "right": "d6", "answer": "left"}\n'
    )
    problems = refusal(folder).problems
    assert [(problem.file, problem.line) for problem in problems] == [
        *(("queries.jsonl", 1), ("documents.jsonl", 1), ("candidates.jsonl", 10))
    ]


def test_a_zip_in_a_zip_and_pages_in_a_zip_are_unpacked(tmp_path: Path) -> None:
    inner, outer = small_study(tmp_path / "inner"), tmp_path / "outer"
    outer.mkdir()
    (outer / "inner.zip").write_bytes(zipped(inner, inside="inner/"))
    (tmp_path / "outer.zip").write_bytes(zipped(outer, inside="outer/"))
    for path in (outer, tmp_path / "outer.zip"):
        assert names(checked(path)) == names(checked(inner))
    folder = small_study(tmp_path / "paged", documents=2, queries=1)
    (folder / "documents.jsonl").unlink()
    (tmp_path / "html").mkdir()
    for name in ("d0", "d1"):
        (tmp_path / "html" / f"{name}.html").write_text(f"<p>{name}</p>")
    (folder / "pages.zip").write_bytes(zipped(tmp_path / "html"))
    assert names(checked(folder)) == {"q0": ["d0", "d1"]}


def test_queries_whose_list_takes_every_candidate_are_noted(
    session: Session, tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study", queries=2, documents=3)
    (note,) = (each for each in load(session, folder).notes if "no more than" in each)
    assert note.startswith("2 queries have no more than k = 3 candidates")


def test_twenty_missing_documents_are_counted_and_named(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=4, documents=92)
    write_jsonl(
        folder / "documents.jsonl", [{"id": f"d{n}", "text": "a"} for n in range(368) if n % 18]
    )
    refused = refusal(folder)
    (problem,) = refused.problems
    assert problem.problem == (
        "21 of the 368 documents of the candidates are missing: 'd0', 'd18', 'd36' and 18 more."
    )
    assert "--leave-out missing" in problem.mend
    assert not refused.causes
    assert checked(folder, MISSING).counts()["candidates"] == 347


# diagnoses


def as_qrels(folder: Path, text: str, name: str = "qrels.txt") -> Path:
    small_study(folder)
    (folder / "candidates.jsonl").unlink()
    (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    "header", ["query-id\tcorpus-id\tscore\n", "qid iter docno rel\n", "qid docno rel\n"]
)
@pytest.mark.parametrize("settings", [True, False])
def test_a_file_with_only_a_header_says_so(tmp_path: Path, header: str, settings: bool) -> None:
    folder = as_qrels(tmp_path / "study", header)
    if not settings:
        (folder / "study.toml").unlink()
    (problem,) = refusal(folder).problems
    assert problem.file == "qrels.txt"
    assert problem.problem == "There are no candidates in this file, only a header line."


def test_a_grade_that_is_no_whole_number_says_so(tmp_path: Path) -> None:
    folder = as_qrels(tmp_path / "study", "q0 0 d0 4.5\nq0 0 d1 1\nq1 0 d3 2\n")
    (problem,) = refusal(folder).problems
    assert str(problem).startswith(
        "qrels.txt, line 1, grade: The grade 4.5 is not a whole number. Round it, or multiply"
    )


@pytest.mark.parametrize("value", ["4.5", '"4.5"'])
def test_a_grade_in_json_is_never_dropped_and_a_score_is_no_grade(
    tmp_path: Path, value: str
) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=1)
    path = folder / "candidates.jsonl"
    path.write_text(f'{{"query": "q0", "document": "d0", "grade": {value}}}\n')
    assert refusal(folder).problems[0].problem == "The grade 4.5 is not a whole number."
    path.write_text(f'{{"query": "q0", "document": "d0", "score": {value}}}\n')
    assert names(checked(folder)) == {"q0": ["d0"]}


def test_names_of_columns_need_no_underscores(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "queries.jsonl").unlink()
    (folder / "queries.csv").write_text("QueryID;Question\nq0;how?\nq1;why?\n")
    load(session, folder)
    assert {query for query, *_ in offered(session)} == {"q0", "q1"}


def test_a_header_of_unknown_names_says_what_was_found_and_expected(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "queries.jsonl").unlink()
    (folder / "queries.csv").write_text("Nummer;Frage\nq0;how?\nq1;why?\n")
    cause = refusal(folder).causes[0]
    assert cause.problem == (
        "The columns are separated by semicolons, and there is no header line with known names; "
        "the first line is 'Nummer;Frage'."
    )
    assert cause.mend.startswith("Add a first line such as id;text")


# folders and archives


def test_a_folder_in_a_folder_is_read(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "outer" / "inner" / "study")
    data = io.BytesIO(zipped(folder, inside="a/b/c/"))
    with ZipSource(data, name="a.zip") as source:
        assert check_study(source).counts()["queries"] == 2
    assert checked(tmp_path / "outer").counts()["queries"] == 2


def tarred(folder: Path, target: Path, inside: str = "") -> Path:
    with tarfile.open(target, "w:gz" if target.suffix in (".gz", ".tgz") else "w") as archive:
        for path in sorted(folder.rglob("*"), reverse=True):
            archive.add(path, inside + path.relative_to(folder).as_posix(), recursive=False)
    return target


@pytest.mark.parametrize("name", ["s.tar.gz", "s.tgz", "s.tar", "data.bin"])
@pytest.mark.parametrize("inside", ["", "study/", "x" * 150 + "/"])
def test_a_tar_archive_is_read(tmp_path: Path, name: str, inside: str) -> None:
    folder = small_study(tmp_path / "study")
    assert checked(tarred(folder, tmp_path / name, inside)).counts() == checked(folder).counts()


def test_pages_in_a_tar_archive_beside_the_other_files_are_read(
    session: Session, tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study")
    (folder / "documents.jsonl").unlink()
    pages = tmp_path / "pages"
    pages.mkdir()
    for number in range(6):
        (pages / f"d{number}.html").write_text(f"<title>Page &amp; {number}</title><p>It is so.")
    tarred(pages, folder / "cacm.tar.gz")
    report = load(session, folder)
    assert (report.documents, report.read_from["documents"], report.ignored) == (6, "pages/", ())
    assert "It is so." in texts(session)["d0"]
    titles = session.scalars(select(Document.title).order_by(Document.id))
    assert list(titles)[:2] == ["Page & 0", "Page & 1"]


def member(name: str, *, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT) if len(name) <= 100 else info.tobuf()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (member("../a"), "leads out of the archive"),
        (member("/a"), "leads out of the archive"),
        (member("a", kind=tarfile.SYMTYPE), "symbolic link"),
        (member("a", size=10**9), "damaged"),
        (member("a", kind=tarfile.XHDTYPE, size=10**9), "damaged"),
        (member("a") + member("a"), "a path twice"),
        (member("a") + b"x" * 512, "damaged"),
        (member("a") + member("b")[:300], "damaged"),
    ],
)
@pytest.mark.parametrize("packed", [True, False])
def test_a_harmful_tar_archive_is_refused(
    tmp_path: Path, data: bytes, said: str, packed: bool
) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert said in str(refusal(path))


def test_a_tar_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(member("a", size=8 * 1024**2) + b"0" * 8 * 1024**2))
    assert "unpacks to more than" in str(refusal(path))
    many = b"".join(member(f"a{number}") for number in range(20))
    path.write_bytes(gzip.compress(many))
    monkeypatch.setattr(limits, "MAX_FILES", 10)
    assert "the limit is 10" in str(refusal(path))


@given(st.binary(max_size=2000), st.integers(0, 511), st.binary(min_size=1, max_size=40))
def test_any_tar_is_read_or_refused(data: bytes, at: int, changed: bytes) -> None:
    head = member("a", size=len(data))
    for whole in (data, head[:at] + changed + head[at + len(changed) :] + data):
        with suppress(StudyRefused), repacked(io.BytesIO(whole), name="a.tar") as source:
            assert [len(source.open(path).read()) for path in source.files] in ([], [len(data)])


# LETOR


def letor(path: Path, queries: range, *, label: str = "1") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{label} qid:{query} 1:0.{n} 2:1 #docid = d{n}" for query in queries for n in (1, 2)]
    write_gzip(path, "\n".join(rows) + "\n")


def folds(folder: Path) -> Path:
    for number in (1, 2):
        letor(folder / f"Fold{number}" / "test.txt.gz", range(number * 10, number * 10 + 2))
        letor(folder / f"Fold{number}" / "train.txt.gz", range(30, 33))
        letor(folder / f"Fold{number}" / "vali.txt.gz", range(40, 41))
    return folder


def test_the_test_files_of_all_folds_are_one_study(session: Session, tmp_path: Path) -> None:
    report = load(session, folds(tmp_path / "MQ2008"))
    assert report.queries == 4
    assert [(query, page) for query, page, _ in offered(session)][:3] == [
        ("10", "d1@10"), ("10", "d2@10"), ("11", "d1@11"),
    ]  # fmt: skip
    assert report.read_from["candidates"] == "Fold1/test.txt.gz, Fold2/test.txt.gz (letor)"
    assert "Fold1/train.txt.gz" in report.ignored


@pytest.mark.parametrize(("split", "queries"), [("fold1 train", 3), ("Fold2 vali", 1)])
def test_a_split_is_chosen_by_words_of_the_path(tmp_path: Path, split: str, queries: int) -> None:
    found = checked(folds(tmp_path / "MQ2008"), ReadOptions(split=split))
    assert len(found[QUERIES]) == queries


def test_one_fold_is_the_whole_collection(tmp_path: Path) -> None:
    folder = folds(tmp_path / "MQ2008")
    assert len(checked(folder, ReadOptions(split="Fold1"))[QUERIES]) == 6
    assert len(checked(folder / "Fold1")[QUERIES]) == 2


def test_queries_that_are_in_several_folds_are_refused(tmp_path: Path) -> None:
    refused = refusal(folds(tmp_path / "MQ2008"), ReadOptions(split="train"))
    problem = refused.problems[0]
    assert problem.file == "Fold2/train.txt.gz"
    assert problem.problem == "Query '30' is in Fold1/train.txt.gz too."
    assert "--split" in problem.mend


def test_features_may_come_in_any_order_but_only_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("2 qid:1 3:0.3 1:0.1 0:7\n0 qid:1 1:1\n")
    with open_source(path) as source:
        found = check_study(source)
    assert names(found) == {"1": ["1-1", "1-2"]}
    path.write_text("2 qid:1 3:0.3 1:0.1 3:7\n")
    assert "Feature 3 appears twice." in str(refusal(path))
    path.write_text("2 qid:1 -3:0.3\n")
    assert "'-3:0.3' is not number:value." in str(refusal(path))


@pytest.mark.parametrize("suffix", ["query", "group"])
@pytest.mark.parametrize("single", [True, False])
def test_group_files_name_the_queries(tmp_path: Path, suffix: str, single: bool) -> None:
    folder = tmp_path / "lambdarank"
    folder.mkdir()
    for name in ("rank.train", "rank.test"):
        (folder / name).write_text("0 10:0.5 1:2\n3 2:1\n1 0:1\n")
        (folder / f"{name}.{suffix}").write_text("2\n1\n")
    (folder / "train.conf").write_text("# task type\ntask = train\n")
    found = checked(folder / "rank.test" if single else folder)
    assert names(found) == {"1": ["1-1", "1-2"], "2": ["2-1"]}


@each_case(
    ("groups", "said"),
    [
        ("2\n", "The groups end before this line."),
        ("2\n5\n", "The groups have more lines than the file."),
        ("2\nx\n", "'x' is not a number of lines."),
        ("2\n-1\n", "'-1' is not a number of lines."),
    ],
)
def test_groups_that_do_not_fit_are_refused(tmp_path: Path, groups: str, said: str) -> None:
    (tmp_path / "rank.train").write_text("0 10:0.5\n3 2:1\n1 0:1\n")
    (tmp_path / "rank.train.query").write_text(groups)
    assert said in str(refusal(tmp_path / "rank.train"))


# titles


@each_case(
    ("page", "title"),
    [
        ("<title>Weeds</title>", "Weeds"),
        ("<html><head>\n<TITLE lang=en>\n A &amp; B\n </TITLE><body>", "A & B"),
        ("<p>no title", ""),
        ("<title></title>", ""),
        ("<title>" + "x" * 5000 + "</title>", "x" * limits.MAX_TITLE),
        ("<title>a\0b</title>", ""),
        ("<titles>no</titles>", ""),
        ("<body><svg><title>a picture</title></svg>", ""),
    ],
)
def test_the_title_of_a_page_is_read(page: str, title: str) -> None:
    assert html_title(page.encode()) == title


def test_a_given_title_counts_more_than_that_of_the_page(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", queries=1, documents=2)
    page = "<title>Of the page</title><p>Text."
    write_jsonl(
        folder / "documents.jsonl",
        [{"id": "d0", "html": page}, {"id": "d1", "html": page, "title": "Given"}],
    )
    load(session, folder)
    titles = session.scalars(select(Document.title).order_by(Document.id))
    assert list(titles) == ["Of the page", "Given"]


# runs


def run(system: str, *pages: str, query: str = "q0") -> str:
    return "".join(
        f"{query} Q0 {page} {rank} {100 - rank} {system}\n" for rank, page in enumerate(pages, 1)
    )


def with_runs(folder: Path) -> Path:
    """Write a collection of 2 queries and 6 documents with two runs and no candidates."""
    small_study(folder)
    (folder / "study.toml").unlink()
    (folder / "candidates.jsonl").unlink()
    (folder / "runs").mkdir()
    (folder / "runs" / "bm25.txt").write_text(
        run("bm25", "d0", "d1", "d2", "nowhere") + run("bm25", "d5", query="q1")
    )
    (folder / "runs" / "dense.txt").write_text(
        run("dense", "d3", "d0", "d4", "d4") + run("dense", "d1", "d5", query="q1")
    )
    return folder


def test_the_first_documents_of_each_run_are_the_candidates(
    session: Session, tmp_path: Path
) -> None:
    report = load(session, with_runs(tmp_path / "pool"), options=ReadOptions(pool=2))
    assert [(query, page) for query, page, _ in offered(session)] == [
        ("q0", "d0"), ("q0", "d3"), ("q0", "d1"), ("q1", "d5"), ("q1", "d1"),
    ]  # fmt: skip
    assert report.read_from["candidates"] == "the first 2 of runs/bm25.txt, runs/dense.txt"
    assert report.ignored == ()


def test_pooled_candidates_keep_their_known_grades(session: Session, tmp_path: Path) -> None:
    folder = with_runs(tmp_path / "pool")
    (folder / "qrels.txt").write_text("q0 0 d0 3\nq0 0 d2 1\nq1 0 d5 2\n")
    load(session, folder, options=ReadOptions(pool=2, queries=1))
    assert offered(session) == [("q0", "d0", 3), ("q0", "d3", None), ("q0", "d1", None)]


def test_runs_in_one_table_and_at_the_top_are_pooled(tmp_path: Path) -> None:
    folder = with_runs(tmp_path / "pool")
    (folder / "runs" / "bm25.txt").rename(folder / "run.bm25.txt")
    (folder / "runs" / "dense.txt").unlink()
    write_gzip(
        folder / "runs-judged.tsv.gz",
        "topic\tdocument\trun\trank\tscore\nq0\td3\tdense\t2\t7\nq0\td4\tdense\t1\t8\n",
    )
    assert names(checked(folder, ReadOptions(pool=1))) == {"q0": ["d0", "d4"], "q1": ["d5"]}


def test_a_pooled_document_that_is_missing_can_be_left_out(tmp_path: Path) -> None:
    folder = with_runs(tmp_path / "pool")
    assert "There is no document 'nowhere'" in str(refusal(folder, ReadOptions(pool=4)))
    found = checked(folder, ReadOptions(pool=4, leave_out="missing"))
    assert names(found)["q0"] == ["d0", "d3", "d1", "d2", "d4"]


def test_a_pool_needs_runs_and_runs_without_candidates_a_pool(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    assert "There are no runs" in str(refusal(study, ReadOptions(pool=3)))
    (problem,) = refusal(with_runs(tmp_path / "pool")).problems
    assert "--pool 10" in problem.mend


def test_a_fault_below_what_is_shown_does_not_refuse_a_run(
    session: Session, tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study")
    append(folder / "study.toml", 'tools = ["lists"]\n')
    (folder / "rankings").mkdir()
    (folder / "rankings" / "a.txt").write_text(run("a", "d0", "d1", "d2", "d3", "nowhere", "d4"))
    (folder / "rankings" / "b.txt").write_text(run("b", "d0", "d1", "d2", "d1", "d4"))
    (folder / "rankings" / "c.txt").write_text(
        "".join(run(system, "d3", "d4", "d5", query="q1") for system in "ab")
    )
    report = load(session, folder)
    assert [len(each) for each in session.scalars(select(Ranking.documents))] == [4, 3, 3, 3]
    assert (
        "2 rankings cut below rank 3, at a page that is repeated or not in the study"
        in report.notes
    )
    (folder / "rankings" / "b.txt").write_text(run("b", "d0", "d1", "d0"))
    assert "'d0' appears twice in the list." in str(refusal(folder))
    (folder / "rankings" / "b.txt").write_text(run("b", "d0", "d1", "no"))
    assert "There is no document 'no'." in str(refusal(folder))


def test_a_report_counts_what_was_left_out(session: Session, tmp_path: Path) -> None:
    report = load(session, small_study(tmp_path / "study"))
    assert json.loads(json.dumps(report.as_json()))["left_out"] == 0


def test_the_scores_of_a_ranker_become_a_feature_of_the_candidates(
    session: Session, tmp_path: Path
) -> None:
    folder = small_study(tmp_path / "study")
    rows = [{"query": f"q{n // 3}", "document": f"d{n}", "prior": n / 2} for n in range(6)]
    write_jsonl(folder / "candidates.jsonl", rows)
    found = tmp_path / "bm25.run"
    found.write_text("q0 Q0 d1 1 7.5 bm25\nq0 Q0 d0 2 -1 bm25\nq0 Q0 elsewhere 3 -2 bm25\n")
    with open_source(folder, beside={"prior": found}) as source:
        report = import_study(session, source)
    stored = session.scalars(select(Candidate).order_by(Candidate.id))
    assert [row.features for row in stored] == [
        {"prior": score} for score in (-1, 7.5, 1, 1.5, 2, 2.5)
    ]
    assert session.scalars(select(Study)).one().settings.prior == "prior"
    assert "the prior has no effect with the sorter heap; choose robust for it" in report.notes


def test_a_prior_among_the_files_is_neither_pooled_nor_taken_for_candidates(tmp_path: Path) -> None:
    folder = with_runs(tmp_path / "pool")
    (folder / "prior.run").write_text(run("dense", "d4", "d0"))
    assert names(checked(folder, ReadOptions(pool=1)))["q0"] == ["d0", "d3"]
    (folder / "prior.run").write_text(run("dense", "d4") + run("bm25", "d4"))
    (problem,) = refusal(folder, ReadOptions(pool=1)).problems
    assert "'d4' appears twice for query 'q0'" in str(problem)
    study = small_study(tmp_path / "study")
    write_jsonl(study / "candidates.jsonl", [{"query": "q0", "document": "d0", "prior": "good"}])
    assert "'good' is not a score" in str(refusal(study).problems[0])
