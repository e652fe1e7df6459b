"""Small pieces of markup: numbers as the look wants them, tables, cards, explanations."""

from collections.abc import Iterable, Sequence
from html import escape

from analysis.report.figures import Json

THIN = "\u202f"  # narrow and not to be broken


def text(value: object) -> str:
    """Anything as text that is safe in markup and attributes."""
    return escape(str(value), quote=True)


def whole(value: float) -> str:
    """A count with thin spaces between thousands."""
    return f"{round(value):,}".replace(",", THIN)


def counted(value: int, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> counted(1, "query", "queries"), counted(2, "page")
    ('1 query', '2 pages')
    """
    return f"{whole(value)} {one if value == 1 else many or one + 's'}"


def percent(value: float) -> str:
    """A share with one decimal."""
    return decimals(100 * value, 1) + f"{THIN}%"


def decimals(value: float, digits: int = 3) -> str:
    """A number with fixed decimals and a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def points(value: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return ("+" if value > 0 else "") + decimals(100 * value, 1)


def p_value(value: float) -> str:
    """A probability, never as 0."""
    return "&lt;" + THIN + "0.0001" if value < 0.0001 else f"{value:.4f}"


def undefined(reason: str) -> str:
    """What stands in place of a number that does not exist, with the reason."""
    return _absent("undefined", reason)


def _absent(word: str, reason: str) -> str:
    hidden = f'<span class="vh">: {text(reason)}</span>'
    return f'<span class="none" title="{text(reason)}">{word}{hidden}</span>'


def shown(figure: Json, form: str = "number", digits: int = 3) -> str:
    """The value of a figure, or that it is undefined."""
    value = figure.get("value")
    if value is None:
        return undefined(figure.get("reason", "undefined"))
    return formatted(value, form, digits)


def formatted(value: float, form: str, digits: int = 3) -> str:
    """A number as ``percent``, ``p``, ``points`` or plain ``number``."""
    forms = {"percent": percent, "p": p_value, "points": points}
    return forms[form](value) if form in forms else decimals(value, digits)


def interval(figure: Json, form: str = "number", digits: int = 3) -> str:
    """The interval of a figure as words, or a dash with the reason."""
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None:
        reason = figure.get("no_interval") or figure.get("reason") or "none was computed"
        return _absent("no interval", str(reason))
    return f"{formatted(low, form, digits)} to {formatted(high, form, digits)}"


def with_interval(figure: Json, form: str = "number", digits: int = 3) -> str:
    """Value, and its interval in small print below."""
    if figure.get("value") is None:
        return shown(figure)
    range_ = f"<small>{interval(figure, form, digits)}</small>" if "low" in figure else ""
    return shown(figure, form, digits) + range_


def how(name: str, title: str, words: str) -> str:
    """A button that opens how a figure is computed; no script is needed."""
    return (
        f'<button class="how" type="button" popovertarget="how-{name}" '
        f'aria-label="How {text(title)} is computed">?</button>'
        f'<div class="tip" id="how-{name}" popover><b>{text(title)}</b><p>{text(words)}</p></div>'
    )


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    label: str,
    left: int = 1,
    wrap: bool = False,
) -> str:
    """A table that scrolls sideways in its card; ``left`` columns are aligned to the left.

    ``wrap`` lets the heads of a wide table break.
    """
    kind = "table table--wrap" if wrap else "table"
    head = "".join(f'<th scope="col"{_right(i, left)}>{cell}</th>' for i, cell in enumerate(heads))
    body = "".join(f"<tr>{_cells(row, left)}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(label)}">'
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cells(row: Sequence[str], left: int) -> str:
    first = f'<th scope="row">{row[0]}</th>'
    return first + "".join(
        f"<td{_right(i, left)}>{cell}</td>" for i, cell in enumerate(row[1:], start=1)
    )


def _right(column: int, left: int) -> str:
    return "" if column < left else ' class="r"'


def card(
    title: str, *parts: str, name: str = "", badge: str = "", wide: str = "", tip: str = ""
) -> str:
    """A section with a head, an optional anchor, badge, width class and explanation."""
    anchor = f' id="{name}"' if name else ""
    mark = f'<span class="badge badge--accent">{badge}</span>' if badge else ""
    return (
        f'<section class="card {wide}"{anchor}><div class="card__head"><h2>{text(title)}{tip}</h2>'
        f"{mark}</div>{''.join(parts)}</section>"
    )


def stack(name: str, cards: Iterable[str]) -> str:
    """Cards below each other under one anchor."""
    return f'<div id="{name}" class="stack">{"".join(cards)}</div>'


def quiet(words: str) -> str:
    """A line of small print; ``words`` is markup."""
    return f'<p class="small quiet">{words}</p>'
