"""Formats of numbers, times and Markdown in pages."""

from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from topkapi.app.db.base import now
from topkapi.app.domain.addresses import is_erased
from topkapi.app.domain.shortcuts import cap_of
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits


def clock(ms: int) -> str:
    """Format milliseconds as a clock: 12:47, or 1:02:03."""
    seconds = ms // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    rest = f"{minutes:02}:{seconds % 60:02}"
    return f"{hours}:{rest}" if hours else rest


def spell_duration(ms: int) -> str:
    """Format milliseconds as a rounded duration: 9 minutes, 2 hours 10 minutes."""
    minutes = max(1, round(ms / 60_000))
    if minutes < 60:
        return counted(minutes, "minute")
    tens = round(minutes / 10) * 10
    hours, rest = divmod(tens, 60)
    return counted(hours, "hour") + (f" {rest} minutes" if rest else "")


def spell_time(ms: int) -> str:
    """Format milliseconds with units, to the second: 5 min 5 s, 1 h 2 min."""
    seconds = ms // 1000
    parts = {"h": seconds // 3600, "min": seconds // 60 % 60, "s": seconds % 60}
    shown = [f"{number} {unit}" for unit, number in parts.items() if number]
    return " ".join(shown[:2]) or "0 s"


def ago(moment: datetime, present: datetime | None = None) -> str:
    """Format the time since ``moment``: just now, 3 hours ago."""
    seconds = ((present or now()) - moment).total_seconds()
    if seconds < 90:
        return "just now"
    for length, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= length:
            return f"{counted(int(seconds // length), word)} ago"
    raise AssertionError("ninety seconds are more than a minute")


def percent(share: float) -> str:
    """Format a fraction as an SVG attribute: 46.3%."""
    return f"{100 * min(1.0, max(0.0, share)):.1f}%"


def initials(name: str) -> str:
    """Return the first letters of the first and the last word of a name."""
    parts = name.split()
    letters = [parts[0][0], parts[-1][0]] if len(parts) > 1 else [name[:1]]
    return "".join(letters).upper()


def without_scheme(url: str) -> str:
    """Return an address without its scheme and trailing slash."""
    return url.partition("://")[2].rstrip("/") or url


def grouped(number: int) -> str:
    """Format a number with a thin space between thousands: 1 104."""
    return f"{number:,}".replace(",", "\N{THIN SPACE}")


def counted(number: int, word: str, plural: str = "") -> str:
    """Format a number with its noun: 1 query, 1 104 queries."""
    return f"{grouped(number)} {word if number == 1 else plural or word + 's'}"


def counted_cell(number: int, word: str, plural: str = "") -> Markup:
    """Format a number with its noun, which is shown where the table has no heads."""
    figure, _, noun = counted(number, word, plural).partition(" ")
    return Markup('{}<span class="unit"> {}</span>').format(figure, noun)


def seconds(ms: float) -> str:
    """Format milliseconds as seconds with one decimal: 17.6 s."""
    return f"{ms / 1000:.1f}\N{NO-BREAK SPACE}s"


def per_cent(share: float) -> str:
    """Format a fraction as a percentage in text: 57.5 %."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def day_and_time(moment: datetime) -> str:
    """Format a time in UTC for a table: 15 Nov 2026, 14:06."""
    return f"{moment.day} {moment:%b %Y, %H:%M}"


def day(when: date) -> str:
    """Return a date such as 3 Dec, with the year if it is another one."""
    text = f"{when.day} {when:%b}"
    return text if when.year == now().year else f"{text} {when.year}"


@cache
def _renderer() -> MarkdownIt:
    # HTML inside Markdown is escaped; links with dangerous schemes are not rendered as links.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def is_bounded(source: str) -> bool:
    """Return whether a text is parsed in about a second; unclosed brackets take the longest."""
    return len(source) <= limits.MAX_MARKDOWN and source.count("[") <= limits.MAX_BRACKETS


def to_html(source: str) -> str:
    """Return safe HTML for a Markdown text."""
    return str(_renderer().render(source))


FILTERS: dict[str, Callable[..., Any]] = {
    "clock": clock,
    "is_erased": is_erased,
    "cap": cap_of,
    "spell_duration": spell_duration,
    "spell_time": spell_time,
    "ago": ago,
    "percent": percent,
    "initials": initials,
    "without_scheme": without_scheme,
    "grouped": grouped,
    "counted": counted,
    "counted_cell": counted_cell,
    "seconds": seconds,
    "per_cent": per_cent,
    "day": day,
    "day_and_time": day_and_time,
    "format_size": format_size,
    "markdown": to_html,
}
