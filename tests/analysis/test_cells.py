"""Every table we write, read as a spreadsheet reads it: no cell of text begins like a formula."""

import csv
import io
import unicodedata
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.analysis.data.exports.cells import csv_line, guarded, tsv_line, unguarded
from topkapi.analysis.data.exports.pairs import PairAnswer, pair_lines, read_pairs
from topkapi.analysis.experiments.tables import Table, as_csv
from topkapi.analysis.report.files import to_csv

FORMULAS = [
    *("=1+1", "+1", "-1+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\ufeff=1"),
    *(
        "＝1+1",
        "＋1",
        "－1",
        "＠x",
        '"=1+1"',
        '"\t=1"',
        '""=1',
        "'=1",
        "\"'=1",
        "\u200b=1",
        "\x00=1",
    ),
]
WRITERS: dict[str, tuple[str, Callable[[str], str]]] = {
    "tsv_line": ("\t", lambda cell: tsv_line(["x", cell])),
    "csv_line": (",", lambda cell: csv_line(["x", cell])),
    "report": (",", lambda cell: to_csv([{"x": "x", "assessor": cell}])),
    "report heads": (",", lambda cell: to_csv([{"x": "x", cell: "y"}])),
    "experiments": (",", lambda cell: as_csv(Table("", ["x"], [(cell, [1.0])]))),
}
pieces = st.sampled_from([*'=+-@"\t\r\n\\ ', "'", "＝", "a", ",", ";"])
awkward = st.lists(pieces, max_size=6).map("".join)


def runs(cell: str) -> bool:
    """Whether a spreadsheet that drops blanks, controls and quotes first may run the cell."""
    kept = cell.lstrip("".join(c for c in cell if unicodedata.category(c)[0] in "CZ") + "\"'")
    runs_by_itself = unicodedata.normalize("NFKC", kept[:1]) in ("=", "+", "-", "@")
    return runs_by_itself and not cell.startswith("'")


@each_case("writer", WRITERS)
def test_no_written_cell_is_a_formula(writer: str) -> None:
    delimiter, write = WRITERS[writer]
    tables = {
        cell: csv.reader(io.StringIO(write(cell), newline=""), delimiter=delimiter)
        for cell in FORMULAS
    }
    assert all(runs(cell) or cell.startswith("'") for cell in FORMULAS)
    assert [cell for cell, rows in tables.items() if any(map(runs, chain(*rows)))] == []


@given(awkward | st.text(max_size=8))
@example('"')
@example("''")
def test_a_guarded_cell_is_no_formula_and_reads_back_as_it_was(cell: str) -> None:
    assert not runs(guarded(cell))
    assert not guarded(cell).startswith('"')
    assert unguarded(guarded(cell)) == cell


def test_a_quote_in_pairs_swallows_no_other_cell(tmp_path: Path) -> None:
    records = [
        PairAnswer('"q', "=1+1", '"=1+1"', "a", "ansa"),
        PairAnswer("q", "b", 'c"', "b", "x"),
    ]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(pair_lines(records)), encoding="utf-8", newline="")
    assert read_pairs(path) == records
    path.write_text(path.read_text("utf-8"), encoding="utf-8", newline="\r\n")
    assert read_pairs(path) == records
    path.write_text("".join(pair_lines(records)), encoding="utf-8", newline="")
    with path.open(newline="", encoding="utf-8") as stream:
        as_spreadsheet = list(csv.reader(stream, delimiter="\t"))
    assert [len(row) for row in as_spreadsheet] == [5, 5, 5]
    assert as_spreadsheet[1] == ["'\"q", "'=1+1", '\'"=1+1"', "a", "ansa"]


def test_numbers_stay_numbers() -> None:
    text = to_csv([{"assessor": "=HYPERLINK(1)", "x": -1.5}, {"assessor": "@me", "y": None}])
    assert text == "assessor,x,y\n'=HYPERLINK(1),-1.5,\n'@me,,\n"
