"""The page about preferences between rankings: systems, learned gains, and their trust."""

from collections.abc import Sequence
from math import log2

from analysis.report.figures import Json
from analysis.report.page.list_words import HOW
from analysis.report.page.markup import (
    card,
    counted,
    decimals,
    how,
    p_value,
    percent,
    quiet,
    table,
    text,
    whole,
    with_interval,
)
from analysis.report.page.svg import Curve, lines

MOST_DUELS = 12
ANSWERS = {
    "left_much": "Left much better",
    "left": "Left better",
    "same": "The same",
    "right": "Right better",
    "right_much": "Right much better",
}
SETTINGS = (("learned", "Learned"), ("exponential", "Usual, 2^l − 1"), ("linear", "Usual, l"))


def render_lists(report: Json) -> str:
    """What stands under the head of the page; every name in it is escaped."""
    parts = [_headline(report), _systems(report), _answers(report)]
    if report["learned"] is None:
        why = f"Nothing could be learned: {text(report['why_not'])}"
        return "".join([*parts, card("What a grade is worth", quiet(why), name="learned")])
    learned = report["learned"]
    curves = f'<div class="cols">{_gains(learned)}{_discounts(learned)}</div>'
    return "".join([*parts, curves, _accuracy(learned), _ties(learned)])


def _headline(report: Json) -> str:
    counts = report["counts"]
    decided = report["pairs"] - counts["same"]
    much = counts["left_much"] + counts["right_much"]
    boxes = [
        ("Pairs of lists", whole(report["pairs"]), counted(report["queries"], "query", "queries")),
        ("Preferences", whole(decided), f"{whole(much)} of them much better"),
        ("The same", whole(counts["same"]), percent(counts["same"] / report["pairs"])),
    ]
    if report["learned"] is not None:
        found = report["learned"]["validation"]
        usual = max(found["exponential"]["all"] or 0, found["linear"]["all"] or 0)
        said = f"the better usual setting: {percent(usual)}"
        boxes.append(("Learned gains agree with", percent(found["learned"]["all"] or 0), said))
    cells = "".join(f"<div><dt>{a}</dt><dd>{b}</dd><dd>{c}</dd></div>" for a, b, c in boxes)
    return f'<dl class="stats">{cells}</dl>'


def _systems(report: Json) -> str:
    title, words = HOW["lists-systems"]
    rows = [
        [
            text(row["system"]),
            f"<b>{with_interval(row['share'], 'percent')}</b>",
            *(whole(row[name]) for name in ("wins", "losses", "same", "compared")),
        ]
        for row in report["systems"]
    ]
    heads = ["System", "Share won", "Wins", "Losses", "The same", "Compared"]
    parts = [table(heads, rows, label=title)]
    names = report["names"]
    if 2 < len(names) <= MOST_DUELS:
        parts.append(quiet("How often the system of the row was preferred to that of the column:"))
        duels = [
            [text(name), *(("" if i == j else whole(cell)) for j, cell in enumerate(row))]
            for i, (name, row) in enumerate(zip(names, report["duels"], strict=True))
        ]
        parts.append(table(["System", *map(text, names)], duels, label="Wins of each pair"))
    return card(title, *parts, name="systems", tip=how("lists-systems", title, words))


def _answers(report: Json) -> str:
    title, words = HOW["lists-answers"]
    pairs, found = report["pairs"], report["left"]
    rows = [
        [name, whole(report["counts"][key]), percent(report["counts"][key] / pairs)]
        for key, name in ANSWERS.items()
    ]
    bias = "No preference was stated yet."
    if found["decided"]:
        share = percent(found["left"] / found["decided"])
        bias = (
            f"The left list was preferred in {share} of {whole(found['decided'])} preferences; "
            f"p = {p_value(found['p'])} if sides do not matter."
        )
    body = table(["Answer", "Times", "Share"], rows, label=title)
    return card(title, body, quiet(bias), name="answers", tip=how("lists-answers", title, words))


