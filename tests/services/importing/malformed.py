"""Studies that must be refused: each function breaks a valid study and names the first problem."""

import gzip
import io
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.studies import candidate, document, query, write_jsonl, zipped

Spoil = Callable[[Path], Path | None]  # a path if what is imported is not the folder itself


@dataclass(frozen=True)
class Case:
    """A broken study and the location of its first problem."""

    name: str
    spoil: Spoil
    file: str
    line: int | None = None
    field: str | None = None
    says: str = ""


CASES: list[Case] = []


def case(
    file: str, line: int | None = None, field: str | None = None, says: str = ""
) -> Callable[[Spoil], Spoil]:
    def add(spoil: Spoil) -> Spoil:
        CASES.append(Case(spoil.__name__, spoil, file, line, field, says))
        return spoil

    return add


def text_case(
    name: str,
    target: str,
    text: str,
    line: int | None = None,
    field: str | None = None,
    says: str = "",
    remove: str | None = None,
    alone: bool = False,
) -> None:
    """Add a case in which one file of the study, or the file imported alone, is ``text``."""

    def spoil(folder: Path) -> Path | None:
        if remove:
            (folder / remove).unlink()
        path = (folder.parent if alone else folder) / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return path if alone else None

    CASES.append(Case(name, spoil, target, line, field, says))


def _zip(folder: Path, content: bytes) -> Path:
    path = folder.parent / "study.zip"
    path.write_bytes(content)
    return path


def _extended(folder: Path, info: zipfile.ZipInfo | str, data: bytes) -> Path:
    buffer = io.BytesIO(zipped(folder))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(info, data)
    return _zip(folder, buffer.getvalue())


