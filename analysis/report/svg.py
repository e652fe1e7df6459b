"""Plots as inline SVG whose colours are those of the page, light, dark and printed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from markupsafe import Markup, escape

from topkapi.analysis.efficiency import Course
from topkapi.analysis.report.figures import Figure, Interval, Matrix
from topkapi.analysis.report.numbers import decimals, percent

WIDTH = 560
PANEL = 280  # width of one of several small plots
NAMES = 118.0  # width of the names at the left
SERIES = ("a", "b")  # the first tool solid and filled, the second dashed and hollow


@dataclass(frozen=True, slots=True)
class Scale:
    """Linear map of values from ``low`` to ``high`` to pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel position of a value."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


def ticks(most: float, count: int = 6) -> list[float]:
    """Return round steps from 0 to at least ``most``, ``count`` at most.

    >>> ticks(47), ticks(0.31, 4)
    ([0.0, 10.0, 20.0, 30.0, 40.0, 50.0], [0.0, 0.1, 0.2, 0.3, 0.4])
    """
    if most <= 0:
        return [0.0, 1.0]
    power = 10.0 ** floor(log10(most / count))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power * count >= most * (1 - 1e-12))
    return [round(step * i, 9) for i in range(ceil(most / step - 1e-9) + 1)]


def steps_around(low: float, high: float, count: int = 4) -> list[float]:
    """Return round steps from at most ``low`` to at least ``high``.

    >>> steps_around(0.43, 0.58), steps_around(0.5, 0.5)
    ([0.4, 0.45, 0.5, 0.55, 0.6], [0.5, 0.52])
    """
    step = ticks(max(high - low, 0.05), count)[1]
    first = floor(low / step + 1e-9)
    last = max(ceil(high / step - 1e-9), first + 1)
    return [round(step * i, 9) for i in range(first, last + 1)]


def _svg(height: float, label: str, parts: Iterable[str], *, panel: bool = False) -> Markup:
    """Return the plot as markup; texts within ``parts`` are escaped already."""
    kind, width = ("plot plot--panel", PANEL) if panel else ("plot", WIDTH)
    head = f'<svg class="{kind}" viewBox="0 0 {width} {height:g}" role="img"'
    return Markup(f'{head} aria-label="{escape(label)}">{"".join(parts)}</svg>')


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'


