"""The card that says how sure each list is, where the report was asked to count it."""

from analysis.report.figures import Json
from analysis.report.page.markup import (
    card,
    decimals,
    how,
    percent,
    quiet,
    stack,
    table,
    text,
    whole,
)
from analysis.report.page.words import HOW

MOST_LISTS = 200
_NAMED = ("query", "assessor", "sorter", "answers")
FIGURES = ("Expected quality", "Most probable list", "Estimated errors")


def sureness(report: Json) -> str:
    """Expected quality and estimated errors, by assessor and by list, least sure first."""
    found = report.get("confidence")
    if found is None:
        return ""
    title, words = HOW["confidence"]
    if not found["lists"]:
        nothing = quiet("No session with pairs is finished yet.")
        return stack("confidence", [card(title, nothing)])
    people = table(
        ["Assessor", "Lists", *FIGURES],
        [[text(row["assessor"]), whole(row["lists"]), *_figures(row)] for row in found["people"]],
        label=f"{title}, by assessor",
    )
    rows = sorted(found["lists"], key=lambda row: float(row["quality"]))
    lists = table(
        ["Query", "Assessor", "Sorter", "Answers", *FIGURES],
        [[*(text(row[name]) for name in _NAMED), *_figures(row)] for row in rows[:MOST_LISTS]],
        label=f"{title}, by list",
        left=3,
    )
    more = ""
    if len(rows) > MOST_LISTS:
        more = f"The first {MOST_LISTS} of {whole(len(rows))}; all are in confidence.csv."
    tip = how("confidence", title, words)
    return stack("confidence", [card(title, people, lists, quiet(more), tip=tip)])


def _figures(row: Json) -> list[str]:
    return [
        decimals(row["quality"]),
        decimals(row["probable_quality"]),
        percent(row["error_rate"]),
    ]
