"""The methods section: every number in it is recomputed from the exported files."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

import pytest
from scipy import stats
from sqlalchemy.orm import Session

import topkapi
from tests.exporting import START, Person, by_worth, judge, make_grades
from tests.factories import make_assignment, make_study, make_user, queries_of
from tests.ranked import compare_lists
from topkapi.analysis.report import Options, Report, build_report
from topkapi.analysis.report.methods import CITATION, methods_of
from topkapi.analysis.report.methods_format import as_latex, as_markdown
from topkapi.analysis.report.sources import read_preferences
from topkapi.app.db.queries.results.exports import document_names
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.answers import Answer, Question
from topkapi.app.services.assignments import bulk
from topkapi.app.services.assignments.adjudication import assign_adjudication, disagreements
from topkapi.app.services.demo import load_demo
from topkapi.app.services.results.exports import ExportOptions, StudySource, open_export
from topkapi.app.services.results.reports.service import facts_of, make_report

Record = dict[str, Any]
OPTIONS = Options(draws=200)


def with_errors(seed: int) -> Person:
    """Answer by worth with some ties and errors that depend on the pair and on ``seed``."""

    def person(question: Question) -> Answer:
        low, high = sorted((question.left, question.right))
        chance = Random(f"{seed}-{low}-{high}").random()
        right = by_worth(question)
        wrong = Answer.LEFT if right is Answer.RIGHT else Answer.RIGHT
        return Answer.TIE if chance < 0.15 else wrong if chance < 0.4 else right

    return person


def busy_study(session: Session) -> str:
    """Make a study with unfinished, void and withdrawn work, an adjudication, grades and lists."""
    study = make_study(session, slug="tulips", queries=7, documents=8, k=3)
    queries = queries_of(session, study)
    names = ("Ansa Lehto", "Bao Tran", "Chidi Obi", "Dee Roy", "Eve Hall", "Fay Wong", "Gus Berg")
    people = [make_user(session, name=n, email=f"{n[:3].lower()}@lab.example") for n in names]
    for number, query in enumerate(queries[:6]):
        for at, user in enumerate(people[:3]):
            row = make_assignment(
                session, user=user, query=query, seed=f"{at}", round=at, check_share=0.5
            )
            undo_at = 4 if at == 1 else None
            stop = 3 if (number, at) == (5, 2) else None
            judge(session, row, person=with_errors(at), undo_at=undo_at, most=stop)
        for user in people[3:5]:
            judge(session, make_grades(session, user, query, user.name[:1] * (number + user.id)))
    void = make_assignment(session, user=people[5], query=queries[0], seed="f", round=4)
    judge(session, void)
    bulk.void(session, study, [void.id], reason="clicked left throughout")
    taken = make_assignment(session, user=people[5], query=queries[1], seed="f", round=4)
    judge(session, taken, most=4)
    taken.withdrawn_at = START + timedelta(days=2)
    make_assignment(session, user=people[6], query=queries[6], seed="n")  # never begun
    open_query = disagreements(session, study).queries[0].query
    judge(
        session,
        assign_adjudication(session, study, query=open_query, email=people[6].email),
        person=by_worth,
    )
    compare_lists(session, "tulips", people[6].email)
    return "tulips"


def demo_study(session: Session) -> str:
    return load_demo(session, at=START).slug


class Exports:
    """The exported files of a study, and what is counted from them without Topkapi's code."""

    def __init__(self, session: Session, slug: str, folder: Path) -> None:
        def lines(name: str) -> list[Record]:
            raw = b"".join(open_export(session, slug, name).chunks).decode()
            (folder / name).write_text(raw)
            return [json.loads(line) for line in raw.splitlines()]

        self.topk = [each for each in lines("topk.jsonl") if each["complete"]]
        self.lists, self.consensus = lines("lists.jsonl"), lines("consensus.jsonl")
        self.entries = lines("judgments.jsonl")
        self.files = [folder / "judgments.jsonl", folder / "topk.jsonl"]
        self.answers = [e for e in self.entries if e["entry"] == "answer" and e["effective"]]
        self.kept = [each for each in self.answers if not each["withdrawn"]]
        self.judged = [e for e in self.kept if e["round"] >= 0 and e["tool"] != "lists"]
        for person in sorted({e["assessor"] for e in self.judged if e["tool"] == "grades"}):
            options = ExportOptions(assessor=person)
            raw = b"".join(open_export(session, slug, "grades.qrels", options).chunks).decode()
            if raw:
                self.files.append(folder / f"{person}.qrels")
                self.files[-1].write_text(raw)

    def of(self, tool: str) -> list[Record]:
        return [each for each in self.judged if each["tool"] == tool]

    def sessions(self, entries: Iterable[Record]) -> set[tuple[Any, ...]]:
        return {(e["tool"], e["query"], e["assessor"], e["round"]) for e in entries}

    def candidates(self) -> dict[str, set[str]]:
        """Return the documents of each query with a finished session."""
        found: dict[str, set[str]] = {}
        for one in self.topk:
            parts = (one["ranking"], one["rest"], one["bad"], one["unjudgeable"])
            found.setdefault(one["query"], set()).update(*parts)
        for entry in self.of("grades"):
            found.setdefault(entry["query"], set()).add(entry["document"])
        return found

    def finished(self, tool: str) -> set[tuple[Any, ...]]:
        if tool == "pairs":
            return {("pairs", e["query"], e["assessor"], e["round"]) for e in self.topk}
        graded: dict[tuple[Any, ...], set[str]] = {}
        for entry in self.of("grades"):
            (key,) = self.sessions([entry])
            graded.setdefault(key, set()).add(entry["document"])
        return {key for key, pages in graded.items() if pages == self.candidates()[key[1]]}

    def minutes(self, tool: str) -> float:
        """Return the mean time of finished sessions, undo and redo included."""
        times = dict.fromkeys(self.finished(tool), 0)
        for entry in self.entries:
            (key,) = self.sessions([entry])
            if key in times and not entry["withdrawn"]:
                times[key] += entry["active_ms"]
        return fmean(times.values()) / 60_000

    def labels(self, tool: str) -> dict[tuple[str, str], dict[str, float]]:
        """Return the rank or grade of each document by query and assessor, more is better."""
        found: dict[tuple[str, str], dict[str, float]] = {}
        if tool == "grades":
            for path in (each for each in self.files if each.suffix == ".qrels"):
                for line in path.read_text().splitlines():
                    query, _, document, grade = line.split()
                    found.setdefault((query, path.stem), {})[document] = int(grade)
            return found
        for one in self.topk:
            level: dict[str, float] = dict.fromkeys(one["ranking"] + one["rest"] + one["bad"], 0)
            for rank, group in enumerate(one["groups"]):
                level |= {page: len(one["groups"]) - rank for page in group}
            found[one["query"], one["assessor"]] = level
        return found

    def votes(self, tool: str) -> Iterator[tuple[int, int]]:
        """Yield what two assessors say about each pair of documents of a query: 1, 0 or -1."""
        labels = self.labels(tool)
        for (query, one), (other_query, other) in combinations(sorted(labels), 2):
            if query == other_query:
                a, b = labels[query, one], labels[query, other]
                for x, y in combinations(sorted(a.keys() & b.keys()), 2):
                    yield _sign(a[x] - a[y]), _sign(b[x] - b[y])


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