def _words(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text{mark} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _dot(series: str, x: float, y: float) -> str:
    return f'<circle class="dot-{series}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'


def _short(name: str, most: int = 14) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _upright(marks: Sequence[float], x: Scale, bottom: float, unit: str) -> list[str]:
    """Draw rules from top to bottom with their values below."""
    return [
        _line("rule", x(m), 8, x(m), bottom) + _words(x(m), bottom + 22, f"{m:g} {unit}")
        for m in marks
    ]


def _across(
    marks: Sequence[float], x: Scale, y: Scale, *, gap: float = 8, form: str = "g"
) -> list[str]:
    """Draw rules from left to right with their values before them."""
    return [
        _line("rule", x.start, y(m), x.end, y(m))
        + _words(x.start - gap, y(m) + 4, f"{m:{form}}", "end")
        for m in marks
    ]


def boxes(rows: Sequence[Mapping[str, Sequence[float]]], names: Sequence[str]) -> Markup:
    """Draw quantiles of seconds per judgment, a row per assessor, the tools below each other."""
    marks = ticks(max((row[n][4] for row in rows for n in names if n in row), default=1.0))
    x = Scale(0, marks[-1], NAMES, WIDTH - 24.0)
    each = 22.0 * len(rows) + 10
    bottom = 14 + each * len(names)
    parts = _upright(marks, x, bottom, "s")
    for i, name in enumerate(names):
        top = 14 + i * each
        parts.append(_words(NAMES - 12, top + each / 2, _short(name), "end", "name"))
        parts += [
            _box(SERIES[s], [x(q) for q in row[name]], top + 11 + 22 * s)
            for s, row in enumerate(rows)
            if name in row
        ]
    summary = "; ".join(_medians(name, rows) for name in names)
    return _svg(bottom + 32, f"Seconds per judgment by assessor, medians: {summary}", parts)


def _medians(name: str, rows: Sequence[Mapping[str, Sequence[float]]]) -> str:
    return f"{name} " + " and ".join(decimals(row[name][2], 0) for row in rows if name in row)


def _box(series: str, at: Sequence[float], y: float) -> str:
    width = max(at[3] - at[1], 1)
    band = f'<rect class="band-{series}" x="{at[1]:.1f}" y="{y - 7:.1f}" width="{width:.1f}"'
    return (
        _line("axis", at[0], y, at[4], y) + f'{band} height="14" rx="2"/>' + _dot(series, at[2], y)
    )


def courses(drawn: Sequence[tuple[str, Course]]) -> Markup:
    """Draw median seconds against judgments so far, with the band of its interval, by title."""
    highs = [v for _, c in drawn for v in (*c.median, *c.high) if v is not None]
    up = ticks(max(highs, default=1.0), 4)
    along = ticks(max((s for _, c in drawn for s in c.start), default=1.0))
    x, y = Scale(0, along[-1], 40, 470), Scale(0, up[-1], 216, 14)
    parts = _across(up, x, y)
    parts += [_words(x(m), 236, f"{m:g}") for m in along]
    for series, (_, course) in zip(SERIES, drawn, strict=False):
        parts.append(_area(series, course.start, course.low, course.high, x, y))
        parts.append(_path(series, course.start, course.median, x, y))
    ends = [y(course.median[-1]) for _, course in drawn if course.median]
    for height, (title, course) in zip(_apart(ends), drawn, strict=False):
        parts.append(_words(x(course.start[-1]) + 8, height + 4, title, "start", "name"))
    summary = "; ".join(
        f"{title} {decimals(c.median[0], 0)} to {decimals(c.median[-1], 0)}"
        for title, c in drawn
        if c.median
    )
    return _svg(
        246, f"Median seconds per judgment from start to end of a session: {summary}", parts
    )


def _apart(ends: Sequence[float], least: float = 20.0) -> list[float]:
    """Return heights of two labels, moved apart where they would overlap."""
    if len(ends) < 2 or abs(ends[0] - ends[1]) >= least:
        return list(ends)
    middle, half = sum(ends) / 2, least / 2
    return [middle - half, middle + half] if ends[0] <= ends[1] else [middle + half, middle - half]


def _area(
    kind: str,
    positions: Sequence[float],
    low: Sequence[float | None],
    high: Sequence[float | None],
    x: Scale,
    y: Scale,
) -> str:
    upper, lower = (list(zip(positions, ends, strict=True)) for ends in (high, low))
    around = [(at, end) for at, end in [*upper, *reversed(lower)] if end is not None]
    return f'<polygon class="band-{kind}" points="{_points(around, x, y)}"/>'


def _path(
    kind: str, positions: Sequence[float], values: Sequence[float], x: Scale, y: Scale
) -> str:
    points = _points(zip(positions, values, strict=True), x, y)
    return f'<polyline class="{kind}" points="{points}"/>'


def _points(points: Iterable[tuple[float, float]], x: Scale, y: Scale) -> str:
    return " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)


def forest(rates: Sequence[tuple[str, Figure]]) -> Markup:
    """Draw the estimated error rate of each assessor with its interval."""
    rows = [(name, rate.value or 0.0, rate.interval) for name, rate in rates]
    values = [100 * end for _, value, interval in rows for end in (value, *(interval or ()))]
    marks = ticks(max([*values, 1.0]))
    summary = ", ".join(f"{name} {percent(value)}" for name, value, _ in rows)
    label = f"Estimated error rate by assessor: {summary}"
    return _dots(label, rows, marks, "%", scale=100)


def _dots(
    label: str,
    rows: Sequence[tuple[str, float, Interval | None]],
    marks: Sequence[float],
    unit: str,
    *,
    scale: float = 1,
) -> Markup:
    """Draw a dot with its interval for each name."""
    x, bottom = Scale(marks[0], marks[-1], NAMES, WIDTH - 24.0), 14 + 26.0 * len(rows)
    parts = _upright(marks, x, bottom, unit)
    for i, (name, value, interval) in enumerate(rows):
        y = 14 + 26.0 * (i + 0.5)
        parts.append(_words(NAMES - 12, y + 4, _short(name), "end", "name"))
        if interval is not None:
            parts.append(_line("axis", x(scale * interval.low), y, x(scale * interval.high), y))
        parts.append(_dot("a", x(scale * value), y))
    return _svg(bottom + 32, label, parts)


def intervals(title: str, rows: Sequence[tuple[str, Sequence[Figure]]]) -> Markup:
    """Draw figures from at most 1, with their intervals: a row per name, a dot per tool."""
    known = [each for _, many in rows for each in many if each.value is not None]
    ends = [end for each in known for end in (each.value or 0.0, *(each.interval or ()))]
    marks = steps_around(min([0.0, *ends]), 1.0, 5)
    x, bottom = Scale(marks[0], marks[-1], 170, WIDTH - 24.0), 14 + 32.0 * len(rows)
    parts = _upright(marks, x, bottom, "")
    for i, (name, figures) in enumerate(rows):
        parts.append(_words(158, 34 + 32.0 * i, _short(name, 24), "end", "name"))
        for series, y, each in zip(SERIES, (24 + 32.0 * i, 36 + 32.0 * i), figures, strict=False):
            if each.interval is not None:
                parts.append(_line("axis", x(each.interval.low), y, x(each.interval.high), y))
            if each.value is not None:
                parts.append(_dot(series, x(each.value), y))
    return _svg(bottom + 32, title, parts)


def heat(title: str, names: Sequence[str], matrix: Matrix) -> Markup:
    """Draw a matrix of votes: the stronger a cell, the larger its share of the row."""
    wide, high = (WIDTH - NAMES) / len(names), 64.0
    middles = [NAMES + wide * (j + 0.5) for j in range(len(names))]
    parts = [_words(x, 18, name, kind="name") for x, name in zip(middles, names, strict=True)]
    for i, (counts, shares) in enumerate(zip(matrix.counts, matrix.shares, strict=True)):
        top = 28 + high * i
        parts.append(_words(NAMES - 12, top + high / 2, names[i], "end", "name"))
        for j, (count, share) in enumerate(zip(counts, shares, strict=True)):
            depth = 0.05 + 0.4 * (share or 0.0)
            parts.append(
                f'<rect class="dot-a" x="{middles[j] - wide / 2:.1f}" y="{top:.1f}" '
                f'width="{wide - 4:.1f}" height="60" rx="4" fill-opacity="{depth:.2f}"/>'
            )
            words = f"{count} ({percent(share or 0.0)})"
            parts.append(_words(middles[j], top + high / 2, words, kind="name"))
    return _svg(32 + high * len(names), title, parts)


def score_plot(measure: str, rows: Sequence[tuple[str, Figure]]) -> Markup:
    """Draw the mean of each system with its interval; systems without a mean are left out."""
    known = [(name, found.value, found.interval) for name, found in rows if found.value is not None]
    ends = [end for _, value, interval in known for end in (value, *(interval or ()))]
    marks = steps_around(min(ends, default=0.0), max(ends, default=1.0), 6)
    summary = ", ".join(f"{name} {decimals(value)}" for name, value, _ in known)
    return _dots(f"{measure} by system with 95 % intervals: {summary}", known, marks, "")


def histogram(title: str, shares: Sequence[float], bars: int = 20) -> Markup:
    """Draw how many assessors have which share, in bars of equal width from 0 to 100 %."""
    counts = [0] * bars
    for share in shares:
        counts[min(int(share * bars), bars - 1)] += 1
    up = ticks(max(counts), 4)
    x, y = Scale(0, 100, 44, WIDTH - 24.0), Scale(0, up[-1], 216, 14)
    parts = _across(up, x, y)
    parts += [_words(x(m), 236, f"{m} %") for m in range(0, 101, 20)]
    wide = 100 / bars
    for number, count in enumerate(counts):
        left, right, top = x(number * wide), x((number + 1) * wide), y(count)
        parts.append(
            f'<rect class="band-a" x="{left:.1f}" y="{top:.1f}" width="{right - left - 1:.1f}" '
            f'height="{216 - top:.1f}"/>'
        )
    ordered = sorted(shares)
    low, middle, high = (ordered[int(q * (len(ordered) - 1))] for q in (0.1, 0.5, 0.9))
    summary = f"median {percent(middle)}, 80 % between {percent(low)} and {percent(high)}"
    return _svg(246, f"{title} of {len(shares)} assessors: {summary}", parts)


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line with a value per position; ``bounds`` are all low and all high ends."""

    name: str
    values: Sequence[float]
    bounds: tuple[Sequence[float], Sequence[float]] | None = None


def lines(
    title: str,
    positions: Sequence[float],
    curves: Sequence[Curve],
    unit: str,
    *,
    least: float = 0.0,
) -> Markup:
    """Draw up to three curves over ``positions``: solid with its band, dashed, dotted."""
    highs = [v for curve in curves for v in curve.values]
    highs += [high for curve in curves if curve.bounds for high in curve.bounds[1]]
    least = min([least, *(v for curve in curves for v in curve.values)])
    up = [least + step for step in ticks(max(highs, default=1.0) - least, 5)]
    x, y = Scale(positions[0], positions[-1], 44, 450), Scale(least, up[-1], 216, 14)
    parts = _across(up, x, y, form=".3g")
    parts += [_words(x(position), 238, f"{position:g}") for position in positions]
    parts.append(_words((x(positions[0]) + x(positions[-1])) / 2, 260, unit))
    for kind, curve in zip(("a", "b", "c"), curves, strict=False):
        parts.append(_curve(kind, curve, positions, x, y))
    ends = [y(curve.values[-1]) for curve in curves]
    for at, curve in zip(_spread(ends), curves, strict=True):
        parts.append(_words(458, at + 4, curve.name, "start", "name"))
    summary = "; ".join(f"{c.name} {', '.join(decimals(v, 2) for v in c.values)}" for c in curves)
    return _svg(268, f"{title}, by {unit}: {summary}", parts)


def _curve(kind: str, curve: Curve, positions: Sequence[float], x: Scale, y: Scale) -> str:
    parts = [_path(kind, positions, curve.values, x, y)]
    if curve.bounds:
        low, high = curve.bounds
        parts.insert(0, _area(kind, positions, low, high, x, y))
    if kind == "a":
        along = zip(positions, curve.values, strict=True)
        parts += [_dot(kind, x(position), y(value)) for position, value in along]
    return "".join(parts)


def _spread(ends: Sequence[float], least: float = 18.0) -> list[float]:
    """Return heights of labels, moved down where they would overlap the one above."""
    placed: dict[int, float] = {}
    above = -least
    for number in sorted(range(len(ends)), key=lambda number: ends[number]):
        above = placed[number] = max(ends[number], above + least)
    return [placed[number] for number in range(len(ends))]


def panel(
    curve: Curve,
    positions: Sequence[float],
    marks: Sequence[float],
    *,
    shown: Sequence[float],
    beside: Curve | None = None,
    best: bool = False,
) -> Markup:
    """Draw one of several small plots of the same scale.

    ``marks`` are the steps of that scale and ``shown`` the positions with a label; ``beside`` is a
    dashed line to compare with, and ``best`` marks the highest point.
    """
    x, y = Scale(positions[0], positions[-1], 36, PANEL - 8.0), Scale(marks[0], marks[-1], 132, 10)
    parts = _across(marks, x, y, gap=6)
    parts += [_words(x(position), 150, f"{position:g}") for position in shown]
    for kind, each in (("b", beside), ("a", curve)):
        if each is not None:
            parts.append(_path(kind, positions, each.values, x, y))
    if best:
        at = max(range(len(positions)), key=lambda at: curve.values[at])
        parts.append(_dot("a", x(positions[at]), y(curve.values[at])))
    values = ", ".join(
        f"{position:g}: {decimals(value, 3)}"
        for position, value in zip(positions, curve.values, strict=True)
    )
    return _svg(156, f"{curve.name}; {values}", parts, panel=True)
