"""SMART files, as Cranfield, CACM, CISI and MED are distributed, imported unchanged."""

from pathlib import Path

import pytest

from tests.services.importing.test_as_found import MISSING, checked, names, refusal
from topkapi.app.services.importing import open_source
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.kinds.candidates import CANDIDATES
from topkapi.app.services.importing.kinds.documents import DOCUMENTS
from topkapi.app.services.importing.kinds.queries import QUERIES
from topkapi.app.services.importing.problems import Problems
from topkapi.app.services.importing.sources.reader import Reader

DATA = Path(__file__).parents[4] / "shared" / "data" / "cran"


def smart(records: dict[str, str], field: str = "W") -> str:
    return "".join(
        f".I {name}\n.T\n{text}\n title\n.A\nm. brenckman\n.{field}\n{text} .\nand more\n"
        for name, text in records.items()
    )


def collection(folder: Path, queries: list[str], judged: str) -> Path:
    """Write a collection whose names tell little, such as MED.ALL, MED.QRY and MED.REL."""
    folder.mkdir()
    documents = {str(number): f"tulips {number}" for number in range(1, 31)}
    (folder / "MED.ALL").write_text(smart(documents))
    asked = (f".I {name}\n.W\nhow to keep\ntulips {name}\n" for name in queries)
    (folder / "MED.QRY").write_text("".join(asked))
    (folder / "MED.REL").write_text(judged)
    return folder


def test_documents_have_title_and_text_and_queries_one_line(tmp_path: Path) -> None:
    folder = collection(tmp_path / "med", ["1", "2"], "1 0 29 1\n1 0 30 1\n2 0 7 1\n2 0 8 1\n")
    with open_source(folder) as source:
        found = check_study(source)
        read = DOCUMENTS.read(found.bundle, Reader(source, Problems(), doing=""))
        document = next(record for _, record in read if record.id == "7")
    assert names(found) == {"1": ["29", "30"], "2": ["7", "8"]}
    assert found[QUERIES]["2"].text == "how to keep tulips 2"
    assert document.title == "tulips 7 title"
    assert document.data == b"tulips 7 .\nand more"


@pytest.mark.parametrize("zeros", ["0\t0.000000", "0 0"], ids=["CISI", "CACM"])
def test_lists_of_what_is_relevant_are_judgments(tmp_path: Path, zeros: str) -> None:
    judged = "".join(f"  0{query}  {page}\t{zeros}\n" for query in (1, 2) for page in (11, 23, 30))
    found = checked(collection(tmp_path / "cisi", ["1", "2"], judged))
    assert names(found) == {"1": ["11", "23", "30"], "2": ["11", "23", "30"]}


def test_ids_with_gaps_are_counted_only_if_the_candidates_count(tmp_path: Path) -> None:
    judged = "1 11 2\n1 12 2\n2 13 1\n2 14 1\n3 15 1\n3 16 1\n"
    found = checked(collection(tmp_path / "counted", ["001", "002", "004"], judged))
    assert found[QUERIES]["3"].text == "how to keep tulips 004"
    assert any("numbered by their order" in note for note in found.notes)
    named = checked(collection(tmp_path / "named", ["001", "002", "004"], judged[:28] + "4 15 1\n"))
    assert named[QUERIES]["4"].text == "how to keep tulips 004"
    assert not any("numbered" in note for note in named.notes)


def test_a_document_without_a_text_is_its_title(tmp_path: Path) -> None:
    folder = collection(tmp_path / "cacm", ["1"], "1 0 1 1\n1 0 2 1\n")
    (folder / "MED.ALL").write_text(".I 1\n.T\nTulips\n.X\n1 4 1\n.I 2\n.A\nnobody\n")
    (problem,) = refusal(folder).problems
    assert (problem.line, problem.problem) == (6, "The page is empty.")


@pytest.mark.skipif(not DATA.is_dir(), reason="shared research data are not here")
def test_cranfield_is_imported_as_it_is() -> None:
    found = checked(DATA, MISSING)
    assert (len(found[QUERIES]), len(found[CANDIDATES])) == (225, 1836)
    assert found[QUERIES]["3"].text.startswith("what problems of heat conduction")
