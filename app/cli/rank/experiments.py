"""`topkapi rank compare`, `sweep-beta` and `sweep-k`: the papers' experiments, resumable."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkapi.app.cli import choices
from topkapi.app.cli.common import AsJson, say, with_options
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.rank.sources import (
    Assessor,
    ConsensusMethod,
    NullFeatures,
    Study,
    fold_sets_by_truth,
    truths_of,
)
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.analysis.data.folds import (
        FoldSet,
        Truth,
        load_fold_set,
        needs_scaling,
        normalised,
    )
    from topkapi.analysis.experiments.compare import ModelEntry, compare_tasks
    from topkapi.analysis.experiments.grids import TABLE_ORDER, title
    from topkapi.analysis.experiments.tables import FORMATS, Table, as_text
    from topkapi.analysis.metrics import load_gains
    from topkapi.analysis.models import model_class
    from topkapi.analysis.papers.comparison import (
        comparison_table,
        niu_columns,
        parents_table,
        reach_note,
        seconds_table,
        xia_columns,
    )
    from topkapi.analysis.papers.sweep_plots import beta_figure, k_figure, save
    from topkapi.analysis.papers.sweep_tables import beta_table, k_table
    from topkapi.analysis.papers.sweeps import beta_tasks, k_tasks, synthetic_fold_set
    from topkapi.analysis.papers.toprank import toprank_tables, toprank_tasks
    from topkapi.analysis.tasks import Progress, Row, Store, Task, run_tasks
    from topkapi.extras import EXTRAS, install_command, is_installed

commands = typer.Typer()

Data = Annotated[
    str, typer.Argument(help="Folder with Fold1, Fold2, ..., or one LETOR file (split by query).")
]
Truths = Annotated[str, typer.Option("--truth", help="graded, topk, or both, comma-separated.")]


@dataclass(frozen=True)
class RunOptions:
    """How an experiment runs, and where its results go: options of all these commands."""

    out: Annotated[
        Path | None,
        typer.Option(help="Folder for results and tables; an interrupted run continues there."),
    ] = None
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(choices.TABLE_FORMATS)}.")] = (
        "text"
    )
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel processes.")] = 1
    dask: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler whose workers run the experiment."),
    ] = None
    seed: Annotated[int, typer.Option(help="Seed for ties, folds and models.")] = 0
    as_json: AsJson = False


@commands.command(
    epilog="Examples: topkapi rank compare MQ2008 --out results --jobs 2; "
    "topkapi rank compare --study everyday-questions --folds 4"
)
@with_options(RunOptions)
def compare(
    data: Annotated[
        str | None,
        typer.Argument(help="Folder with Fold1, ..., or a LETOR file; or use --study."),
    ] = None,
    study: Study = None,
    assessor: Assessor = None,
    consensus: ConsensusMethod = None,
    normalise: Annotated[
        bool, typer.Option("--normalise", help="First scale features to 0..1 within each query.")
    ] = False,
    null: NullFeatures = None,
    models: Annotated[str, typer.Option(help="Models, comma-separated, or all.")] = "all",
    k: Annotated[
        str | None,
        typer.Option(
            help="k of the top-k ground truth: 10, or the study's own; several, such as "
            "1,3,10,full, give one row of top-k ListMLE each and N and P at 1, 3, 10 (Xia et al.)."
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(help="graded, topk, or both, comma-separated; all available if omitted."),
    ] = None,
    rule: Annotated[str, typer.Option(help="NDCG of graded tables: standard or letor4.")] = (
        "standard"
    ),
    gains: Annotated[
        Path | None,
        typer.Option(help="Gains and discounts for NDCG, written by dcg learn."),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Use only the first N folds; for a study, the number of folds to create."
        ),
    ] = None,
    *,
    options: RunOptions,
) -> None:
    """Tune, train and test models under graded and top-k ground truth (Niu et al., Tables 4, 5)."""
    if rule not in ("standard", "letor4"):
        raise Refused(f"--rule: {rule!r} is neither standard nor letor4")
    by_k = k is not None and "," in k
    entries = (
        _entries_by_k(models, k or "") if by_k else [ModelEntry(name) for name in _models(models)]
    )
    size = None if k is None or by_k else _whole(k)
    fold_set = fold_sets_by_truth(
        data,
        study,
        assessor,
        "graded" if by_k else truth,
        folds=folds,
        seed=options.seed,
        k=size,
        consensus=consensus,
        null=null,
    )
    if normalise:
        fold_set = scaled_by_truth(fold_set)
    elif data is not None and needs_scaling(next(iter(fold_set.values()))):
        typer.echo(
            f"{data}: some features vary by more than 100, and linear models may not converge: "
            "consider --normalise",
            err=True,
        )
    learned = None if gains is None else load_gains(gains)
    length = size or _length(fold_set)
    tasks = [
        task
        for each, of in fold_set.items()
        for task in compare_tasks(of, entries, [each], k=length, seed=options.seed, gains=learned)
    ]
    name = f"compare-{next(iter(fold_set.values())).name}"
    rows = _run(tasks, options, name)
    tables = [
        comparison_table(
            rows,
            entries,
            each,
            xia_columns() if by_k else niu_columns(each, rule),
            _caption(each, of, length, rule),
        )
        for each, of in fold_set.items()
    ]
    if "topk" in fold_set:
        reach = reach_note(fold_set["topk"], length, options.seed)
        tables = [
            replace(table, note="; ".join(filter(None, [table.note, reach])))
            if each == "topk"
            else table
            for each, table in zip(fold_set, tables, strict=True)
        ]
    tables += _parents(rows, list(fold_set))
    tables.append(seconds_table(rows, entries, "Seconds per fold, tuning included"))
    _print_failures(rows)
    _show(tables, rows, options, name)


def scaled_by_truth(fold_sets: Mapping[Truth, FoldSet]) -> Mapping[Truth, FoldSet]:
    """Scale the features of each fold set, once where ground truths share it."""
    scaled = {id(of): normalised(of) for of in {id(of): of for of in fold_sets.values()}.values()}
    return {each: scaled[id(of)] for each, of in fold_sets.items()}


def _print_failures(rows: Sequence[Row]) -> None:
    """Print on standard error which cells failed, and why."""
    for row in rows:
        if "failed" in row:
            where = f"{title(row['model'], row['model_k'])}, {row['truth']}, {row['fold']}"
            typer.echo(f"failed: {where}: {row['failed']}", err=True)


def _length(fold_set: Mapping[Truth, FoldSet]) -> int:
    """Return the k of top-k lists, or 10 if the ground truth is graded."""
    known = [of.folds[0].train.topk for each, of in fold_set.items() if each == "topk"]
    return (known[0] if known else None) or 10


def _parents(rows: list[Row], truths: list[Truth]) -> list[Table]:
    if "topk" not in truths:
        return []
    measures = {"κ-N@10": "kappa-ndcg@10", "κ-ERR": "kappa-err"}
    table = parents_table(rows, "topk", measures, "FocusedRank minus its parents (Holm's p)")
    return [table] if table.rows else []


@commands.command(epilog="Example: topkapi rank sweep-beta MQ2008 --out results")
@with_options(RunOptions)
def sweep_beta(
    data: Data,
    truth: Truths = "graded,topk",
    k: Annotated[int, typer.Option(min=1, help="k of the top-k ground truth.")] = 10,
    folds: Annotated[int | None, typer.Option(min=1, help="Use only the first N folds.")] = None,
    *,
    options: RunOptions,
) -> None:
    """Train FocusedRank at beta 0 to 1 by .05 (Niu et al., Figures 1 and 2)."""
    fold_set, truths = load_fold_set(data, seed=options.seed, first=folds), truths_of(truth)
    name = f"sweep-beta-{fold_set.name}"
    rows = _run(list(beta_tasks(fold_set, truths, k=k, seed=options.seed)), options, name)
    tables = [beta_table(rows, each, _caption(each, fold_set, k, "standard")) for each in truths]
    if options.out is not None:
        for each in truths:
            figure = beta_figure(rows, each, _caption(each, fold_set, k, "standard"))
            save(figure, options.out / f"{name}-{each}.svg")
    _show(tables, rows, options, name)


@commands.command(epilog="Example: topkapi rank toprank-study OHSUMED --out results")
@with_options(RunOptions)
def toprank_study(
    data: Data,
    n: Annotated[
        int, typer.Option(min=1, help="Truncation level of the NDCG loss; 1000 for whole lists.")
    ] = 10,
    folds: Annotated[int | None, typer.Option(min=1, help="Use only the first N folds.")] = None,
    *,
    options: RunOptions,
) -> None:
    """Compare TopMargin, TopSlack, TopRank and its baselines (Cheng et al., section 4.2)."""
    fold_set = load_fold_set(data, seed=options.seed, first=folds)
    name = f"toprank-{fold_set.name}" + (f"-n{n}" if n != 10 else "")
    rows = _run(list(toprank_tasks(fold_set, n=n, seed=options.seed)), options, name)
    _show(toprank_tables(rows, fold_set.name), rows, options, name)


@commands.command(epilog="Example: topkapi rank sweep-k synthetic --out results")
@with_options(RunOptions)
def sweep_k(
    data: Annotated[
        str, typer.Argument(help="LETOR folder or file, or: synthetic, synthetic:QUERIESxDOCS.")
    ],
    models: Annotated[str, typer.Option(help="Models, comma-separated.")] = (
        "ranksvm,rankboost,ranknet,listmle"
    ),
    ks: Annotated[
        str, typer.Option(help="Values of k, comma-separated; the full order is added.")
    ] = (",".join(map(str, choices.KS))),
    folds: Annotated[int | None, typer.Option(min=1, help="Use only the first N folds.")] = None,
    *,
    options: RunOptions,
) -> None:
    """Train on the top k of full orders for rising k; test on the full order (Lan et al.)."""
    fold_set = (
        _synthetic(data, folds, options.seed)
        if data.startswith("synthetic")
        else load_fold_set(data, seed=options.seed, first=folds)
    )
    name = f"sweep-k-{fold_set.name}".replace(" ", "-")
    sizes = [_whole(word) for word in ks.split(",")]
    tasks = list(k_tasks(fold_set, _models(models), sizes, seed=options.seed))
    rows = _run(tasks, options, name)
    if options.out is not None:
        save(k_figure(rows, f"{fold_set.name}, full order"), options.out / f"{name}.svg")
    tables = [
        k_table(rows, measure, f"{heading} against the full order, {fold_set.name}")
        for heading, measure in (("N@5", "ndcg@5"), ("N@10", "ndcg@10"))
    ]
    _show(tables, rows, options, name)


def _synthetic(text: str, folds: int | None, seed: int) -> FoldSet:
    size = text.partition(":")[2] or "100x700"
    queries, mark, documents = size.partition("x")
    if not mark:
        raise Refused(
            f"{text}: use the form synthetic:QUERIESxDOCUMENTS, such as synthetic:100x700"
        )
    made = synthetic_fold_set(_whole(queries), _whole(documents), seed=seed)
    return replace(made, folds=made.folds[:folds])


def _models(text: str) -> list[str]:
    """Return the names of models; of all, those whose library is installed."""
    missing = [name for name in TABLE_ORDER if name in EXTRAS and not is_installed(name)]
    if text == "all":
        if missing:
            command = install_command(*missing)
            typer.echo(f"left out, not installed: {', '.join(missing)} ({command})", err=True)
        return [name for name in TABLE_ORDER if name not in missing]
    names = [name.strip() for name in text.split(",")]
    for name in names:
        model_class(name)
    wanted = [name for name in names if name in missing]
    if wanted:
        raise Refused(f"--models: not installed: {', '.join(wanted)} ({install_command(*wanted)})")
    return names


def _entries_by_k(models: str, ks: str) -> list[ModelEntry]:
    """Return rows of Xia et al.'s tables: ListMLE full and truncated, then the other models."""
    listmle = [
        ModelEntry("listmle") if word == "full" else ModelEntry("topk-listmle", _whole(word))
        for word in ks.split(",")
    ]
    others = ["rankboost", "ranksvm", "listnet", "rankcosine"]
    wanted = others if models == "all" else _models(models)
    return listmle + [ModelEntry(name) for name in wanted if "listmle" not in name]


