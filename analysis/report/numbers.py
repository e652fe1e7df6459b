"""Numbers as the page prints them."""

from typing import Literal

THIN = "\u202f"  # narrow no-break space
Form = Literal["number", "percent", "points", "p"]


def whole(value: float) -> str:
    """Format a count with thin spaces between thousands."""
    return f"{round(value):,}".replace(",", THIN)


def counted(value: int, one: str, many: str = "") -> str:
    """Format a count with its noun.

    >>> counted(1, "query", "queries"), counted(2, "page")
    ('1 query', '2 pages')
    """
    return f"{whole(value)} {one if value == 1 else many or one + 's'}"


def percent(value: float) -> str:
    """Format a share in per cent with one decimal."""
    return decimals(100 * value, 1) + f"{THIN}%"


def decimals(value: float, digits: int = 3) -> str:
    """Format a number with fixed decimals and a true minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def points(value: float) -> str:
    """Format a difference of shares in percentage points, with its sign."""
    return ("+" if value > 0 else "") + decimals(100 * value, 1)


def p_value(value: float) -> str:
    """Format a probability, never as 0."""
    return f"<{THIN}0.0001" if value < 0.0001 else f"{value:.4f}"


def formatted(value: float, form: Form, digits: int = 3) -> str:
    """Format a number in one of the forms."""
    if form == "number":
        return decimals(value, digits)
    return {"percent": percent, "points": points, "p": p_value}[form](value)
