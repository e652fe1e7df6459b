"""The methods section: every number is the report's, and no name breaks its markup."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.analysis.report import Options, Report, build_report
from topkapi.analysis.report.methods import (
    Methods,
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
    found = methods_of(report, "heap")
    text = " ".join(found.paragraphs)
    assert text.startswith("4 assessors judged 8 queries with 96 documents.")
    assert f"the sorter heap kept the best {report.study.k}" in text
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
    assert f"p = {report.comparison.all_pairs.p_queries.value:.4f}" in text


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
