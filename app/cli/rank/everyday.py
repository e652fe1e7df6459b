"""`topkapi rank train`, `score` and `bounds`: everyday use of models and measures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
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
    StudyLabels,
    null_of,
    one_source,
    study_data,
)
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    import numpy as np

    from topkapi.analysis.data import RankingData, read_letor, read_qrels, to_topk
    from topkapi.analysis.data.folds import normalise_by_query
    from topkapi.analysis.data.runs import (
        data_of_judgments,
        format_run,
        judgments_of,
        read_run,
        run_scores,
    )
    from topkapi.analysis.experiments.tuning import tune
    from topkapi.analysis.metrics import Gains, evaluate, load_gains, prefs_summary
    from topkapi.analysis.metrics.registry import Ties
    from topkapi.analysis.models import RankNet, load_model, model_class
    from topkapi.analysis.papers.bounds import check_bounds, counterexample, lemma_1
    from topkapi.analysis.typing import FloatArray
    from topkapi.app.cli.rank.prefs import are_prefs, prefs_scores

commands = typer.Typer()

Measures = Annotated[
    str, typer.Option(help="Measures, comma-separated, such as ndcg@10,kappa-err.")
]
TopK = Annotated[
    int | None,
    typer.Option("--topk", min=1, help="Labels are k + 1 - rank of a top-k ground truth."),
]
Normalise = Annotated[
    bool, typer.Option("--normalise", help="First scale features to 0..1 within each query.")
]


@dataclass(frozen=True)
class Labels:
    """Where labels and features come from: a file, or a study."""

    data: Path | None
    study: str | None
    assessor: str | None
    truth: str | None
    consensus: str | None
    topk: int | None
    normalise: bool = False
    null: str | None = None

    @classmethod
    def of(cls, command: TrainCommand | ScoreCommand) -> Labels:
        """Return the labels that the options of a command name."""
        return cls(**{each.name: getattr(command, each.name) for each in fields(cls)})

    def read(self, width: int | None = None) -> RankingData:
        """Return the labelled queries; ``width`` is the number of features."""
        one_source(self.data, self.study, self.assessor, self.consensus)
        if self.study is not None:
            return study_data(self.study, self.assessor, self.truth, self.topk, self.consensus)
        assert self.data is not None
        if self.truth is not None:
            raise Refused("--truth chooses labels of a study; for a file, use --topk")
        return _read(self.data, self.topk, self.normalise, width, self.null)


@dataclass(frozen=True)
class TrainCommand:
    """The arguments and options of `rank train`."""

    model: Annotated[str, typer.Option(help=f"One of {', '.join(choices.MODELS)}.")]
    out: Annotated[Path, typer.Option(help="JSON file to write the model to.")]
    data: Annotated[
        Path | None,
        typer.Argument(help="LETOR file to learn from, plain or gzip; or use --study."),
    ] = None
    study: Study = None
    assessor: Assessor = None
    truth: StudyLabels = None
    consensus: ConsensusMethod = None
    validation: Annotated[
        Path | None, typer.Option(help="LETOR file for choosing settings and rounds.")
    ] = None
    measure: Annotated[str, typer.Option(help="Measure that validation maximizes.")] = "ndcg@10"
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting, such as beta=0.3; repeatable.")
    ] = None
    topk: TopK = None
    normalise: Normalise = False
    null: NullFeatures = None
    as_json: AsJson = False


@dataclass(frozen=True)
class ScoreCommand:
    """The arguments and options of `rank score`."""

    data: Annotated[
        Path | None,
        typer.Argument(
            help="LETOR file with labels; with --run also TREC qrels, or trec_eval's prefs or "
            "qrels_prefs for measures such as prefs_simp; or use --study."
        ),
    ] = None
    study: Study = None
    assessor: Assessor = None
    truth: StudyLabels = None
    consensus: ConsensusMethod = None
    model: Annotated[Path | None, typer.Option(help="Model file written by rank train.")] = None
    run: Annotated[Path | None, typer.Option(help="TREC run to score instead.")] = None
    measures: Measures = "ndcg@10,map,err"
    expected: Annotated[
        bool, typer.Option("--expected-ties", help="Average over the orders of tied documents.")
    ] = False
    gains: Annotated[
        Path | None,
        typer.Option(help="Gains and discounts for ndcg and kappa-ndcg, written by dcg learn."),
    ] = None
    discounts_only: Annotated[
        bool, typer.Option("--discounts-only", help="Use only the discounts of --gains.")
    ] = False
    out: Annotated[Path | None, typer.Option(help="Write the ranking as a TREC run.")] = None
    per_query: Annotated[bool, typer.Option("--per-query", help="One line per query.")] = False
    topk: TopK = None
    normalise: Normalise = False
    null: NullFeatures = None
    as_json: AsJson = False


@commands.command(
    epilog="Example: topkapi rank train train.txt.gz --model focused-net --out model.json"
)
@with_options(TrainCommand)
def train(options: TrainCommand) -> None:
    """Train a model, tuning its settings if validation data is given."""
    model, validation = options.model, options.validation
    given = _settings(model, options.settings or [])
    if options.study is not None and validation is not None:
        raise Refused("--validation needs a file of data; to tune on a study, use rank compare")
    learn = Labels.of(options).read()
    of_list = model.startswith(("topk-", "focused-"))
    if options.study is not None and learn.topk is not None and of_list:
        given = {"k": learn.topk, **given}
    if validation is None:
        fitted = model_class(model)(**given).fit(learn)
    else:
        width = learn.n_features
        choose = _read(validation, options.topk, options.normalise, width, options.null)
        fitted = tune(model, learn, choose, options.measure, given=given).model
    fitted.save(options.out)
    facts = {"model": model, "settings": fitted.settings(), "out": str(options.out)}
    say(options.as_json, facts, f"{fitted!r}\nwritten to {options.out}")


@commands.command(epilog="Example: topkapi rank score test.txt.gz --model model.json --out run.txt")
@with_options(ScoreCommand)
def score(options: ScoreCommand) -> None:
    """Score a model or a TREC run by any measures."""
    if (options.model is None) == (options.run is None):
        raise Refused("give either --model to score a model or --run to score a run")
    measures = [name.strip() for name in options.measures.split(",")]
    if are_prefs(measures):
        values = prefs_scores(options.data, options.study, options.assessor, options.run, measures)
        sums = {name: prefs_summary(name, mine) for name, mine in values.items()}
        _say_scores(options.as_json, values, sums, options.per_query)
        return
    rows, scores = _of_run(options) if options.run is not None else _of_model(options)
    ties: Ties = "expected" if options.expected else "stable"
    learned = _gains(options.gains, options.discounts_only, rows)
    found = evaluate(rows, scores, measures, per_query=True, ties=ties, gains=learned)
    if options.out is not None:
        options.out.write_text(format_run(rows, scores, "topkapi"), encoding="utf-8")
    means = {name: float(np.mean(each)) for name, each in found.items()}
    by_query = {
        name: dict(zip(rows.query_ids, map(float, each), strict=True))
        for name, each in found.items()
    }
    _say_scores(options.as_json, by_query, means, options.per_query)


@commands.command(epilog="Example: topkapi rank bounds test.txt.gz --k 10")
def bounds(
    data: Annotated[Path, typer.Argument(help="LETOR file; its labels give the full order.")],
    k: Annotated[int, typer.Option(min=1, help="Length of the top-k ground truth.")] = 10,
    model: Annotated[
        Path | None,
        typer.Option(help="Model whose scores are used; RankNet is trained if omitted."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for the order of equal labels.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Check Lan et al.'s inequalities between losses and NDCG, per query."""
    rows = read_letor(data)
    ranker = load_model(model) if model else RankNet().fit(to_topk(rows, k, seed=seed))
    scores = ranker.predict(rows)
    checked = check_bounds(rows, scores, k, seed=seed)
    left, right = counterexample()
    spread = lemma_1(rows, scores, k, seed=seed)
    facts = {
        "bounds": [asdict(bound) for bound in checked],
        "lemma_1_spread": spread,
        "counterexample_18": {"n": 10, "k": 1, "left": left, "right": right},
    }
    lines = [f"{'inequality':<56} {'left':>10} {'right':>12}  holds in"]
    lines += [
        f"{bound.name:<56} {bound.left:>10.4f} {bound.right:>12.4f}  {bound.holds:7.1%}"
        for bound in checked
    ]
    lines.append(f"Lemma 1: WKT over orders of Y_k differs by {spread:g}")
    lines.append(f"(18) as printed fails at n = 10, k = 1: {left:g} > {right:.2f}")
    say(as_json, facts, "\n".join(lines))


