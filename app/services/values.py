"""Single values of records and settings: each check returns the value or raises BadValue."""

import math
import re
from enum import StrEnum
from unicodedata import category

from topkapi.app.domain.text.storable import unfit_character
from topkapi.app.services.fence import limits

_ID = re.compile(r"[^\s\x00-\x1f\x7f\ud800-\udfff]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d)")
_SCHEMES = frozenset({"http", "https", "ftp", "urn", "doi"})

Features = dict[str, float]


class ProblemKind(StrEnum):
    """What a problem is, where the likely cause of a file's problems depends on it."""

    NOT_JSON = "not_json"
    ONE_COLUMN = "one_column"
    BLANK_IN_ID = "blank_in_id"
    NOT_UTF8 = "not_utf8"
    NOT_A_GRADE = "not_a_grade"
    NO_QUERY = "no_query"
    NO_DOCUMENT = "no_document"
    SWAPPED_IDS = "swapped_ids"
    OTHER = "other"


class BadValue(Exception):
    """A value that cannot be used: the field, what is wrong, and how to fix it."""

    def __init__(
        self, field: str, problem: str, fix: str = "", kind: ProblemKind = ProblemKind.OTHER
    ) -> None:
        super().__init__(f"{field}: {problem} {fix}")
        self.field, self.problem, self.fix, self.kind = field, problem, fix, kind


def identifier(value: object, field: str) -> str:
    """Return an id without blanks, which every export format can represent."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None or value == "":
        raise BadValue(field, "The id is missing.", "Add a text of one or more characters.")
    value = _text(value, field)
    if len(value) > limits.MAX_ID:
        raise BadValue(
            field, f"The id has {len(value)} characters.", f"Use at most {limits.MAX_ID}."
        )
    if not _ID.fullmatch(value):
        raise BadValue(
            field,
            f"The id {shown(value)} contains a blank or a control character.",
            "Use letters, digits and punctuation.",
            ProblemKind.BLANK_IN_ID,
        )
    return value


def text_value(value: object, field: str, most: int, *, required: bool = False) -> str:
    """Return a stripped text; a missing one is empty unless required."""
    if value is None and not required:
        return ""
    if value is None:
        raise BadValue(field, "The value is missing.", "Write a text.")
    value = _text(value, field)
    if required and not value.strip():
        raise BadValue(field, "The value is empty.", "Write a text.")
    if len(value) > most:
        raise BadValue(field, f"The text has {len(value):,} characters.", f"Use at most {most:,}.")
    _refuse_unfit(value, field)
    return value.strip()


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise BadValue(
            field, f"This is {kind_of(value)}, not a text.", "Put it in quotation marks."
        )
    return value


def _refuse_unfit(value: str, field: str) -> None:
    unfit = unfit_character(value)
    if unfit:
        raise BadValue(
            field, f"The text contains U+{ord(unfit):04X}, which cannot be stored.", "Remove it."
        )


def body(value: object, field: str) -> bytes:
    """Return the unchanged content of a page in UTF-8; nothing if it is blank."""
    value = _text(value, field)
    _refuse_unfit(value, field)
    return value.encode() if value.strip() else b""


def address(value: object, field: str) -> str:
    """Return the address of a page; only schemes that are safe in links are allowed."""
    url = text_value(value, field, limits.MAX_URL)
    scheme = _SCHEME.match(url)
    if scheme and scheme[1].lower() not in _SCHEMES:
        raise BadValue(
            field,
            f"An address with the scheme {scheme[1]!r} cannot be shown as a link.",
            "Use http or https, or remove the address.",
        )
    return url


def grade(value: object, field: str) -> int | None:
    """Return a known grade; None means unknown."""
    if value is None:
        return None
    if isinstance(value, str):
        value = _parsed_number(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, float) and math.isfinite(value):
        raise BadValue(
            field,
            f"The grade {value} is not a whole number.",
            "Round it, or multiply all grades by the same number.",
        )
    low, high = limits.GRADE_RANGE
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadValue(
            field,
            f"{shown(value)} is not a grade.",
            f"Use a whole number between {low} and {high}.",
            ProblemKind.NOT_A_GRADE,
        )
    return value


def _parsed_number(text: str) -> object:
    try:
        return number_of(text)
    except ValueError:
        return text


def number_of(text: str) -> float:
    """Parse a number as other programs do: without underscores, in ASCII; raise ValueError."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def one_line(text: str, field: str) -> str:
    """Return the text; refuse control characters and line breaks."""
    control = next((each for each in text if category(each) in ("Cc", "Zl", "Zp")), None)
    if control:
        raise BadValue(
            field, f"The text contains the control character U+{ord(control):04X}.", "Remove it."
        )
    return text


def features(value: object, field: str) -> Features | None:
    """Return features by name; a list is numbered from 1."""
    if value is None:
        return None
    if isinstance(value, list):
        value = {str(number): one for number, one in enumerate(value, start=1)}
    if not isinstance(value, dict):
        raise BadValue(
            field, f"This is {kind_of(value)}.", "Use an object of numbers, or a list of them."
        )
    if len(value) > limits.MAX_FEATURES:
        raise BadValue(
            field, f"There are {len(value):,} features.", f"Use at most {limits.MAX_FEATURES:,}."
        )
    return {_feature_name(name, field): _number(one, name, field) for name, one in value.items()}


def _feature_name(name: str, field: str) -> str:
    if not name.strip() or len(name) > limits.MAX_ID or unfit_character(name):
        raise BadValue(field, f"{shown(name)} cannot be the name of a feature.", "Rename it.")
    return name


def _number(value: object, name: str, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValue(
            field, f"Feature {name} is {shown(value)}, not a number.", "Use a finite number."
        )
    if (isinstance(value, int) and abs(value) > 2**53) or not math.isfinite(value):
        raise BadValue(field, f"Feature {name} is {value}.", "Use a finite number.")
    return value


def by_number(name: str) -> tuple[int, str]:
    """Return the sort key of names such as those of features: numbers by value, then the others."""
    return (int(name), name) if name.isascii() and name.isdigit() else (2**63, name)


def shown(value: object) -> str:
    """Return a value as part of a message, shortened."""
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:60] + "…" if len(text) > 60 else text)


def kind_of(value: object) -> str:
    """Return the type of a JSON or TOML value as a phrase."""
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value), "a list" if isinstance(value, list) else "an object")