NUMBER = r"-?\d+(?:\.\d+)?"
FIGURE = rf"{NUMBER}%?(?: \({NUMBER} to {NUMBER}\))?"


class Claims:
    """The sentences of a methods section; each is found by its words, and taken out."""

    def __init__(self, text: str) -> None:
        self.rest = text

    def take(self, words: str) -> re.Match[str]:
        """Take the sentence out; ``#`` stands for a number, ``@`` for a figure with interval."""
        pattern = words.replace("#", f"({NUMBER})").replace("@", f"({FIGURE})")
        found = re.search(pattern, self.rest)
        assert found is not None, (words, self.rest)
        self.rest = self.rest[: found.start()] + self.rest[found.end() :]
        return found

    def counts(self, words: str) -> list[float]:
        return [float(each) for each in self.take(words).groups()]


@pytest.mark.thorough
@pytest.mark.parametrize("make", [busy_study, demo_study])
def test_every_number_is_that_of_the_exports(
    session: Session, make: Callable[[Session], str], tmp_path: Path
) -> None:
    slug = make(session)
    source, files = StudySource(session, slug), Exports(session, slug, tmp_path)
    report, facts = make_report(source, options=OPTIONS), facts_of(source)
    found = methods_of(report, facts)
    again = build_report(read_preferences(files.files), OPTIONS)
    claims = Claims(" ".join(found.paragraphs))
    check_material(claims, files, source)
    check_sessions(claims, files, source)
    for tool, title in (("pairs", "T1 pairs"), ("grades", "T2 grades")):
        check_tool(claims, files, tool, title)
    check_answers(claims, files, again)
    check_more(claims, files)
    check_comparison(claims, files, again)
    claims.take(re.escape(f"with Topkapi {topkapi.__version__} ({CITATION})"))
    for constant in ("95% intervals", "fewer than 4 queries", "none with fewer than 5", "T1", "T2"):
        claims.rest = claims.rest.replace(constant, "")
    assert not re.search(r"\d", claims.rest), claims.rest
    names = {each.email: each.pseudonym for each in source.assessors.people}
    titles = {"Pairs": "T1 pairs", "Grades": "T2 grades"}
    recomputed = methods_of(again, replace(facts, pseudonyms=names)).tables
    for table, other in zip(found.tables, recomputed, strict=True):
        expected = (tuple(titles.get(cell, cell) for cell in row) for row in other.rows)
        assert table.rows == tuple(expected), table.title
    for shown in (as_markdown(found), as_latex(found)):
        assert not [p for p in source.assessors.people if p.name in shown or p.email in shown]