def _say_scores(
    as_json: bool,
    values: Mapping[str, Mapping[str, float]],
    means: Mapping[str, float],
    per_query: bool,
) -> None:
    """Print the means of measures, after the values of each query if asked for."""
    queries = list(next(iter(values.values())))
    facts: dict[str, Any] = {"queries": len(queries), "measures": means}
    lines = [f"{name:<18} {value:.4f}" for name, value in means.items()]
    if per_query:
        facts["per_query"] = {
            query: {name: mine[query] for name, mine in values.items()} for query in queries
        }
        lines = [_query_line(query, facts["per_query"][query]) for query in queries] + lines
    say(as_json, facts, "\n".join(lines))


def _read(
    path: Path, topk: int | None, normalise: bool, width: int | None, null: str | None
) -> RankingData:
    data = read_letor(path, topk=topk, n_features=width, null=null_of(null))
    return normalise_by_query(data) if normalise else data


def _of_model(options: ScoreCommand) -> tuple[RankingData, FloatArray]:
    """Return labels and scores of the documents of the data."""
    assert options.model is not None
    ranker = load_model(options.model)
    rows = Labels.of(options).read(getattr(ranker, "n_features_", None))
    return rows, ranker.predict(rows)


def _of_run(options: ScoreCommand) -> tuple[RankingData, FloatArray]:
    """Return labels and scores of the documents that are judged or that the run retrieved."""
    assert options.run is not None
    data = options.data
    one_source(data, options.study, options.assessor)
    ranking = read_run(options.run)
    if data is not None and not _is_letor(data):
        labels: dict[str, dict[str, float]] = {}
        for label in read_qrels(data):
            labels.setdefault(label.query, {})[label.document] = label.label
        rows = data_of_judgments(labels, ranking)
    else:
        known = replace(Labels.of(options), normalise=False, null=None).read()
        rows = data_of_judgments(judgments_of(known), ranking, topk=known.topk)
    return rows, run_scores(rows, ranking)


def _is_letor(path: Path) -> bool:
    """Return whether a file is LETOR data (gzip, or with ``qid:``) rather than qrels."""
    with path.open("rb") as stream:
        head = stream.read(4096)
    return head.startswith(b"\x1f\x8b") or b"qid:" in head


def _gains(path: Path | None, discounts_only: bool, data: RankingData) -> Gains | None:
    if path is None:
        if discounts_only:
            raise Refused("--discounts-only needs --gains")
        return None
    gains = load_gains(path)
    return gains.discounts_only(int(data.labels.max(initial=0.0)) + 1) if discounts_only else gains


def _settings(model: str, given: list[str]) -> dict[str, Any]:
    """Parse settings of the form name=value; values are parsed as JSON if possible."""
    known = model_class(model).__init__.__kwdefaults__ or {}
    result = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark or name not in known:
            raise Refused(
                f"--set {text}: write name=value; the settings of {model} are {', '.join(known)}"
            )
        try:
            result[name] = json.loads(value)
        except json.JSONDecodeError:
            result[name] = value
    return result


def _query_line(query: str, values: dict[str, float]) -> str:
    return f"{query:<18} " + "  ".join(f"{name} {value:.4f}" for name, value in values.items())
