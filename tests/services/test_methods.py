"""The methods section: every number is recomputed from the exports."""

import json
import re
from datetime import timedelta
from statistics import median
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.exporting import START, judge, make_judged_study
from tests.factories import make_assignment, make_user, queries_of
from tests.ranked import compare_lists
from topkapi.analysis.report.methods import as_markdown, methods_of
from topkapi.app.db.models import Assignment
from topkapi.app.domain.assignment.rotation import ADJUDICATION
from topkapi.app.domain.enums import Tool
from topkapi.app.services.demo import load_demo
from topkapi.app.services.results.exports import StudySource, open_export
from topkapi.app.services.results.reports.service import facts_of, make_report

Record = dict[str, Any]


def exported(session: Session, slug: str, name: str) -> list[Record]:
    text = b"".join(open_export(session, slug, name).chunks).decode()
    return [json.loads(line) for line in text.splitlines()]


def busy_study(session: Session) -> str:
    """Make a study with voided work, an adjudication, and comparisons of lists."""
    study = make_judged_study(session)
    query = queries_of(session, study)[0]
    for name in ("Eve", "Fay"):
        more = make_assignment(session, user=make_user(session, name=name), query=query, seed=name)
        judge(session, more)
    taken = make_assignment(session, user=make_user(session, name="Gus"), query=query, seed="g")
    judge(session, taken, most=4)
    taken.withdrawn_at = START + timedelta(days=2)
    pages = session.scalars(select(Assignment).where(Assignment.tool == Tool.PAIRS)).first()
    assert pages is not None
    order = pages.plan["order"]
    adjudicator = make_user(session, name="Hal")
    pairs = [[order[0], order[1]], [order[2], order[3]]]
    again = make_assignment(
        session, user=adjudicator, query=query, round=ADJUDICATION, seed="h", pairs=pairs
    )
    judge(session, again)
    compare_lists(session, "tulips", "chidi@tulips.example")
    session.flush()
    return "tulips"


def demo_study(session: Session) -> str:
    return load_demo(session, at=START).slug


@pytest.mark.parametrize("make", [busy_study, demo_study])
def test_every_number_is_that_of_the_exports(session: Session, make: Any) -> None:
    slug = make(session)
    source = StudySource(session, slug)
    report = make_report(source)
    found = methods_of(report, facts_of(source))
    text = " ".join(found.paragraphs)
    entries = exported(session, slug, "judgments.jsonl")
    answers = [each for each in entries if each["effective"]]
    void = [each for each in answers if each["withdrawn"]]
    begun_and_void = {
        (each["tool"], each["query"], each["assessor"], each["round"])
        for each in entries
        if each["withdrawn"]
    }
    expected = []
    if begun_and_void:
        many = "s" if len(begun_and_void) > 1 else ""
        expected.append(f"We voided {len(begun_and_void)} further session{many} with {len(void)} ")
    adjudicated = [each for each in answers if each["round"] == -1 and not each["withdrawn"]]
    if adjudicated:
        expected.append(f"adjudicators answered {len(adjudicated)} pair")
    compared = exported(session, slug, "lists.jsonl")
    if compared:
        people = {each["assessor"] for each in compared}
        expected.append(f"With T3 lists, {len(people)} assessor")
        expected.append(f" gave {len(compared)} preference")
    lists = [each for each in exported(session, slug, "topk.jsonl") if each["complete"]]
    finished = {(each["query"], each["assessor"], each["round"]) for each in lists}
    timed = [
        each["active_ms"] / 1000
        for each in answers
        if each["tool"] == "pairs" and not each["withdrawn"] and each["round"] != ADJUDICATION
    ]
    expected.append(f"The {len(finished)} finished sessions took ")
    expected.append(f"the median time of the {len(timed)} timed judgments of all sessions")
    for words in expected:
        assert words in text, (words, text)
    shown = as_markdown(found)
    for person in source.assessors.people:
        assert person.name not in shown
        assert person.email not in shown
    assert ("voided" in text) == bool(begun_and_void)
    assert ("T3" in text) == bool(compared)
    assert ("adjudicators" in text) == bool(adjudicated)
    seconds = re.search(r"timed judgments of all sessions was ([0-9.]+)", text)
    assert seconds is not None
    assert float(seconds[1]) == pytest.approx(median(timed), abs=0.06)
