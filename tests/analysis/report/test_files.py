import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

from tests.browser.looks import violations
from tests.cases import each_case
from tests.simulated_study import simulated_study
from topkapi.analysis.report import Options, build_report
from topkapi.analysis.report.files import write_report
from topkapi.analysis.report.svg import ticks

FEW = Options(draws=100, exchanges=199)
ERRORS = [0.03, 0.08, 0.12, 0.17, 0.22]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    write_report(build_report(simulated_study(ERRORS, queries=10, documents=20), FEW), place)
    return place


@pytest.mark.thorough
def test_every_file_is_written_and_can_be_read_back(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    tables = {"agreement", "matrices", "pairs", "assessors", "queries", "effort", "comparison"}
    plots = {"times", "course", "error-rates-pairs", "error-rates-grades"}
    assert {f"{table}.csv" for table in tables} <= names
    assert {f"{plot}.svg" for plot in plots} <= names
    report = json.loads((folder / "report.json").read_text("utf-8"))
    with (folder / "matrices.csv").open(encoding="utf-8", newline="") as stream:
        cells = list(csv.DictReader(stream))
    counts = report["tools"][0]["agreement"]["matrix"]["counts"]
    assert [int(cell["count"]) for cell in cells[:9]] == [n for row in counts for n in row]
    with (folder / "agreement.csv").open(encoding="utf-8", newline="") as stream:
        row = next(csv.DictReader(stream))
    found = report["tools"][0]["agreement"]["gwet_ac1"]
    assert [float(row["gwet_ac1"]), float(row["gwet_ac1.low"])] == [found["value"], found["low"]]
    tokens = Path(__file__).parents[3] / "static" / "css" / "tokens.css"
    assert tokens.read_text("utf-8").strip() in (folder / "report.html").read_text("utf-8")


@pytest.mark.thorough
def test_consensus_files_hold_the_same_lists(folder: Path) -> None:
    lines = (folder / "consensus-pairs.jsonl").read_text("utf-8").splitlines()
    lists = {record["query"]: record["documents"] for record in map(json.loads, lines)}
    best: dict[str, str] = {}
    for line in (folder / "consensus-pairs.qrels").read_text("utf-8").splitlines():
        query, _, document, label = line.split()
        if label == "10":
            best[query] = document
    assert {query: documents[0] for query, documents in lists.items()} == best


def test_plots_are_pictures(folder: Path) -> None:
    files = list(folder.glob("*.svg"))
    assert files
    for path in files:
        assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in path.read_text("utf-8")  # drawing programs know no variables


@pytest.mark.thorough
def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    made = simulated_study(ERRORS, queries=6, documents=12)
    evil = '"><script>alert(1)</script>'
    object.__setattr__(made, "assessors", (evil, *made.assessors[1:]))
    object.__setattr__(made, "queries", (evil, *made.queries[1:]))
    object.__setattr__(made, "name", evil)
    write_report(build_report(made, FEW), tmp_path, plots=False)
    assert "<script" not in (tmp_path / "report.html").read_text("utf-8")


def test_a_page_needs_nothing_from_elsewhere(folder: Path) -> None:
    page = (folder / "report.html").read_text("utf-8")
    for outside in ("http://", "https://", "src=", "<link", "<script", "@import", "url("):
        assert outside not in page, outside


@each_case("most", [0.003, 0.31, 1, 9.99, 47, 123.4, 86_000])
def test_ticks_reach_the_greatest_value_in_few_round_steps(most: float) -> None:
    marks = ticks(most)
    assert marks[0] == 0
    assert marks[-1] >= most > marks[-2]
    assert len(marks) <= 7


@pytest.mark.browser
def test_the_page_fits_and_is_accessible_light_and_dark_wide_and_narrow(
    folder: Path, browser: Browser
) -> None:
    for scheme, width in (("light", 1440), ("dark", 390)):
        page = browser.new_page(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page.goto((folder / "report.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert violations(page) == []
        page.get_by_role("button", name="How Cohen's kappa is computed").click()
        assert page.get_by_text("Agreement beyond what the two assessors").is_visible()
        page.close()