def _whole(text: str) -> int:
    if not text.strip().isdigit() or int(text) < 1:
        raise Refused(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _caption(truth: Truth, fold_set: FoldSet, k: int, rule: str) -> str:
    if truth == "topk":
        return f"Top-{k} {fold_set.name}"
    return f"Graded {fold_set.name}" + (" (LETOR 4.0 rule)" if rule == "letor4" else "")


def _run(tasks: list[Task], options: RunOptions, name: str) -> list[Row]:
    store = Store(None if options.out is None else options.out / f"{name}.jsonl")
    with _bar(tasks, store) as progress:
        return run_tasks(tasks, store, jobs=options.jobs, dask=options.dask, progress=progress)


@contextmanager
def _bar(tasks: list[Task], store: Store) -> Iterator[Progress | None]:
    """Show a progress bar with the remaining time, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    known = sum(task.key in store.rows for task in tasks)
    with typer.progressbar(length=len(tasks) - known, file=sys.stderr, show_eta=True) as bar:
        yield lambda _done, _total: bar.update(1)


def _show(tables: list[Table], rows: list[Row], options: RunOptions, name: str) -> None:
    out, form = options.out, options.form
    if form not in FORMATS:
        raise Refused(f"--format: {form!r} is not one of {', '.join(FORMATS)}")
    if out is not None:
        for ending, write in FORMATS.values():
            text = "\n\n".join(write(table) for table in tables)
            (out / f"{name}{ending}").write_text(text.rstrip() + "\n", encoding="utf-8")
    facts: list[dict[str, Any]] = [
        {"title": table.title, "columns": table.columns, "rows": dict(table.rows)}
        for table in tables
    ]
    about = {key: rows[0][key] for key in ("data", "data_hash", "seed", "version")} if rows else {}
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    text = "\n\n".join(
        as_text(table, width) if form == "text" else FORMATS[form][1](table) for table in tables
    )
    say(options.as_json, {**about, "tables": facts}, text)
