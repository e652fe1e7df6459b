"""`topkapi dcg`: gains and discounts learned from preferences between rankings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from topkapi.app.cli import choices
from topkapi.app.cli.common import AsJson, say
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    import numpy as np

    from topkapi.analysis.data import read_letor
    from topkapi.analysis.dcglearn import (
        Gains,
        Learned,
        ListPreferences,
        learn_gains,
        load_gains,
        usual_gains,
    )
    from topkapi.analysis.dcglearn.files import (
        cut_scores,
        even_cuts,
        graded_preferences,
        read_list_preferences,
        read_scores,
    )
    from topkapi.analysis.dcglearn.intervals import shares_of_best
    from topkapi.analysis.dcglearn.replication.coherence import coherence as measure_coherence
    from topkapi.analysis.dcglearn.replication.curves import Curves
    from topkapi.analysis.dcglearn.replication.figures import FIGURES
    from topkapi.analysis.dcglearn.replication.letor_figures import LETOR_FIGURES, QueryPool
    from topkapi.analysis.typing import FloatArray, IntArray

commands = typer.Typer()

_FOLDS = 5
_DEPTH = 10  # positions of files that count by default
Seed = Annotated[int, typer.Option(help="Random seed.")]


@commands.command(
    epilog="Examples: topkapi dcg learn lists.jsonl --grades grades.qrels --out learned.json; "
    "topkapi dcg learn --study everyday-questions"
)
def learn(
    lists: Annotated[
        Path | None,
        typer.Argument(
            help="JSON Lines {query, left: [documents], right: [documents], answer}; the answer is "
            "left_much, left, same, right or right_much."
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(help="Slug of a study whose lists and grades to use, instead of files."),
    ] = None,
    grades: Annotated[
        Path | None,
        typer.Option(
            help="Grades of documents: qrels, or tab-separated query, document and score. Without "
            "it, left and right must contain grades."
        ),
    ] = None,
    cuts: Annotated[
        str | None, typer.Option(help="Scores at which grades 1, 2, ... begin, comma-separated.")
    ] = None,
    levels: Annotated[
        int | None, typer.Option(min=2, help="Number of equally large grades to cut scores into.")
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of positions that count.",
            show_default="10, or as many as the study showed",
        ),
    ] = None,
    c: Annotated[
        float | None, typer.Option(help="Weight of a preference; cross-validated if omitted.")
    ] = None,
    ties: Annotated[float, typer.Option(min=0, help="Weight of a tie, relative to --c.")] = 1.0,
    penalty: Annotated[
        Literal["steps", "weights"],
        typer.Option(help="What to penalize: steps between grades, or weights."),
    ] = "steps",
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Folds of the cross-validation.",
            show_default="5, or as many as there are queries",
        ),
    ] = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for intervals.")] = 200,
    out: Annotated[Path | None, typer.Option(help="File to write gains and discounts to.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn gains and discounts from preferences between lists, and cross-validate them."""
    if (lists is None) == (study is None):
        raise Refused("give either a file of preferences or a study with --study")
    if lists is None:
        preferences, queries = _of_study(str(study), k, grades or cuts or levels)
    else:
        preferences, queries = _preferences(lists, grades, cuts, levels, k or _DEPTH)
    learned = learn_gains(
        preferences,
        groups=queries,
        c=c,
        c_ties_share=ties,
        penalty=penalty,
        n_folds=folds or max(2, min(_FOLDS, np.unique(queries).size)),
        bootstrap=bootstrap,
        seed=seed,
    )
    if out is not None:
        learned.model.save(out)
    say(as_json, learned.as_json(), _learned_text(learned, out))