def check_material(claims: Claims, files: Exports, source: StudySource) -> None:
    claims.take(re.escape(f"The study {source.study.name} comprises"))
    queries, documents, mean = claims.counts(
        r"# queries with # candidate documents in total \(# per query on average\)"
    )
    judged = files.candidates()
    unjudged = [
        document_names(source.session, head.number)
        for head in source.queries()
        if head.name not in judged
    ]
    assert queries == len(judged) + len(unjudged)
    assert documents == sum(map(len, [*judged.values(), *unjudged]))
    assert mean == pytest.approx(documents / queries, abs=0.051)


def check_sessions(claims: Claims, files: Exports, source: StudySource) -> None:
    done = files.finished("pairs") | files.finished("grades")
    begun = files.sessions(files.judged)
    people, queries, sessions = claims.counts(r"In total, # assessors judged # queries in # sess")
    assert (people, sessions) == (len({e["assessor"] for e in files.judged}), len(begun))
    assert queries == len({e["query"] for e in files.judged})
    share = claims.take(r"(all|none|\d+) of (them|\d+ planned sessions) were completed")
    void = [each for each in files.answers if each["withdrawn"]]
    planned = [
        row
        for query in source.queries()
        for row in source.works(query, withdrawn=False, tool=None)
        if row.assignment.tool in (Tool.PAIRS, Tool.GRADES) and not row.adjudicates
    ]
    if source.study.slug == "tulips":  # one was voided, one withdrawn, and nobody took them over
        assert share[0] == f"{len(done)} of {len(planned) + 2} planned sessions were completed"
        assert len(done) < len(begun) < len(planned)
        claims.take("Queries were assigned to assessors by hand")
    else:
        assert share[0] == f"{len(done)} of {len(planned)} planned sessions were completed"
        claims.take(r"in rotating folds \(Niu et al., SIGIR 2012\).* judged by 2 assessors")
        known, right, part = claims.counts(r"Of # answers .*? was known, # \(#%\) were right")
        assert 0 < right <= known == sum(row.assignment.known_answers for row in planned)
        assert right == sum(row.assignment.known_right for row in planned)
        assert part == pytest.approx(100 * right / known, abs=0.051)
    (words,) = claims.counts(r"written guidelines \(# words")
    assert words == len(source.study.guidelines.split())
    void = [each for each in files.answers if each["withdrawn"]]
    if void:
        assert claims.counts(r"In addition, # sessions? with # answers?") == [
            len(files.sessions(void)),
            len(void),
        ]
    else:
        assert "discarded" not in claims.rest


