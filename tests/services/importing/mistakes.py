"""Mistakes that people make with their files: each function makes one in a valid study."""

import bz2
import gzip
import json
import re
import struct
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from tests.studies import append, write_jsonl

QUERIES = {f"q{n}": f"how to do the thing {n}" for n in range(2)}
DOCUMENTS = {f"d{n}": f"Do it {n} times." for n in range(6)}
QRELS = [(f"q{n // 3}", f"d{n}", n % 3) for n in range(6)]
Make = Callable[[Path], None]
_HEAD = b"IHDR" + struct.pack(">2L5B", 30_000, 30_000, 1, 0, 0, 0, 0)
HUGE_PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">L", 13) + _HEAD + struct.pack(">L", crc32(_HEAD))
HUGE_PNG += struct.pack(">L", 64) + b"IDAT" + bytes(68)


@dataclass(frozen=True)
class Mistake:
    """A mistake; where it is, and what the first message says about cause and remedy."""

    name: str
    make: Make
    place: str
    cause: str
    remedy: str


MISTAKES: list[Mistake] = []


def mistake(place: str, cause: str, remedy: str) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        MISTAKES.append(Mistake(make.__name__, make, place, cause, remedy))
        return make

    return add


def instead(folder: Path, old: str, new: str, content: str | bytes) -> None:
    """Replace the file ``old`` by another."""
    (folder / old).unlink()
    data = content if isinstance(content, bytes) else content.encode()
    (folder / new).write_bytes(data)


def lines(rows: Sequence[tuple[object, ...]], delimiter: str = "\t") -> str:
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


@mistake("qrels.txt", "columns look swapped", "query before the document")
def qrels_with_the_document_first(folder: Path) -> None:
    rows = lines([(d, 0, q, grade) for q, d, grade in QRELS], " ")
    instead(folder, "candidates.jsonl", "qrels.txt", rows)


@mistake("queries.tsv", "columns look swapped", "Write the id first")
def queries_with_the_text_first(folder: Path) -> None:
    instead(folder, "queries.jsonl", "queries.tsv", lines([(t, q) for q, t in QUERIES.items()]))


@mistake("documents.txt", "separated by commas, and there is no header", "such as id,text")
def documents_with_commas_and_no_header(folder: Path) -> None:
    instead(folder, "documents.jsonl", "documents.txt", lines([*DOCUMENTS.items()], ","))


@mistake("queries.txt", "separated by blanks, not by a tab", "Put a tab")
def queries_with_blanks(folder: Path) -> None:
    instead(folder, "queries.jsonl", "queries.txt", lines([*QUERIES.items()], "  "))


@mistake("queries.xlsx", "Excel workbook", "Save it as CSV")
def queries_in_a_workbook(folder: Path) -> None:
    instead(folder, "queries.jsonl", "queries.xlsx", b"PK\x03\x04\x14\0\x06\0 workbook")


@mistake(
    "documents.parquet",
    *(
        ("Parquet file cannot be read", "transferred completely")
        if find_spec("pyarrow")
        else ("no reader for it is installed", "pip install")
    ),
)
def parquet_cut_off(folder: Path) -> None:
    instead(folder, "documents.jsonl", "documents.parquet", b"PAR1" + b"x" * 200)


@mistake("queries.jsonl", "Windows-1252", "iconv")
def queries_in_windows_1252(folder: Path) -> None:
    text = "".join(json.dumps({"id": q, "text": f"{t} é"}, ensure_ascii=False) + "\n"
                   for q, t in QUERIES.items())  # fmt: skip
    (folder / "queries.jsonl").write_bytes(text.encode("cp1252"))


@mistake("queries.jsonl", "JSON over several lines", "one object per line")
def objects_over_several_lines(folder: Path) -> None:
    records = [json.dumps({"id": q, "text": t}, indent=2) for q, t in QUERIES.items()]
    (folder / "queries.jsonl").write_text("\n".join(records))