@commands.command(epilog="Example: topkapi dcg coherence --first exponential --second linear")
def coherence(
    first: Annotated[
        str, typer.Option(help="exponential (2^l - 1), linear (l), or a file of learned gains.")
    ] = "exponential",
    second: Annotated[str, typer.Option(help="The same choices.")] = "linear",
    grades: Annotated[
        str, typer.Option(help="Grades of the ranked documents, from 0, comma-separated.")
    ] = "4,4,3,3,2,2,1,1,0,0",
    pairs: Annotated[int, typer.Option(min=1, help="Random pairs of rankings.")] = 100_000,
    out: Annotated[
        Path | None, typer.Option(help="File to draw the figure to (.png, .svg, .pdf).")
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Measure how often two settings of gains agree on rankings (Zhou et al. 2013, Figure 1)."""
    documents = _whole_numbers("--grades", grades)
    settings = [_gains(name, documents) for name in (first, second)]
    measured = measure_coherence(*settings, n_pairs=pairs, seed=seed, grades=documents)
    if out is not None:
        measured.curve.draw(out)
    facts = {"agree": measured.agree, "pairs": measured.pairs, **measured.curve.as_json()}
    text = f"The settings agree on {measured.agree:.1%} of {measured.pairs} pairs of rankings."
    say(as_json, facts, f"{text}\n\n{measured.curve.as_text()}")


@commands.command(epilog="Example: topkapi dcg simulate --figure 2 --figure 21 --runs 10")
def simulate(
    figure: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(choices.FIGURES)}; with --data "
            f"{', '.join(choices.LETOR_FIGURES)}. All if omitted."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="LETOR file of graded documents, to rank real queries.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Number of simulations to average.")] = 5,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a .csv and .png file per figure.")
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Reproduce the simulations of Zhou et al. (2013), where the true gains are known."""
    studies = _studies(data)
    wanted = list(studies) if not figure else [_figure(name, studies) for name in figure]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    curves = []
    bar = typer.progressbar(
        wanted, label="Simulating", file=sys.stderr, hidden=not sys.stderr.isatty()
    )
    with bar as names:
        for name in names:
            curves.append(studies[name](runs, seed))
            if out is not None:
                (out / f"figure-{name}.csv").write_text(curves[-1].as_csv(), encoding="utf-8")
                curves[-1].draw(out / f"figure-{name}.png")
    plain = [curve.as_json() for curve in curves]
    say(as_json, plain, "\n\n".join(curve.as_text() for curve in curves))


def _of_study(slug: str, k: int | None, of_files: object) -> tuple[ListPreferences, IntArray]:
    """Return the preferences of a study, and a query number for each."""
    from topkapi.app.cli.common import open_sessions
    from topkapi.app.services.results.exports import lists

    if of_files:
        raise Refused("--grades, --cuts and --levels are for files; a study has its own grades")
    with open_sessions() as sessions, sessions.read() as session:
        found = lists.preferences_of(session, slug, k)
    return found.preferences, found.queries


def _preferences(
    lists: Path, grades: Path | None, cuts: str | None, levels: int | None, k: int
) -> tuple[ListPreferences, IntArray]:
    """Return the preferences of the files, and a query number for each."""
    pairs = read_list_preferences(lists)
    scores = None if grades is None else read_scores(grades)
    if cuts is not None or levels is not None:
        if scores is None:
            raise Refused("--cuts and --levels cut the scores of --grades, which is missing")
        if cuts is not None and levels is not None:
            raise Refused("give either --cuts or --levels")
        values = np.array(list(scores.values()))
        bounds = even_cuts(values, levels) if levels else _numbers("--cuts", str(cuts))
        scores = cut_scores(scores, bounds)
        levels = len(bounds) + 1
    names = [pair.query for pair in pairs]
    queries: IntArray = np.unique(names, return_inverse=True)[1]
    return graded_preferences(pairs, scores, k=k, n_grades=levels), queries


def _gains(name: str, documents: IntArray) -> Gains:
    if name in ("exponential", "linear"):
        n_grades = int(documents.max(initial=1)) + 1
        return usual_gains(n_grades, documents.size, linear=name == "linear")
    if not Path(name).exists():
        raise Refused(f"{name} is neither exponential nor linear nor a file")
    return load_gains(name)


def _studies(data: Path | None) -> dict[str, Callable[[int, int], Curves]]:
    if data is None:
        return FIGURES
    pool = QueryPool(read_letor(data))
    return {name: partial(study, pool) for name, study in LETOR_FIGURES.items()}


def _figure(name: str, studies: dict[str, Callable[[int, int], Curves]]) -> str:
    for known in studies:
        if name == known or name in known.split("-"):
            return known
    hint = "; others need --data" if studies is FIGURES else "; omit --data for others"
    raise Refused(f"--figure: {name} is not one of {', '.join(studies)}{hint}")


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise Refused(f"{option}: {text!r} is not a comma-separated list of numbers") from None


def _whole_numbers(option: str, text: str) -> IntArray:
    numbers = _numbers(option, text)
    if not all(number == int(number) and number >= 0 for number in numbers):
        raise Refused(f"{option}: {text!r} is not a comma-separated list of whole numbers from 0")
    return np.array(numbers, dtype=np.int64)


def _learned_text(learned: Learned, out: Path | None) -> str:
    gains, report = learned.model.gains_, learned.validation
    lines = [
        f"{report.pairs} preferences between lists, {report.ties} of them ties; C = {report.c:g}",
        f"{learned.ungraded} documents without a grade and {learned.padded} missing positions "
        "count as the worst grade",
        "",
        f"{'grade':<10}{'gain':>10}{'90 % interval':>20}",
    ]
    shares = shares_of_best(gains)
    bounds = learned.intervals
    for grade, share in enumerate(shares):
        low_high = "" if bounds is None else _range(bounds.gains[:, grade])
        lines.append(f"{grade:<10}{share:>10.3f}{low_high:>20}")
    lines += ["", f"{'position':<10}{'discount':>10}{'90 % interval':>20}"]
    for index, discount in enumerate(gains.discounts):
        low_high = "" if bounds is None else _range(bounds.discounts[:, index])
        lines.append(f"{index + 1:<10}{discount:>10.3f}{low_high:>20}")
    lines += ["", f"{'accuracy':<14}{'all':>8}{'strong':>8}{'weak':>8}"]
    for name in ("learned", "exponential", "linear"):
        each = getattr(report, name)
        lines.append(f"{name:<14}{_share(each.all)}{_share(each.strong)}{_share(each.weak)}")
    lines.append(f"{'chance':<14}{_share(report.chance)}")
    lines += ["", *(f"mean difference, {n}: {v:.3f}" for n, v in report.differences.items())]
    for row in learned.ties:
        lines.append(
            f"C of ties {row.c_ties:g}: accuracy {row.accuracy:.3f}, "
            f"tie difference {row.tie_difference:.3f}"
        )
    return "\n".join(lines + ([f"\nwritten to {out}"] if out else []))


def _range(ends: FloatArray) -> str:
    return f"{ends[0]:.3f} to {ends[1]:.3f}"


def _share(value: float) -> str:
    return f"{'-':>8}" if np.isnan(value) else f"{value:>8.3f}"