def check_tool(claims: Claims, files: Exports, tool: str, title: str) -> None:
    entries, done = files.of(tool), files.finished(tool)
    (people,) = claims.counts(rf"\({title}\), # assessors")
    assert people == len({each["assessor"] for each in entries})
    if tool == "pairs":
        sorter, k = claims.take(r"algorithm (\S+) chose .*? the best (\d+) documents").groups()
        assert {(each["sorter"], str(each["k"])) for each in files.topk} == {(sorter, k)}
    sessions, judgments, minutes = claims.take(
        "The # completed sessions took @ judgments and @ minutes on average"
    ).groups()
    in_done = [each for each in entries if files.sessions([each]) <= done]
    assert int(sessions) == len(done)
    assert value(judgments) == pytest.approx(len(in_done) / len(done), abs=0.051)
    assert value(minutes) == pytest.approx(files.minutes(tool), abs=0.051)
    seconds, count = claims.take(
        "median time per judgment was @ s, over # judgments of completed and unfinished"
    ).groups()
    assert int(count) == len(entries)
    assert value(seconds) == pytest.approx(
        median(each["active_ms"] / 1000 for each in entries), abs=0.06
    )


def value(text: str) -> float:
    """Return the number before the interval."""
    return float(re.sub(r"%? .*|%", "", text))


def check_answers(claims: Claims, files: Exports, again: Report) -> None:
    firsts: dict[tuple[Any, ...], int] = {}
    repeats, left, decided = [], 0, 0
    for each in files.of("pairs"):
        if each["answer"] not in ("left", "right", "tie") or each["kind"] == "attention":
            continue
        said = {"left": 1, "tie": 0, "right": -1}[each["answer"]]
        left, decided = left + (said > 0), decided + (said != 0)
        pages = sorted((each["left"], each["right"]))
        said = said if pages[0] == each["left"] else -said
        key = (each["query"], each["assessor"], *pages)
        if key in firsts:
            repeats.append(firsts[key] == said)
        firsts.setdefault(key, said)
    asked, share = claims.take("Of # answers? to pairs that were presented again .*?, @").groups()
    assert int(asked) == len(repeats)
    assert value(share) == pytest.approx(100 * fmean(repeats), abs=0.1)
    share, count, p = claims.take(
        r"preferred in @ of the # answers other than ties \(p = #;"
    ).groups()
    assert value(share) == pytest.approx(100 * left / decided, abs=0.06)
    assert int(count) == decided
    redone = again.tool("pairs").answers.left.p_queries
    assert redone is not None
    assert float(p) == pytest.approx(redone.value, abs=1e-4)


def check_more(claims: Claims, files: Exports) -> None:
    adjudicated = [each for each in files.kept if each["round"] == -1]
    if adjudicated:
        assert claims.counts(r"adjudicated: # answers? in # sessions?") == [
            len(adjudicated),
            len(files.sessions(adjudicated)),
        ]
    else:
        assert "djudicat" not in claims.rest
    if files.lists:
        claims.take(r"\(T3 lists\)")
        people, preferences, queries = claims.counts(
            r"# assessors? gave # preferences? between .*? for # quer"
        )
        assert people == len({each["assessor"] for each in files.lists})
        assert preferences == len(files.lists)
        assert queries == len({each["query"] for each in files.lists})
    else:
        assert "T3" not in claims.rest
    assert claims.counts("consensus lists of # queries") == [len(files.consensus)]


def check_comparison(claims: Claims, files: Exports, again: Report) -> None:
    for words, ties in (("agreement", True), ("agreement without ties", False)):
        tables = []
        for tool in ("pairs", "grades"):
            votes = [pair for pair in files.votes(tool) if ties or 0 not in pair]
            same = sum(a == b for a, b in votes)
            tables.append((same, len(votes) - same))
        shares = [same / (same + not_same) for same, not_same in tables]
        difference, verdict, p = claims.take(
            rf"difference in {words} between T1 pairs and T2 grades is @ percentage points "
            r"\((not significant|significant), p = (\d\.\d+);"
        ).groups()
        assert value(difference) == pytest.approx(100 * (shares[0] - shares[1]), abs=0.051)
        assert (float(p) < 0.05) == (verdict == "significant")
        chi, plain = claims.take(r"chi-squared\(1\) = #, p (= \d\.\d+|< 0\.0001)").groups()
        expected = stats.chi2_contingency(tables, correction=False)
        assert float(chi) == pytest.approx(expected.statistic, abs=0.0051)
        assert float(plain[2:]) == pytest.approx(max(expected.pvalue, 1e-4), abs=1e-4)
        redone = getattr(again.comparison, "all_pairs" if ties else "without_ties").p_queries
        assert float(p) == pytest.approx(redone.value, abs=1e-4)
