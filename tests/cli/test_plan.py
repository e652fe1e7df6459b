"""`topkapi plan`: cost and quality of a study that is not yet made."""

import pytest

from tests.commands import Command
from tests.databases import transaction_on
from tests.factories import make_study

HEAP = ("plan", "--sorter", "heap", "--runs", "50", "--processes", "1")


def test_a_plan_says_questions_hours_quality_and_queries(topkapi: Command) -> None:
    asked = ("--queries", "30", "--n", "20", "--k", "5", "--people", "3", "--seconds", "10")
    more = ("--lists", "2", "--difference", "0.05", "--goal", "0.5")
    found = topkapi.told(*HEAP, *asked, *more)
    (line,) = found["efforts"]
    assert line["questions"] == pytest.approx(60 * line["questions_per_list"], abs=3)
    assert line["hours"] == pytest.approx(line["questions"] / 360, abs=0.1)
    assert line["hours_per_person"] == pytest.approx(line["hours"] / 3, abs=0.1)
    assert found["chosen"] == line
    assert found["queries_to_tell_apart"] == 128
    out = topkapi.done(*HEAP, *asked, "--goal", "0.999")
    assert "30 queries of 20 documents, top 5, 30 lists, 3 people, 10 s per question" in out
    assert "No line reaches 0.999" in out
    assert "People err as in 67 sets of real votes, in 20 % of their answers on average." in out


@pytest.mark.usefixtures("sqlite_folder_of_commands")
def test_a_study_gives_its_size(topkapi: Command, sqlite_url: str) -> None:
    with transaction_on(sqlite_url) as session:
        make_study(session, slug="tulips", queries=4, documents=7, k=2)
        make_study(session, slug="single", documents=1)
    out = topkapi.done(*HEAP, "--study", "tulips")
    assert "4 queries of 7 documents, top 2, 4 lists, 1 person, 20 s per question" in out
    out = topkapi.done(*HEAP, "--study", "tulips", "--error", "0.05")
    assert "People err in 5 % of their answers (normal errors)." in out
    assert "With one document per query" in topkapi.refused("plan", "--study", "single")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--team", "3"], "--team: 3 people make a list together, of 1 in all."),
        (["--sorter", "bogo"], "--sorter: 'bogo' is not one of"),
        (["--votes", "v.tsv", "--prior", "0.5"], "--prior needs simulated people"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(
    topkapi: Command, arguments: list[str], problem: str
) -> None:
    assert problem in topkapi.refused("plan", *arguments)