@mistake("queries.jsonl", "Python's notation", "json.dumps")
def python_dictionaries(folder: Path) -> None:
    records = [str({"id": q, "text": t}) for q, t in QUERIES.items()]
    (folder / "queries.jsonl").write_text("\n".join(records))


@mistake("candidates.jsonl", "such as 'MARCO_d0', are not those of the documents", "prefixes")
def ids_with_a_prefix(folder: Path) -> None:
    records = [{"query": q, "document": f"MARCO_{d}"} for q, d, _ in QRELS]
    write_jsonl(folder / "candidates.jsonl", records)


@mistake("candidates.jsonl", "such as '0', are not those of the queries", "'q0'")
def queries_with_other_ids(folder: Path) -> None:
    records = [{"query": q[1:], "document": d} for q, d, _ in QRELS]
    write_jsonl(folder / "candidates.jsonl", records)


@mistake("qrels.txt", "last column has no whole numbers", "Put the grade last")
def grades_in_words(folder: Path) -> None:
    rows = lines([(q, 0, d, "relevant") for q, d, _ in QRELS], " ")
    instead(folder, "candidates.jsonl", "qrels.txt", rows)


@mistake("run.txt, line 2, columns", "5 columns, not 6", "query, Q0, document, rank, score, system")
def run_without_a_score(folder: Path) -> None:
    rows = [("q0", "Q0", "d0", 1, 9.5, "bm25"), ("q1", "Q0", "d3", 1, "bm25")]
    instead(folder, "candidates.jsonl", "run.txt", lines(rows, " "))


@mistake(
    "study, candidates", "no candidates file. Found: documents.jsonl, judgments.txt", "[files]"
)
def qrels_under_another_name_and_with_commas(folder: Path) -> None:
    instead(folder, "candidates.jsonl", "judgments.txt", lines(QRELS, ","))


@mistake(
    "b.tsv, documents", "2 files may contain them: a.tsv, b.tsv", "[files] documents = 'a.tsv'"
)
def two_files_that_may_be_documents(folder: Path) -> None:
    instead(folder, "documents.jsonl", "a.tsv", lines([*DOCUMENTS.items()]))
    (folder / "b.tsv").write_text(lines([*DOCUMENTS.items()]))


@mistake("study.toml, line 2, kk", "no such setting", "Did you mean k?")
def misspelt_setting_beside_named_files(folder: Path) -> None:
    instead(folder, "documents.jsonl", "d.dat", lines([*DOCUMENTS.items()], "|"))
    (folder / "study.toml").write_text('name = "Small"\nkk = 3\n[files]\ndocuments = "d.dat"\n')


@mistake("study, queries", "no queries file", "queries or topics")
def queries_forgotten(folder: Path) -> None:
    (folder / "queries.jsonl").unlink()


@mistake("study, documents", "no documents", "corpus")
def documents_forgotten(folder: Path) -> None:
    (folder / "documents.jsonl").unlink()


@mistake("study, documents", "no documents. Found: cacm.tar.xz, candidates", "Unpack 'cacm")
def documents_in_a_tar_archive_of_another_kind(folder: Path) -> None:
    instead(folder, "documents.jsonl", "cacm.tar.xz", b"\xfd7zXZ")


@mistake("cacm.tar.gz", "It is damaged", "transferred completely")
def documents_in_a_tar_archive_that_is_cut_off(folder: Path) -> None:
    instead(folder, "documents.jsonl", "cacm.tar.gz", b"\x1f\x8b")


@mistake(
    "candidates.jsonl, line 4, document",
    "3 of the 6 documents of the candidates are missing: 'd3', 'd4', 'd5'.",
    "--leave-out missing",
)
def half_of_the_documents_missing(folder: Path) -> None:
    write_jsonl(folder / "documents.jsonl", [{"id": f"d{n}", "text": "x"} for n in range(3)])


@mistake("qrels.tsv", "no candidates in this file, only a header line", "Add them")
def only_a_header(folder: Path) -> None:
    instead(folder, "candidates.jsonl", "qrels.tsv", "query-id\tcorpus-id\tscore\n")


