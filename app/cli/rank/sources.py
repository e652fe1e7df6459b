"""Data sources of `topkapi rank`: a file, or a study of the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import late_bar, open_sessions
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.analysis.data import RankingData
    from topkapi.analysis.data.folds import FoldSet, Truth, load_fold_set
    from topkapi.analysis.data.letor import Null
    from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
    from topkapi.app.services.results.ranking import TOOLS, StudyRanking, ranking_of

Study = Annotated[str | None, typer.Option(help="Slug of a study to use instead of a file.")]
Assessor = Annotated[
    str | None,
    typer.Option(help="E-mail of the assessor whose labels to use instead of the consensus."),
]
StudyLabels = Annotated[
    str | None,
    typer.Option("--truth", help="Labels of the study: topk (pairs; the default) or graded."),
]
ConsensusMethod = Annotated[
    str | None,
    typer.Option(
        "--consensus",
        help="How to combine a study's assessors: bradley-terry over their answers (the "
        "default), or supervised-kemeny over their lists.",
    ),
]
NullFeatures = Annotated[
    str | None,
    typer.Option(
        "--null",
        help="Value for NULL features of a file: zero, or minimum (of the feature in the query). "
        "Refused if omitted.",
    ),
]
FOLDS = 5
_NAMED = 10  # most queries without labels to name


def fold_sets_by_truth(
    data: str | None,
    study: str | None,
    assessor: str | None,
    truth: str | None,
    *,
    folds: int | None,
    seed: int,
    k: int | None = None,
    consensus: str | None = None,
    null: str | None = None,
) -> Mapping[Truth, FoldSet]:
    """Return the folds of each requested ground truth, or of all available ones."""
    one_source(data, study, assessor, consensus)
    if study is None:
        assert data is not None
        fold_set = load_fold_set(data, seed=seed, null=null_of(null), first=folds)
        return dict.fromkeys(truths_of(truth or "graded,topk"), fold_set)
    ranking = read_study(study, assessor, consensus)
    truths: list[Truth] = list(ranking.data) if truth is None else truths_of(truth)
    for each in truths:
        ranking.under(each, k)  # raises if k is larger than the lists are long
    found = {each: ranking.fold_set(each, folds=folds or FOLDS, seed=seed) for each in truths}
    print_coverage(ranking, truths)
    return found


def study_data(
    study: str,
    assessor: str | None,
    truth: str | None,
    topk: int | None,
    consensus: str | None = None,
) -> RankingData:
    """Return all labelled queries of a study under one ground truth."""
    truths = truths_of(truth or "topk")
    if len(truths) != 1:
        raise Refused("--truth: give either graded or topk")
    ranking = read_study(study, assessor, consensus)
    data = ranking.under(truths[0], topk)
    print_coverage(ranking, truths)
    return data


def read_study(study: str, assessor: str | None, consensus: str | None = None) -> StudyRanking:
    """Read a study of the database; raise while nothing of it is finished."""
    with open_sessions() as sessions, export_session(sessions) as session, late_bar() as bar:
        source = StudySource(
            session,
            study,
            ExportOptions(assessor=assessor, consensus=consensus),
            lambda _doing, done, total: bar("reading", done, total),
        )
        ranking = ranking_of(source)
    if not ranking.data:
        whose = f" by {assessor}" if assessor else ""
        raise Refused(f"{study}: no query is finished{whose}, so there is nothing to learn from")
    return ranking


def print_coverage(ranking: StudyRanking, truths: list[Truth]) -> None:
    """Print on standard error what the features are, and which queries are left out."""
    number = len(ranking.features)
    what = (
        f"no features in the study; {number} computed from the text of query and page"
        if ranking.from_text
        else f"{number} features"
    )
    typer.echo(f"{ranking.slug}: {what}", err=True)
    for truth in truths:
        used, left = ranking.data[truth].n_queries, ranking.unlabelled[truth]
        rest = f"; skipped, without labels: {_some(left)}" if left else ""
        typer.echo(f"{truth} (from {TOOLS[truth]}): {used} queries{rest}", err=True)
    for truth in [each for each in TOOLS if each not in ranking.data]:
        typer.echo(f"{truth}: no query is finished with {TOOLS[truth]}", err=True)


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def one_source(
    data: object, study: str | None, assessor: str | None, consensus: str | None = None
) -> None:
    """Require exactly one of ``study`` and ``data``; the other options need ``study``."""
    if (data is None) == (study is None):
        raise Refused("give either a file or folder of data, or a study with --study")
    if study is None and assessor is not None:
        raise Refused("--assessor needs --study")
    if consensus is not None and (study is None or assessor is not None):
        raise Refused("--consensus needs --study, without --assessor")


def null_of(name: str | None) -> Null | None:
    """Parse the option ``--null``."""
    match name:
        case None | "zero" | "minimum":
            return name
    raise Refused(f"--null: {name!r} is neither zero nor minimum")


def truths_of(text: str) -> list[Truth]:
    """Parse comma-separated ground truths."""
    truths: list[Truth] = []
    for word in text.split(","):
        if word.strip() == "graded":
            truths.append("graded")
        elif word.strip() == "topk":
            truths.append("topk")
        else:
            raise Refused(f"--truth: {word!r} is neither graded nor topk")
    return truths
