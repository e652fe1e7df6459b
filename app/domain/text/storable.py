"""Which texts and numbers both databases can store."""

MOST = 2**63 - 1  # the largest integer that a database stores


def unfit_character(text: str) -> str | None:
    """Return the first character that cannot be stored: NUL, or a lone surrogate."""
    if "\0" in text:
        return "\0"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return text[error.start]
    return None


def fits_integer(number: int) -> bool:
    """Return whether ``number`` is within 64 bits."""
    return -MOST - 1 <= number <= MOST


def storable(text: str) -> str:
    """Replace each character that cannot be stored by U+FFFD."""
    if unfit_character(text) is None:
        return text
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


def problem_with(value: object) -> str | None:
    """Return why ``value`` or an element of it cannot be stored; None if it can."""
    if isinstance(value, str):
        unfit = unfit_character(value)
        return None if unfit is None else f"contains the character U+{ord(unfit):04X}; remove it"
    if isinstance(value, int):
        return None if fits_integer(value) else "is too large; numbers have at most 64 bits"
    if isinstance(value, float):
        return None if value - value == 0 else "is not a finite number"
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return next((problem for each in value if (problem := problem_with(each))), None)
    return None