@mistake("queries.csv", "the first line is 'Nummer;Frage'", "such as id;text")
def header_in_another_language(folder: Path) -> None:
    rows = [("Nummer", "Frage"), *QUERIES.items()]
    instead(folder, "queries.jsonl", "queries.csv", lines(rows, ";"))


@mistake("qrels.txt, line 2, grade", "The grade 4.5 is not a whole number", "Round it")
def half_a_grade(folder: Path) -> None:
    rows = lines([(q, 0, d, 4.5 if d == "d1" else grade) for q, d, grade in QRELS], " ")
    instead(folder, "candidates.jsonl", "qrels.txt", rows)


@mistake("run.b.txt, candidates", "2 candidates files: run.a.txt, run.b.txt", "--pool 10")
def two_runs(folder: Path) -> None:
    run = lines([(q, "Q0", d, 1, 1.5, "bm25") for q, d, _ in QRELS], " ")
    instead(folder, "candidates.jsonl", "run.a.txt", run)
    (folder / "run.b.txt").write_text(run)


@mistake("qrels-train.txt, candidates", "2 candidates files: qrels-dev.txt, qrels-train", "--split")
def two_splits(folder: Path) -> None:
    instead(folder, "candidates.jsonl", "qrels-dev.txt", "q0 0 d0 1\n")
    (folder / "qrels-train.txt").write_text("q0 0 d0 1\n")


@mistake("study.toml, line 3, k", "k is a text: '3'", "a whole number, without quot")
def number_in_quotes(folder: Path) -> None:
    path = folder / "study.toml"
    path.write_text(path.read_text().replace("k = 3", 'k = "3"'))


@mistake("study.toml, line 1", "not TOML", "need quotation marks")
def name_without_quotes(folder: Path) -> None:
    (folder / "study.toml").write_text("name = My study\n")


@mistake("study.toml, line 4, sortr", "no such setting", "sorter")
def misspelt_setting(folder: Path) -> None:
    append(folder / "study.toml", 'sortr = "heap"\n')


@mistake("study.toml, line 4, tools", "'T1' is not a tool", "'pairs', 'grades', 'lists'")
def tool_by_its_number(folder: Path) -> None:
    append(folder / "study.toml", 'tools = ["T1"]\n')


@mistake("study.toml, tools", "compares rankings, but there are none", "rankings.jsonl")
def lists_without_rankings(folder: Path) -> None:
    append(folder / "study.toml", 'tools = ["lists"]\n')


@mistake(
    "queries.jsonl",
    "'txet' is not a known field, and text is missing. Did you mean text?",
    "Known fields",
)
def misspelt_field(folder: Path) -> None:
    write_jsonl(folder / "queries.jsonl", [{"id": q, "txet": t} for q, t in QUERIES.items()])


