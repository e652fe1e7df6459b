"""The methods section of a paper: the sentences and tables that follow from a report."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from topkapi.analysis.aggregation import BRADLEY_TERRY, KEMENY
from topkapi.analysis.report.figures import Figure
from topkapi.analysis.report.methods_format import (
    Methods,
    MethodsTable,
    Row,
    as_latex,
    as_markdown,
)
from topkapi.analysis.report.record import Report, ToolReport
from topkapi.analysis.report.subjects.agreement import EXPLANATIONS, measure_rows
from topkapi.analysis.report.subjects.comparison import Comparison
from topkapi.analysis.report.subjects.effort import Effort
from topkapi.analysis.report.subjects.people import Person
from topkapi.analysis.resampling import LEAST_QUERIES, LEAST_RESAMPLED
from topkapi.extras import library_version

_MOST_PEOPLE = 100  # rows of a table of assessors
_NONE = "–"
CITATION = "The Topkapi maintainers, Topkapi: top-k preference labeling, 2026"
_METHODS: Mapping[str, str] = {
    BRADLEY_TERRY: "a Bradley-Terry model with ties and local Kemenization",
    KEMENY: "Supervised Kemeny aggregation",
}


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """How a study was run, beyond what its report holds; all of files is unknown.

    Void work counts as such only, and nothing counts without an answer in effect.

    Attributes
    ----------
    sorters
        Sorters of the sessions with pairs; empty if not known.
    ties
        Whether any of these sessions allowed ties.
    assessors, queries, sessions, finished, promised
        Size of the work with pairs and grades, its finished sessions, and how many there are to be.
    rounds
        Assessors who are to judge each query with each tool, by rotation; 0 if work was assigned
        by hand.
    guidelines, revisions
        Words of the guidelines, and how often they were changed.
    known, known_right
        Answers to pairs with a known answer, and the right ones.
    machines
        Name, sessions and answers of each machine that judged beside people.
    voided, voided_answers
        Sessions that were voided or withdrawn, and their answers.
    adjudications, adjudicated
        Sessions of adjudicators, and their answers.
    comparers, compared_queries, compared
        Assessors, queries and answers of the tool that compares two lists.
    pseudonyms
        Pseudonym of each name of the report; missing ones are numbered.
    """

    sorters: tuple[str, ...] = ()
    ties: bool = False
    assessors: int = 0
    queries: int = 0
    sessions: int = 0
    finished: int = 0
    promised: int = 0
    rounds: int | None = None
    guidelines: int = 0
    revisions: int = 0
    known: int = 0
    known_right: int = 0
    machines: tuple[tuple[str, int, int], ...] = ()
    voided: int = 0
    voided_answers: int = 0
    adjudications: int = 0
    adjudicated: int = 0
    comparers: int = 0
    compared_queries: int = 0
    compared: int = 0
    pseudonyms: Mapping[str, str] = field(default_factory=dict)


def methods_texts(report: Report, facts: StudyFacts | None = None) -> dict[str, str]:
    """Return ``methods.md`` and ``methods.tex`` of a report.

    Parameters
    ----------
    report
        Report of a study or of files.
    facts
        How the study was run.
    """
    found = methods_of(report, facts or StudyFacts())
    return {"methods.md": as_markdown(found), "methods.tex": as_latex(found)}


def methods_of(report: Report, facts: StudyFacts) -> Methods:
    """Return the sentences and tables, with every number taken from report and facts."""
    tables = (_agreement(report), _effort(report), *_people(report, facts.pseudonyms))
    paragraphs = (
        _study(report, facts),
        *(_about(tool, report.study.k, facts) for tool in report.tools if _at_work(tool)),
        _more(report, facts),
        _compared(report),
        _statistics(report, tables),
        _software(facts),
    )
    return Methods(tuple(filter(None, map(" ".join, paragraphs))), tables)


def _study(report: Report, facts: StudyFacts) -> Iterator[str]:
    """Yield the sentences about people, material and sessions."""
    study, done = report.study, facts.finished
    queries = _count(study.queries, "query", "queries")
    yield (
        f"The study {study.name} comprises {queries} with {study.documents} candidate documents "
        f"in total ({study.documents / max(study.queries, 1):.1f} per query on average)."
    )
    if facts.sessions:
        share = f"{done or 'none'} of {facts.promised} planned sessions"
        share = "all of them" if done == facts.promised == facts.sessions else share
        yield (
            f"In total, {_count(facts.assessors, 'assessor')} judged "
            f"{_count(facts.queries, 'query', 'queries')} in {_count(facts.sessions, 'session')}, "
            f"each the work of one assessor on one query with one tool; {share} "
            f"{'was' if done == 1 else 'were'} completed."
        )
        yield from _design(report, facts)
    elif not report.empty:
        yield f"The documents were judged by {_count(study.assessors, 'assessor')}."
    if facts.voided:
        were = "was discarded and is" if facts.voided == 1 else "were discarded and are"
        yield (
            f"In addition, {_count(facts.voided, 'session')} with "
            f"{_count(facts.voided_answers, 'answer')} {were} excluded from all figures."
        )


def _design(report: Report, facts: StudyFacts) -> Iterator[str]:
    """Yield the sentences about assignment, guidelines and known answers."""
    if facts.rounds:
        people = f"by {_count(facts.rounds, 'assessor')}"
        tools = ", and no one judged a query with two tools" if len(report.tools) > 1 else ""
        yield (
            "Queries were assigned to assessors in rotating folds (Niu et al., SIGIR 2012): each "
            f"query was to be judged {people} with each tool{tools}."
        )
    elif facts.rounds == 0:
        yield "Queries were assigned to assessors by hand."
    if facts.guidelines:
        revised = f", revised {_count(facts.revisions, 'time')}" if facts.revisions else ""
        yield f"All followed written guidelines ({_count(facts.guidelines, 'word')}{revised})."
    if facts.known:
        yield (
            f"Of {_count(facts.known, 'answer')} to pairs of which the better document was known, "
            f"{facts.known_right} ({100 * facts.known_right / facts.known:.1f}%) were right."
        )


def _about(tool: ToolReport, k: int | None, facts: StudyFacts) -> Iterator[str]:
    """Yield the sentences about one tool."""
    people = _count(len(_at_work(tool)), "assessor")
    if tool.tool == "grades":
        yield f"With grading ({tool.title}), {people} graded one document at a time."
    else:
        tie = " or declared a tie" if facts.ties else ""
        yield (
            f"With pairwise comparison ({tool.title}), {people} saw two documents of a query at a "
            f"time and chose the better one{tie}."
        )
        if facts.sorters:
            sorters = " or ".join(facts.sorters)
            yield (
                f"The sorting algorithm {sorters} chose the pairs so as to find the best {k} "
                "documents of the query in order."
            )
    if isinstance(effort := tool.effort, Effort):
        yield from _spent(effort)
    again, left = tool.answers.self_consistency, tool.answers.left
    if again.figure.value is not None:
        yield (
            f"Of {_count(again.asked, 'answer')} to pairs that were presented again to the same "
            f"assessor, {_share(again.figure)} agreed with the first answer."
        )
    if left.figure.value is not None and left.p_queries is not None and left.answers:
        yield (
            f"The document on the left was preferred in {_share(left.figure)} of the "
            f"{_count(left.answers, 'answer')} other than ties ({_p(left.p_queries)}; permutation "
            "test that exchanges the sides of whole queries)."
        )


def _at_work(tool: ToolReport) -> list[Person]:
    """Return the assessors who have answered; a report also lists those who have yet to begin."""
    if not isinstance(tool.effort, Effort):
        return list(tool.people)
    timed = {each.assessor for each in tool.effort.assessors}
    return [each for each in tool.people if each.assessor in timed]


def _spent(effort: Effort) -> Iterator[str]:
    """Yield the sentences about the effort of one tool."""
    seconds, done = effort.seconds_per_judgment, effort.sessions
    if done:
        yield (
            f"{'The one' if done == 1 else f'The {done}'} completed session"
            f"{' took' if done == 1 else 's took'} {_with(effort.judgments_per_query.mean, 1)} "
            f"judgments and {_with(effort.minutes_per_query.mean, 1)} minutes"
            f"{'' if done == 1 else ' on average'}."
        )
    yield (
        f"The median time per judgment was {_with(seconds.median, 1)} s, over "
        f"{_count(seconds.count, 'judgment')} of completed and unfinished sessions."
    )


def _more(report: Report, facts: StudyFacts) -> Iterator[str]:
    """Yield the sentences about comparisons of lists, adjudication and the consensus."""
    if facts.compared:
        yield (
            f"With comparison of rankings (T3 lists), {_count(facts.comparers, 'assessor')} gave "
            f"{_count(facts.compared, 'preference')} between two rankings of the same query on a "
            f"five-point scale, for {_count(facts.compared_queries, 'query', 'queries')}."
        )
    if facts.adjudications:
        yield (
            f"Pairs that one further vote could decide were adjudicated: "
            f"{_count(facts.adjudicated, 'answer')} in {_count(facts.adjudications, 'session')}. "
            "The answers of completed adjudications enter the consensus and no other figure."
        )
    for name, sessions, answers in facts.machines:
        yield (
            f"The machine {name} judged beside the assessors ({_count(sessions, 'session')}, "
            f"{_count(answers, 'answer')}); the figures here are those of people alone."
        )
    for tool in report.tools:
        lists = tool.consensus.queries if tool.tool == "pairs" else ()
        if lists:
            yield (
                f"The consensus {'list' if len(lists) == 1 else 'lists'} of "
                f"{_count(len(lists), 'query', 'queries')} with completed sessions "
                f"{'was' if len(lists) == 1 else 'were'} computed by {_METHODS[lists[0].method]}."
            )


def _compared(report: Report) -> Iterator[str]:
    """Yield the sentences about agreement and its difference between two tools."""
    if any(tool.agreement.votes for tool in report.tools):
        yield (
            "Agreement is over the unordered pairs of documents that two assessors judged with the "
            "same tool; equal grades, and two documents outside a list, are ties."
        )
    if not isinstance(found := report.comparison, Comparison):
        return
    first, second = (report.tool(name).title for name in found.tools)
    for words, test in (("", found.all_pairs), (" without ties", found.without_ties)):
        about = f"difference in agreement{words} between {first} and {second}"
        if test.difference.value is None:
            yield f"The {about} is not defined: {test.difference.reason}."
            continue
        p = test.p_queries.value
        verdict = "" if p is None else f"{'' if p < 0.05 else 'not '}significant, "
        yield (
            f"The {about} is {_with(test.difference, 1, scale=100)} percentage points ({verdict}"
            f"{_p(test.p_queries)}; permutation test that exchanges the tools of whole queries). A "
            f"chi-squared test, which treats all votes as independent, gives chi-squared({test.df})"
            f" = {_number(test.chi_square, 2)}, {_p(test.p)}."
        )


def _statistics(report: Report, tables: tuple[MethodsTable, ...]) -> Iterator[str]:
    """Yield what the intervals, coefficients and dashes of this report mean."""
    people = [each for tool in report.tools for each in tool.people]
    efforts = [tool.effort for tool in report.tools if isinstance(tool.effort, Effort)]
    kinds = []
    measures = measure_rows([tool.agreement for tool in report.tools])
    if any(each.interval for row in measures for each in row.figures) or (
        any(each.seconds_per_judgment.median.interval for each in efforts)
    ):
        kinds.append(
            "those of pooled figures are from a bootstrap over queries, stratified by the "
            "assessors who judged them"
        )
    if any(each.overall.interval for each in people):
        kinds.append("those of the agreement of single assessors are from a jackknife over queries")
    if any(each.error_rate.interval for each in people):
        kinds.append("those of error rates are credible intervals of a hierarchical model")
    if kinds:
        yield f"Ranges in parentheses are {100 * report.settings.level:.0f}% intervals: " + (
            "; ".join(kinds) + "."
        )
    yield (
        f"Pooled figures have no interval with fewer than {LEAST_RESAMPLED} queries, and those of "
        f"a single assessor none with fewer than {LEAST_QUERIES}."
    )
    yield (
        "Chance-corrected coefficients count votes in both orders of their documents, so that they "
        "do not depend on the order of a file."
    )
    if any(_NONE in row for table in tables for row in table.rows):
        yield "A dash marks a figure that these judgments do not define."


def _software(facts: StudyFacts) -> Iterator[str]:
    """Yield with what the study was run: name, version, citation."""
    done = "collected and analysed" if facts.sessions else "analysed"
    yield f"The judgments were {done} with Topkapi {library_version()} ({CITATION})."


def _agreement(report: Report) -> MethodsTable:
    rows = [("", *(tool.title for tool in report.tools))]
    rows.append(("Shared votes", *(str(tool.agreement.votes) for tool in report.tools)))
    for row in measure_rows([tool.agreement for tool in report.tools]):
        rows.append((EXPLANATIONS[row.key].title, *map(_cell, row.figures)))
    return MethodsTable("Agreement between assessors", tuple(rows))


def _effort(report: Report) -> MethodsTable:
    head = ("Completed sessions", "Judgments per session", "Minutes per session")
    rows: list[Row] = [("", *head, "Seconds per judgment")]
    for tool in report.tools:
        if isinstance(effort := tool.effort, Effort):
            spent = (effort.judgments_per_query, effort.minutes_per_query)
            means = (_cell(each.mean, 1) for each in spent)
            median = _cell(effort.seconds_per_judgment.median, 1)
            rows.append((tool.title, str(effort.sessions), *means, median))
    return MethodsTable(
        "Effort: means per completed session, and the median time per judgment", tuple(rows)
    )


def _people(report: Report, pseudonyms: Mapping[str, str]) -> Iterator[MethodsTable]:
    everyone = dict.fromkeys(each.assessor for tool in report.tools for each in tool.people)
    numbered = {name: f"assessor {number}" for number, name in enumerate(everyone, start=1)}
    shown = {**numbered, **pseudonyms}
    for tool in report.tools:
        people = _at_work(tool)
        if 0 < len(people) <= _MOST_PEOPLE:
            rows: list[Row] = [("Assessor", "Shared queries", "Agreement", "Error rate")]
            for each in people:
                figures = (_cell(each.overall), _cell(each.error_rate))
                rows.append((shown[each.assessor], str(each.shared_queries), *figures))
            yield MethodsTable(f"Assessors, {tool.title}", tuple(rows))


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _number(figure: Figure, digits: int) -> str:
    return "undefined" if figure.value is None else f"{figure.value:.{digits}f}"


def _p(figure: Figure) -> str:
    if figure.value is None:
        return "p undefined"
    return "p < 0.0001" if figure.value < 0.0001 else f"p = {figure.value:.4f}"


def _cell(figure: Figure, digits: int = 3) -> str:
    return _NONE if figure.value is None else _with(figure, digits)


def _share(figure: Figure) -> str:
    return _with(figure, 1, scale=100, unit="%")


def _with(figure: Figure, digits: int = 3, *, scale: float = 1, unit: str = "") -> str:
    """Format a figure with its interval, or the reason why it is undefined."""
    if figure.value is None:
        return f"undefined ({figure.reason})"
    value = f"{scale * figure.value:.{digits}f}{unit}"
    if figure.interval is None:
        return value
    low, high = (f"{scale * end:.{digits}f}" for end in figure.interval)
    return f"{value} ({low} to {high})"
