"""The methods section: every number is the report's, and no name breaks its markup."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.analysis.report import Options, Report, build_report
from topkapi.analysis.report.methods import (
    Methods,
    StudyFacts,
    Table,
    as_latex,
    as_markdown,
    methods_of,
    methods_texts,
)
from topkapi.analysis.report.schema import Comparison, Effort
from topkapi.analysis.report.simulated import simulated_study


@pytest.fixture(scope="module")
def report() -> Report:
    study = simulated_study([0.03, 0.08, 0.12, 0.17], queries=8, documents=12)
    return build_report(study, Options(draws=100, exchanges=199))


def test_the_numbers_are_those_of_the_report(report: Report) -> None:
    found = methods_of(report, StudyFacts(sorter="heap"))
    text = " ".join(found.paragraphs)
    assert text.startswith("In the study Simulated study, 4 assessors judged 8 queries.")
    assert "candidate documents, 96 in all (12.0 per query on average)" in text
    assert f"the sorter heap chose the pairs and kept the best {report.study.k} documents" in text
    agreement, effort, *people = found.tables
    rows = {row[0]: row[1:] for row in agreement.rows}
    for tool, title, shown in zip(report.tools, rows[""], rows["Fleiss' kappa"], strict=True):
        assert title == tool.title
        assert shown.startswith(f"{tool.agreement.fleiss_kappa.value:.3f} (")
        assert isinstance(tool.effort, Effort)
        assert f"{tool.effort.seconds_per_judgment.count} timed judgments" in text
    assert len(effort.rows) == 1 + len(report.tools)
    assert [len(table.rows) for table in people] == [5] * len(report.tools)
    assert isinstance(report.comparison, Comparison)
    for each in (report.comparison.all_pairs, report.comparison.without_ties):
        assert f"p = {each.p_queries.value:.4f}" in text
    for words in ("voided", "adjudicators", "T3", "were finished"):
        assert words not in text


def test_nobody_is_named_and_what_was_voided_or_adjudicated_is_told(report: Report) -> None:
    names = {each.assessor for tool in report.tools for each in tool.people}
    known = {name: f"assessor-{number:02}" for number, name in enumerate(sorted(names), start=1)}
    facts = StudyFacts(None, 9, 7, 1, 23, 2, 5, 3, 4, 60, known)
    found = methods_of(report, facts)
    text = " ".join(found.paragraphs)
    for sentence in (
        "Of 9 sessions, 7 were finished.",
        "We voided 1 further session with 23 answers; they count in none of the figures.",
        "In 2 further sessions, adjudicators answered 5 pairs",
        "With T3 lists, 3 assessors gave 60 preferences between two rankings of a query, for "
        "4 queries.",
    ):
        assert sentence in text
    shown = as_markdown(found)
    assert "assessor-04" in shown
    assert not any(f"| {name} |" in shown for name in names)


def test_without_a_sorter_none_is_named(report: Report) -> None:
    assert "sorter" not in methods_texts(report)["methods.md"]


@given(st.text(alphabet="ab\\&%$#_{}~^<>|*`[]"))
def test_names_are_escaped(name: str) -> None:
    found = Methods((name,), (Table("t", (("x", "y"), (name, "1"))),))
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
