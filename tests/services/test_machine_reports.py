"""The report on machines: their biases are shown, and people's results stay as they are."""

import json
import random
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from sqlalchemy import select

from tests.chat_endpoint import ChatEndpoint, honest, serving_chat, sides_of
from tests.exporting import by_worth, judge
from tests.factories import make_assignment, make_user, queries_of
from tests.ranked import Judge, give_lists, make_ranked_study
from tests.services.test_machines import result_of, run
from topkapi.analysis.report import Report
from topkapi.analysis.report.page import render_body
from topkapi.analysis.report.serialise import restored, storable
from topkapi.analysis.report.subjects.machines import AssessorEffects, ToolMachines
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Content, Document, Study
from topkapi.app.domain.pairs.answers import Answer, Question
from topkapi.app.services.assignments import rotation
from topkapi.app.services.results.exports import ExportOptions, export_session, open_export
from topkapi.app.services.results.reports import ListReports, ReportCache, as_json

SLUG = "biased"


@pytest.fixture(autouse=True)
def _same_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the same orders and sides each time."""
    numbers = count()
    monkeypatch.setattr(rotation, "token_hex", lambda _size: f"seed-{next(numbers)}")


def study_of_lengths(sessions: Sessions, queries: int = 10) -> None:
    """Create a study whose pages have different lengths, in no relation to their numbers."""
    drawn = random.Random(3)
    with sessions.write.begin() as session:
        make_ranked_study(session, slug=SLUG, queries=queries, documents=6, systems=2, k=3)
        for content in session.scalars(select(Content).join(Document).order_by(Document.id)):
            content.text = f"{content.text}{' and so on' * drawn.randrange(1, 60)}"


def prefers_left(prompt: str) -> str:
    return ("A" if _CHANCE.random() < 0.7 else "B") if "Page A:" in prompt else honest(prompt)


def prefers_longer(prompt: str) -> str:
    if "Page A:" not in prompt:
        return honest(prompt)
    left, right = sides_of(prompt)
    return "A" if len(left) > len(right) else "B"


_CHANCE = random.Random(1)


def report_of(sessions: Sessions, *, pseudonyms: bool = False) -> Report:
    with export_session(sessions) as session:
        return ReportCache().report(session, SLUG, pseudonyms=pseudonyms)


def list_report_of(sessions: Sessions) -> str:
    with export_session(sessions) as session:
        return as_json(ListReports().report(session, SLUG))


def tool_of(report: Report, name: str) -> ToolMachines:
    assert report.machines is not None
    return next(each for each in report.machines.tools if each.tool == name)


def effects_of(
    sessions: Sessions, model: Callable[[str], str], **terms: object
) -> tuple[AssessorEffects, str]:
    """Judge by a fake model; return its effects within 100 answers, and the page of the report."""
    study_of_lengths(sessions)
    with serving_chat(ChatEndpoint(model=model)) as endpoint:
        result_of(run(sessions, SLUG, endpoint, tools=["pairs"], concurrency=1, **terms))
    report = report_of(sessions)
    (effects,) = tool_of(report, "pairs").effects
    assert effects.machine
    assert effects.side is None or effects.side.answers <= 100
    return effects, render_body(report)


@pytest.mark.thorough
def test_a_model_that_prefers_the_left_is_shown_within_100_answers(sessions: Sessions) -> None:
    _CHANCE.seed(1)
    effects, page = effects_of(sessions, prefers_left, orders="one")
    assert effects.side is not None
    assert effects.side.share == pytest.approx(0.7, abs=0.1)
    assert effects.side.clustered
    assert effects.side.biased
    assert "prefers the left" in page


@pytest.mark.thorough
def test_asking_in_both_orders_removes_the_preference_for_the_left(sessions: Sessions) -> None:
    _CHANCE.seed(1)
    effects, page = effects_of(sessions, prefers_left, orders="both")
    assert effects.side is not None
    assert not effects.side.biased
    assert "prefers the left" not in page


@pytest.mark.thorough
def test_a_model_that_prefers_the_longer_page_is_shown_within_100_answers(
    sessions: Sessions,
) -> None:
    effects, page = effects_of(sessions, prefers_longer)
    assert effects.length is not None
    assert effects.length.share == 1.0
    assert effects.length.biased
    assert "prefers longer pages" in page


def replies_that_agree(sessions: Sessions) -> tuple[int, float]:
    """Return the replies about pairs, and the mean share of people whose list says the same."""

    def exported(name: str, assessor: str | None = None) -> list[dict[str, Any]]:
        with sessions.read() as session:
            opened = open_export(session, SLUG, name, ExportOptions(assessor=assessor))
            return [json.loads(line) for line in b"".join(opened.chunks).splitlines()]

    lists: dict[str, list[dict[str, int]]] = {}
    for each in exported("topk.jsonl"):
        ranks = {page: -at for at, group in enumerate(each["groups"]) for page in group}
        lists.setdefault(each["query"], []).append(
            {page: ranks.get(page, -99) for page in (*each["ranking"], *each["rest"])}
        )
    machine = "fake@machine.invalid"
    shown = {
        (each["query"], each["position"]): (each["left"], each["right"])
        for each in exported("judgments.jsonl", machine)
        if each["tool"] == "pairs"
    }
    shares = []
    for call in exported("calls.jsonl", machine):
        if call["tool"] == "pairs":
            left, right = shown[call["query"], call["position"]]
            says = (1 if call["answer"] == "A" else -1) * (1 if call["order"] == "ab" else -1)
            gaps = [of[left] - of[right] for of in lists[call["query"]]]
            same = [gap * says > 0 for gap in gaps]
            shares.append(sum(same) / len(same))
    return len(shares), sum(shares) / len(shares)


def by_number(question: Question) -> Answer:
    """Agree with the honest model: pages of a query have ascending ids."""
    return Answer.LEFT if question.left > question.right else Answer.RIGHT


@pytest.mark.thorough
def test_machines_are_compared_with_people_and_never_counted_as_people(sessions: Sessions) -> None:
    study_of_lengths(sessions, queries=12)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        people = [make_user(session, name=name) for name in ("Ansa", "Bao", "Chidi")]
        for query in queries_of(session, study):
            for number, user in enumerate(people):
                person = by_number if number < 2 else by_worth
                judge(session, make_assignment(session, user=user, query=query), person=person)
            work = give_lists(session, study, query, user=people[0])
            Judge(session, work).to_the_end()
    alone = report_of(sessions)
    assert alone.machines is None
    lists_alone = list_report_of(sessions)
    with serving_chat(ChatEndpoint()) as endpoint:
        result_of(run(sessions, SLUG, endpoint, tools=["pairs", "lists"]))
    found = report_of(sessions)
    assert (found.tools, found.comparison, found.study) == (
        alone.tools,
        alone.comparison,
        alone.study,
    )
    assert list_report_of(sessions) == lists_alone
    assert found.machines is not None
    assert found.machines.assessors == ("fake",)
    pairs = tool_of(found, "pairs")
    honest = pairs.effects[0]
    assert (honest.assessor, honest.machine) == ("fake", True)
    assert honest.side is not None
    assert honest.length is not None
    assert not honest.side.biased
    assert not honest.length.biased
    assert sorted(each.assessor for each in pairs.effects[1:]) == ["Ansa", "Bao", "Chidi"]
    assert [each.kind for each in pairs.agreement] == ["people", "people and machines"]
    shares = [each.machine for each in pairs.queries]
    assert len(shares) == 12
    assert shares == sorted(shares, key=lambda share: share or 0.0)
    (tested,) = pairs.tests
    assert tested.test is not None
    assert sorted(tested.assessors) == ["Ansa", "Bao", "Chidi"]
    assert tested.test.winning_rate == pytest.approx(1 / 3), "12 queries show only what is clear"
    assert pairs.calibration is not None
    (calibrated,) = pairs.calibration
    shown = calibrated.calibration
    assert [(each.low, each.high) for each in shown.bins] == [(0.8, 0.9)]
    replies, agreed = replies_that_agree(sessions)
    assert shown.replies == replies
    assert shown.confidence == pytest.approx(0.8)
    assert shown.agreement == pytest.approx(agreed)
    assert shown.error == pytest.approx(abs(0.8 - agreed))
    assert "the expected calibration error" in " ".join(render_body(found).split())
    lists = tool_of(found, "lists")
    assert lists.boards is not None
    assert {row.system for row in lists.boards[0].board.systems} == {"system-0", "system-1"}
    assert "no one can be compared" in lists.tests[0].reason
    page = " ".join(render_body(found).split())
    for words in ("Not shown", "1 of 3 people", "People and machines", "At equal lengths"):
        assert words in page
    assert restored(storable(found)) == found
    assert '"machines": {' in as_json(found)
    hidden = report_of(sessions, pseudonyms=True)
    assert hidden.machines is not None
    assert hidden.machines.assessors == ("fake",)
    assert "Ansa" not in as_json(hidden)