def _gains(learned: Json) -> str:
    title, words = HOW["lists-gains"]
    shares = learned["gain_shares"]
    last = len(shares) - 1
    curves = [
        Curve("learned", shares, learned["gain_intervals"]),
        Curve("2^l − 1", [(2**grade - 1) / (2**last - 1) for grade in range(last + 1)]),
        Curve("l", [grade / last for grade in range(last + 1)]),
    ]
    drawn = lines(title, list(range(last + 1)), curves, "grade")
    note = quiet("Shares of the best grade's gain, by grade. Band: 90 % over resampled queries.")
    return card(title, note, drawn, wide="c6", name="learned", tip=how("lists-gains", title, words))


def _discounts(learned: Json) -> str:
    title, words = HOW["lists-discounts"]
    found = learned["discounts"]
    usual = [1 / log2(place + 1) for place in range(1, len(found) + 1)]
    curves = [Curve("learned", found, learned["discount_intervals"]), Curve("usual", usual)]
    drawn = lines(title, list(range(1, len(found) + 1)), curves, "position")
    note = quiet("By position, the first one 1. Usual: 1 / log2(1 + position).")
    return card(title, note, drawn, wide="c6", tip=how("lists-discounts", title, words))


def _accuracy(learned: Json) -> str:
    title, words = HOW["lists-accuracy"]
    found = learned["validation"]
    kinds = ("all", "strong", "weak")
    rows = [[name, *(_share(found[key][kind]) for kind in kinds)] for key, name in SETTINGS]
    rows.append(["Chance", *([percent(found["chance"])] * 3)])
    missing = (
        f"C = {found['c']:g}. {counted(learned['ungraded'], 'place')} without a grade and "
        f"{counted(learned['padded'], 'place')} behind short lists count as the worst grade. "
        f"Gains and discounts explain {percent(learned['rank_one_share'])} of the learned weights."
    )
    sides = f'<div class="cols">{_sizes(learned)}{_differences(found["differences"])}</div>'
    heads = ["Setting", "All preferences", "Much better", "Better"]
    body = table(heads, rows, label=title)
    tip = how("lists-accuracy", title, words)
    return card(title, body, quiet(missing), name="accuracy", tip=tip) + sides


def _sizes(learned: Json) -> str:
    title, words = HOW["lists-sizes"]
    found = {int(size): share for size, share in learned["accuracy_by_training_pairs"].items()}
    if len(found) < 2:
        body = quiet("Too few preferences to train on parts of them.")
    else:
        curve = Curve("accuracy", [found[size] for size in sorted(found)])
        body = lines(title, sorted(found), [curve], "training pairs", least=0.5)
    return card(title, body, wide="c6", tip=how("lists-sizes", title, words))


def _differences(found: Json) -> str:
    title, words = HOW["lists-differences"]
    names = {"much": "Much better", "better": "Better", "same": "The same"}
    rows = [[name, decimals(found[key])] for key, name in names.items() if key in found]
    body = table(["Answer", "Mean difference of worth"], rows, label=title)
    return card(title, body, wide="c6", tip=how("lists-differences", title, words))


def _ties(learned: Json) -> str:
    title, words = HOW["lists-ties"]
    tip = how("lists-ties", title, words)
    rows = _tie_rows(learned["ties"])
    if not rows:
        return card(title, quiet("Too few answers are “the same” to sweep."), tip=tip)
    heads = ["Weight of a tie", "Accuracy", "Mean difference of ties"]
    note = ""
    if len({(accuracy, difference) for _, accuracy, difference in rows}) == 1:
        note = "No pair called the same lies further apart than a preference: no weight matters."
    return card(title, table(heads, rows, label=title), quiet(note), name="ties", tip=tip)


def _tie_rows(found: Sequence[Json]) -> list[list[str]]:
    return [
        [f"{row['c_ties']:g}", _share(row["accuracy"]), decimals(row["tie_difference"] or 0.0)]
        for row in found
    ]


def _share(value: float | None) -> str:
    return "none" if value is None else percent(value)
