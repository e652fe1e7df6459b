"""The methods section: every number is the report's, and no name breaks its markup."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkapi
from tests.simulated_study import simulated_study
from topkapi.analysis.report import Options, Report, build_report
from topkapi.analysis.report.methods import CITATION, StudyFacts, methods_of, methods_texts
from topkapi.analysis.report.methods_format import Methods, MethodsTable, as_latex, as_markdown
from topkapi.analysis.report.subjects.comparison import Comparison
from topkapi.analysis.report.subjects.effort import Effort


@pytest.fixture(scope="module")
def report() -> Report:
    study = simulated_study([0.03, 0.08, 0.12, 0.17], queries=8, documents=12)
    return build_report(study, Options(draws=100, exchanges=199))


@pytest.mark.thorough
def test_the_numbers_are_those_of_the_report(report: Report) -> None:
    found = methods_of(report, StudyFacts(sorters=("heap",)))
    text = " ".join(found.paragraphs)
    assert text.startswith(
        "The study Simulated study comprises 8 queries with 96 candidate documents in total (12.0 "
        "per query on average). The documents were judged by 4 assessors."
    )
    assert f"heap chose the pairs so as to find the best {report.study.k} documents" in text
    agreement, effort, *people = found.tables
    rows = {row[0]: row[1:] for row in agreement.rows}
    for tool, title, shown in zip(report.tools, rows[""], rows["Fleiss' kappa"], strict=True):
        assert title == tool.title
        assert shown.startswith(f"{tool.agreement.fleiss_kappa.value:.3f} (")
        assert isinstance(tool.effort, Effort)
        assert f" s, over {tool.effort.seconds_per_judgment.count} judgments" in text
    assert len(effort.rows) == 1 + len(report.tools)
    assert [len(table.rows) for table in people] == [5] * len(report.tools)
    assert isinstance(report.comparison, Comparison)
    for each in (report.comparison.all_pairs, report.comparison.without_ties):
        assert f"p = {each.p_queries.value:.4f}" in text
    for words in ("discarded", "djudicat", "T3", "of them"):
        assert words not in text


def test_all_are_completed_only_if_nothing_is_left_of_the_plan(report: Report) -> None:
    sizes: dict[str, Any] = {"assessors": 4, "queries": 8, "sessions": 9, "finished": 9}
    for promised, words in ((9, "all of them were completed"), (12, "9 of 12 planned sessions")):
        facts = StudyFacts(**sizes, promised=promised)
        assert words in " ".join(methods_of(report, facts).paragraphs)


def test_the_citation_is_that_of_the_checkout() -> None:
    text = (Path(__file__).parents[3] / "CITATION.cff").read_text()
    title, year = re.findall(r"^title: (.+)$|^date-released: \D?(\d{4})", text, re.MULTILINE)
    (author,) = re.findall(r"^ *- name: (.+)$", text, re.MULTILINE)
    assert f"{author}, {title[0]}, {year[1]}".replace('"', "") == CITATION


def test_nobody_is_named_and_what_was_discarded_or_adjudicated_is_told(report: Report) -> None:
    names = {each.assessor for tool in report.tools for each in tool.people}
    known = {name: f"assessor-{number:02}" for number, name in enumerate(sorted(names), start=1)}
    work: dict[str, Any] = {
        "assessors": 4,
        "queries": 8,
        "sessions": 9,
        "finished": 7,
        "promised": 12,
    }
    more: dict[str, Any] = {"voided": 1, "voided_answers": 23, "adjudications": 2, "adjudicated": 5}
    lists: dict[str, Any] = {"comparers": 3, "compared_queries": 4, "compared": 60}
    design: dict[str, Any] = {
        "rounds": 2,
        "guidelines": 310,
        "revisions": 1,
        "known": 40,
        "known_right": 36,
    }
    facts = StudyFacts(
        ("heap", "robust"),
        **work,
        **more,
        **lists,
        **design,
        machines=(("gpt-9", 16, 512),),
        pseudonyms=known,
    )
    found = methods_of(report, facts)
    text = " ".join(found.paragraphs)
    for sentence in (
        "In total, 4 assessors judged 8 queries in 9 sessions, each the work of one assessor on "
        "one query with one tool; 7 of 12 planned sessions were completed.",
        "each query was to be judged by 2 assessors with each tool, and no one judged a query "
        "with two tools.",
        "All followed written guidelines (310 words, revised 1 time).",
        "Of 40 answers to pairs of which the better document was known, 36 (90.0%) were right.",
        "The machine gpt-9 judged beside the assessors (16 sessions, 512 answers); the figures "
        "here are those of people alone.",
        "The judgments were collected and analysed with "
        f"Topkapi {topkapi.__version__} ({CITATION}).",
        "In addition, 1 session with 23 answers was discarded and is excluded from all figures.",
        "The sorting algorithm heap or robust chose the pairs",
        "were adjudicated: 5 answers in 2 sessions. The answers of completed adjudications enter "
        "the consensus and no other figure.",
        "(T3 lists), 3 assessors gave 60 preferences between two rankings of the same query on a "
        "five-point scale, for 4 queries.",
    ):
        assert sentence in text
    assert "declared a tie" not in text
    shown = as_markdown(found)
    assert "assessor-04" in shown
    assert not any(f"| {name} |" in shown for name in names)


@pytest.mark.thorough
@pytest.mark.parametrize("queries", [3, 12])
def test_only_what_is_shown_is_explained(queries: int) -> None:
    """Check that intervals and dashes are spoken of exactly where there are some."""
    study = simulated_study([0.03, 0.08, 0.12, 0.17], queries=queries, documents=12)
    found = methods_of(build_report(study, Options(draws=100, exchanges=199)), StudyFacts())
    text = " ".join(found.paragraphs)
    pooled, effort, *people = (str(table.rows) for table in found.tables)
    assert (" to " in pooled + effort) == ("bootstrap over queries" in text) == (queries == 12)
    assert ("–" in pooled + effort + "".join(people)) == ("A dash marks" in text)
    assert ("% intervals" in text) == (" to " in pooled + effort + "".join(people))


def test_without_a_sorter_none_is_named(report: Report) -> None:
    assert "algorithm" not in methods_texts(report)["methods.md"]


@given(st.text(alphabet="ab\\&%$#_{}~^<>|*`[]"))
def test_names_are_escaped(name: str) -> None:
    found = Methods((name,), (MethodsTable("t", (("x", "y"), (name, "1"))),))
    row = as_latex(found).split("\\midrule\n")[1].split("\n\\bottomrule")[0]
    for command in (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}"):
        row = row.replace(command, "")
    plain = re.sub(
        r"\\[&%$#_{}]", "", row.removesuffix(r" \\").replace("$<$", "").replace("$>$", "")
    )
    assert re.sub(r"[ab]", "", plain).count("&") == 1
    assert not set(plain) & set("\\%$#_{}~^<>")
    line = as_markdown(found).splitlines()[-1]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3