@case("study.zip", says="damaged")
def truncated_zip(folder: Path) -> Path:
    content = zipped(folder)
    return _zip(folder, content[: len(content) // 2])


@case("study.zip", says="damaged")
def zip_that_is_none(folder: Path) -> Path:
    return _zip(folder, b"PK\x03\x04 and nothing more")


@case("documents.jsonl", says="damaged")
def zip_with_a_broken_member(folder: Path) -> Path:
    content = zipped(folder)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        info = archive.getinfo("documents.jsonl")
    at = info.header_offset + 30 + len("documents.jsonl") + 12
    return _zip(folder, content[:at] + b"\xff\xff\xff\xff" + content[at + 4 :])


@case("study.zip", says="200 to 1")
def zip_bomb(folder: Path) -> Path:
    return _extended(folder, "pages/bomb.txt", b"\0" * 8_000_000)


@case("study.zip", says="GB")
def zip_of_many_gigabytes(folder: Path) -> Path:
    """Write a small archive whose members claim more than the size limit."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(3):
            archive.writestr(f"pages/{number}.txt", b"x")
    claimed = (1 << 30) - 1
    content = buffer.getvalue()
    offset = -1
    while (offset := content.find(b"PK\x01\x02", offset + 1)) >= 0:
        size = claimed.to_bytes(4, "little")
        content = content[: offset + 20] + size + size + content[offset + 28 :]
    return _zip(folder, content)


@case("../../outside.txt", says="leads out")
def zip_traversal(folder: Path) -> Path:
    return _extended(folder, "../../outside.txt", b"x")


@case("/etc/outside.txt", says="leads out")
def zip_absolute_path(folder: Path) -> Path:
    return _extended(folder, zipfile.ZipInfo("/etc/outside.txt"), b"x")


@case("pages/link.html", says="symbolic link")
def zip_symlink(folder: Path) -> Path:
    info = zipfile.ZipInfo("pages/link.html")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return _extended(folder, info, b"/etc/passwd")


@case("pages/secret.html", says="encrypted")
def zip_encrypted(folder: Path) -> Path:
    content = _extended(folder, "pages/secret.html", b"x").read_bytes()
    at = content.rfind(b"PK\x01\x02")
    return _zip(folder, content[: at + 8] + b"\x01" + content[at + 9 :])


@case("queries.jsonl", says="twice")
def zip_with_a_path_twice(folder: Path) -> Path:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _extended(folder, "queries.jsonl", b"x")


@case("pages/link.html", says="symbolic link")
def folder_symlink(folder: Path) -> None:
    (folder / "pages").mkdir()
    (folder / "pages/link.html").symlink_to("/etc/passwd")


@case("pages/pipe.html", says="not a regular file")
def folder_with_a_pipe(folder: Path) -> None:
    (folder / "pages").mkdir()
    os.mkfifo(folder / "pages/pipe.html")


@case("queries.jsonl", 2, None, "0xe9, is not UTF-8")
def cp1252_bytes(folder: Path) -> None:
    (folder / "queries.jsonl").write_bytes(
        b'{"id": "q0", "text": "x"}\n{"id": "q1", "text": "caf\xe9"}\n'
    )


@case("documents.jsonl", 1, "path", "not UTF-8")
def cp1252_page(folder: Path) -> None:
    (folder / "pages").mkdir()
    (folder / "pages/a.html").write_bytes(b"<p>caf\xe9</p>")
    write_jsonl(folder / "documents.jsonl", [{"id": "d0", "path": "pages/a.html"}])


@case("documents.jsonl", 2, None, "more than 50,000 values")
def record_of_many_fields(folder: Path) -> None:
    many: dict[str, list[str]] = {f"f{number}": [] for number in range(50_001)}
    write_jsonl(folder / "documents.jsonl", [document(0), document(1) | many])


@case("documents.jsonl", 4, "id", "appears twice")
def duplicate_document(folder: Path) -> None:
    write_jsonl(
        folder / "documents.jsonl", [*map(document, range(3)), {**document(1), "title": "x"}]
    )


@case("queries.jsonl", 3, "id", "appears twice")
def duplicate_query(folder: Path) -> None:
    write_jsonl(folder / "queries.jsonl", [query(0), query(1), {**query(0), "text": "other"}])


@case("candidates.jsonl", 2, "document", "appears twice")
def duplicate_candidate(folder: Path) -> None:
    first = candidate(0, of=0)
    records = [first, {**first, "grade": 4}, candidate(1, of=1)]
    write_jsonl(folder / "candidates.jsonl", records)


@case("candidates.jsonl", 2, "document", "no document 'd99'")
def unknown_document(folder: Path) -> None:
    write_jsonl(folder / "candidates.jsonl", [candidate(0, of=0), candidate(99, of=1)])


@case("candidates.jsonl", 1, "query", "no query 'q99'")
def unknown_query(folder: Path) -> None:
    write_jsonl(folder / "candidates.jsonl", [candidate(0, of=99), candidate(1, of=0)])


@case("queries.jsonl", 2, "id", "no candidates")
def query_without_candidates(folder: Path) -> None:
    write_jsonl(folder / "candidates.jsonl", [candidate(0, of=0)])


@case("candidates.jsonl", 1001, "query", "more than 1,000 candidates")
def too_many_candidates(folder: Path) -> None:
    write_jsonl(folder / "documents.jsonl", [document(number) for number in range(1002)])
    write_jsonl(folder / "candidates.jsonl", [candidate(n, of=0) for n in range(1001)])


@case("documents.jsonl", 1, None, "longer than 16 MB")
def line_of_a_hundred_megabytes(folder: Path) -> None:
    with (folder / "documents.jsonl").open("wb") as stream:
        stream.write(b'{"id": "d0", "text": "')
        stream.truncate(100 * 1024**2)


@case("documents.jsonl.gz", None, None, "unpacks to more than")
def gzip_bomb(folder: Path) -> None:
    (folder / "documents.jsonl").unlink()
    line = b'{"id": "d0", "text": "' + b" " * 1_000_000 + b'"}\n'
    (folder / "documents.jsonl.gz").write_bytes(gzip.compress(line * 8, 9))


@case("documents.jsonl.gz", None, None, "damaged")
def truncated_gzip(folder: Path) -> None:
    content = (folder / "documents.jsonl").read_bytes()
    (folder / "documents.jsonl").unlink()
    packed = gzip.compress(content)
    (folder / "documents.jsonl.gz").write_bytes(packed[: len(packed) // 2])


@case("study", None, "candidates", "no candidates file")
def no_candidates_file(folder: Path) -> None:
    (folder / "candidates.jsonl").unlink()


@case("study", None, "queries", "no queries file")
def no_queries_file(folder: Path) -> None:
    (folder / "queries.jsonl").unlink()


@case("study", None, "documents", "no documents")
def no_documents(folder: Path) -> None:
    (folder / "documents.jsonl").unlink()


@case("queries.tsv", None, "queries", "2 queries files")
def two_files_of_queries(folder: Path) -> None:
    (folder / "queries.tsv").write_text("q0\tx\n")


@case("rankings.jsonl", 1, "documents", "no document 'd99'")
def ranking_of_an_unknown_document(folder: Path) -> None:
    record = {"query": "q0", "system": "a", "documents": ["d0", "d99"]}
    write_jsonl(folder / "rankings.jsonl", [record])


QUERIES, DOCUMENTS, CANDIDATES = "queries.jsonl", "documents.jsonl", "candidates.jsonl"
GOOD = '{"id": "q0", "text": "x"}\n'
LETOR = "1 qid:1 1:0.5 #docid = a\n0 qid:2 1:0.1 #docid = b\n2 qid:1 1:0 #docid = c\n"
text_case("prose", "notes.txt", "Only notes.\n", says="only if it is a LETOR file", alone=True)
text_case("letor_in_wrong_order", "train.txt", LETOR, 3, "qid", "interrupted by", alone=True)
LETOR = "1 qid:1 1:0.5 2:1\n0 qid:1 1:0.5 2:nan\n"
text_case("letor_with_nan", "train.txt", LETOR, 2, "features", "Feature 2 is nan", alone=True)
text_case("empty_file", DOCUMENTS, "", says="empty")
text_case("blank_file", DOCUMENTS, "\n\n", says="no document")
text_case("not_json", QUERIES, GOOD + '{"id": "q1", "text": \n', 2, says="not JSON at character")
text_case("json_array", QUERIES, GOOD + '["q1", "x"]\n', 2, says="a list")
text_case("json_bottomless", QUERIES, GOOD + '{"id": ' + "[" * 100_000 + "\n", 2, says="not JSON")
text_case("field_twice", QUERIES, '{"id": "a", "id": "b", "text": "x"}\n', 1, "id", "twice")
text_case("misspelt_field", QUERIES, '{"id": "q0", "txt": "x"}\n', 1, "txt", "not a known field")
text_case("empty_query", QUERIES, GOOD + '{"id": "q1", "text": "  "}\n', 2, "text", "empty")
text_case("query_without_id", QUERIES, '{"text": "x"}\n', 1, "id", "missing")
text_case("id_not_a_text", QUERIES, '{"id": 1.5, "text": "x"}\n', 1, "id", "not a text")
text_case("id_with_blank", QUERIES, '{"id": "q 0", "text": "x"}\n', 1, "id", "blank")
text_case("id_too_long", QUERIES, '{"id": "' + "q" * 301 + '", "text": "x"}\n', 1, "id", "301")
text_case("nul_in_text", QUERIES, '{"id": "q0", "text": "a\\u0000b"}\n', 1, "text", "U+0000")
text_case("surrogate", QUERIES, '{"id": "q0", "text": "\\ud800"}\n', 1, "text", "U+D800")
text_case("text_and_html", DOCUMENTS, '{"id": "d0", "text": "x", "html": "y"}\n', 1, "text", "and")
text_case("no_content", DOCUMENTS, '{"id": "d0", "title": "x"}\n', 1, "text", "no content")
text_case("empty_page", DOCUMENTS, '{"id": "d0", "text": " "}\n', 1, "text", "empty")
text_case("nul_in_page", DOCUMENTS, '{"id": "d0", "text": "a\\u0000"}\n', 1, "text", "U+0000")
text_case("missing_page", DOCUMENTS, '{"id": "d0", "path": "pages/a.html"}\n', 1, "path", "no file")
text_case("path_outside", DOCUMENTS, '{"id": "d0", "path": "../../x"}\n', 1, "path", "no file")
text_case("no_page", DOCUMENTS, '{"id": "d0", "path": "study.toml"}\n', 1, "path", "under pages/")
SCRIPT = '{"id": "d0", "text": "x", "url": " javascript:x"}\n'
text_case("script_url", DOCUMENTS, SCRIPT, 1, "url", "shown")
text_case("unknown_format", CANDIDATES, "line of words\n", 1, says="format is not recognized")


def candidate_case(name: str, rest: str, field: str, says: str) -> None:
    """Add a case in which the first candidate has a wrong field."""
    line = f'{{"query": "q0", "document": "d0", {rest}}}\n'
    text_case(name, CANDIDATES, line, 1, field, says)


candidate_case("nan_feature", '"features": {"a": NaN}', "features", "nan")
candidate_case("text_feature", '"features": ["a"]', "features", "not a number")
candidate_case("huge_grade", '"grade": 99999999999', "grade", "not a grade")


def other_case(target: str, text: str, line: int, field: str, says: str) -> None:
    """Add a case in which the candidates come in another format."""
    text_case(f"{target}: {says}", target, text, line, field, says, CANDIDATES)


other_case("qrels.txt", "q0 0 d0 1\nq1 0 d3 good\n", 2, "grade", "not a grade")
other_case("run.txt", "q0 Q0 d0 1 9.5 sys\nq1 Q0 d3 1 9.5\n", 2, "columns", "5 columns")
WITHOUT_ID = "1 qid:q0 1:1 #docid = d0\n1 qid:q1 1:1\n"
other_case("letor.txt", WITHOUT_ID, 2, "docid", "names no document")
TWICE = "1 qid:q0 2:1 1:1 2:1 #docid = d0\n"
other_case("letor.txt", TWICE, 1, "features", "Feature 2 appears twice")
text_case("tsv_of_one_column", "queries.tsv", "q0\tx\nq1\n", 2, "text", "one column", QUERIES)
UNTITLED = "<top>\n<num> Number: 1\n<desc> d\n</top>\n"
text_case("untitled_topic", "topics.txt", UNTITLED, 1, "title", "value is missing", QUERIES)
SETTINGS = "study.toml"
text_case("bad_toml", SETTINGS, 'name = "x"\nk = ten\n', 2, says="not TOML")
text_case("empty_name", SETTINGS, 'name = " "\n', 1, "name", "empty")
text_case("name_lines", SETTINGS, 'name = "x\\n# y"\n', 1, "name", "U+000A")
text_case("name_escape", SETTINGS, 'name = "x\\u001b[2J"\n', 1, "name", "U+001B")


def setting_case(line: str, field: str, says: str, *, at: int | None = 2) -> None:
    """Add a case in which study.toml has a wrong line below the name."""
    text_case(f"setting {line}", SETTINGS, f'name = "x"\n{line}\n', at, field, says)


setting_case('sortr = "heap"', "sortr", "no such setting")
setting_case("k = 0", "k", "from 1 to 1000")
setting_case('k = "3"', "k", "a text")
setting_case('tools = ["pears"]', "tools", "not a tool")
setting_case('sorter = "bogo"', "sorter", "it can be heap")
setting_case('slug = "A b"', "slug", "address")
setting_case('grades = ["only"]', "grades", "two grades")
setting_case("check_share = 2", "check_share", "from 0 to 1")
setting_case('tools = ["lists"]', "tools", "there are none", at=None)
setting_case('[files]\nqueries = "t.gz"', "files.queries", "no file", at=None)
PRACTISED = "training = true\ntraining_needed = 2"
setting_case(PRACTISED, "training_needed", "2 right answers of 0", at=None)


def practice_case(rest: str, field: str | None, says: str) -> None:
    """Add a case in which practice.jsonl has one wrong line."""
    line = f'{{"id": "p", "query": "tulips", {rest}}}\n'
    text_case(f"practice {rest}", "practice.jsonl", line, 1, field, says)


_WHY = '"explanation": "It helps."'
practice_case(f'{_WHY}, "left": "d0", "right": "d99", "answer": "left"', "right", "no document")
practice_case(f'{_WHY}, "left": "d0", "right": "d1", "answer": "b"', "answer", "no answer 'b'")
practice_case(f'{_WHY}, "document": "d0", "answer": "good"', "tool", "does not use")
practice_case(f'{_WHY}, "left": "d0", "answer": "left"', "document", "no pages")
practice_case('"left": "d0", "right": "d1", "answer": "left"', "explanation", "is missing")