@mistake("documents.jsonl", "Git LFS pointer", "git lfs pull")
def pointer_instead_of_the_file(folder: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n"
    (folder / "documents.jsonl").write_text(pointer)


@mistake("documents.jsonl", "web page, perhaps an error or sign-in page", "Download the file again")
def error_page_instead_of_the_file(folder: Path) -> None:
    (folder / "documents.jsonl").write_text("<!DOCTYPE html>\n<title>403 Forbidden</title>\n")


@mistake("documents.tsv.bz2", "compressed with bzip2", "gzip")
def compressed_with_bzip2(folder: Path) -> None:
    packed = bz2.compress(lines([*DOCUMENTS.items()]).encode())
    instead(folder, "documents.jsonl", "documents.tsv.bz2", packed)


@mistake("documents.csv, line 3, columns", "3 columns, and the header 2", "Quote such cells")
def comma_in_an_unquoted_cell(folder: Path) -> None:
    rows = [("id", "text"), ("d0", "fine"), ("d1", "first, then second")]
    instead(folder, "documents.jsonl", "documents.csv", lines(rows, ","))


@mistake(
    "documents.json, line 1",
    "JSON array is broken here: Unterminated string.",
    "close the array with ]",
)
def array_cut_off(folder: Path) -> None:
    text = json.dumps([{"id": d, "text": t} for d, t in DOCUMENTS.items()])
    instead(folder, "documents.jsonl", "documents.json", text[:-30])


@mistake("documents.tsv.gz", "damaged", "transferred completely")
def gzip_cut_off(folder: Path) -> None:
    packed = gzip.compress(lines([*DOCUMENTS.items()]).encode())
    instead(folder, "documents.jsonl", "documents.tsv.gz", packed[:-12])


@mistake("documents.jsonl, line 7, id", "appears twice, with different content", "remove the other")
def one_id_for_two_documents(folder: Path) -> None:
    append(folder / "documents.jsonl", '{"id": "d0", "text": "Something else."}\n')


@mistake("candidates.jsonl, line 7, document", "appears twice for query 'q0'", "remove the other")
def two_grades_for_one_candidate(folder: Path) -> None:
    append(folder / "candidates.jsonl", '{"query": "q0", "document": "d0", "grade": 4}\n')


@mistake("documents.jsonl", "There is no file 'pages/a.html'", "correct the path")
def pages_not_packed(folder: Path) -> None:
    records = [{"id": d, "path": "pages/a.html"} for d in DOCUMENTS]
    write_jsonl(folder / "documents.jsonl", records)


@mistake("queries.jsonl", "empty", "Add content")
def empty_file(folder: Path) -> None:
    (folder / "queries.jsonl").write_text("")


@mistake("queries.jsonl, line 3, id", "has no candidates", "or remove the query")
def query_nobody_searched(folder: Path) -> None:
    append(folder / "queries.jsonl", '{"id": "q7", "text": "x"}\n')


@mistake("topics.txt, line 1, title", "value is missing", "Write a text")
def topics_without_titles(folder: Path) -> None:
    text = "<top>\n<num> Number: q0\n<desc> Description:\nx\n</top>\n"
    instead(folder, "queries.jsonl", "topics.txt", text)


@mistake("letor.txt, line 1, docid", "names no document", "#docid")
def letor_without_document_ids(folder: Path) -> None:
    instead(folder, "candidates.jsonl", "letor.txt", "1 qid:q0 1:0.5\n")


@mistake("queries.jsonl, line 1, id", "contains a blank", "Use letters")
def ids_with_blanks(folder: Path) -> None:
    text = (folder / "queries.jsonl").read_text()
    (folder / "queries.jsonl").write_text(re.sub('"q0"', '"query 0"', text))


@mistake("candidates.txt, line 1", "format is not recognized: 'q0 d0'", "TREC qrels")
def pairs_without_anything_else(folder: Path) -> None:
    instead(folder, "candidates.jsonl", "candidates.txt", "q0 d0\nq0 d1\n")


@mistake(
    "corpus.tsv", "name documents such as 'DOC0', and the ids here look like 'doc0'", "capitals"
)
def collection_whose_ids_differ_in_capitals(folder: Path) -> None:
    (folder / "study.toml").unlink()
    instead(folder, "documents.jsonl", "corpus.tsv", lines([(f"doc{n}", "a") for n in range(6)]))
    rows = lines([(q, 0, f"DOC{d[1:]}", grade) for q, d, grade in QRELS], " ")
    instead(folder, "candidates.jsonl", "qrels.txt", rows)


@mistake("pages/large.png", "900,000,000 pixels", "Make it smaller")
def page_with_a_picture_of_900_megapixels(folder: Path) -> None:
    (folder / "pages").mkdir()
    (folder / "pages" / "large.png").write_bytes(HUGE_PNG)


@mistake("documents.jsonl, line 7", "picture 1 of p", "Make it smaller")
def page_that_embeds_a_picture_of_900_megapixels(folder: Path) -> None:
    picture = b64encode(HUGE_PNG).decode()
    page = {"id": "p", "html": f'<p>A <img src="data:image/png;base64,{picture}"></p>'}
    append(folder / "documents.jsonl", json.dumps(page) + "\n")
