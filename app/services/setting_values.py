"""Values of study settings as files, forms and the API give them: the right type, or BadValue."""

from typing import Any

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import SETTINGS as STUDY_SETTINGS
from topkapi.app.domain.study import Grade
from topkapi.app.services.values import BadValue, kind_of, shown, text_value

_KIND_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
_MAX_GRADE, _MAX_DESCRIPTION = 40, 1000  # characters


def setting_value(name: str, value: Any) -> Any:
    """Return the value of a setting as `StudySettings` takes it; raise BadValue if unusable."""
    if name == "tools":
        return _tools(value)
    if name == "grades":
        return _grades(value)
    kind = STUDY_SETTINGS[name].kind
    if value is None and STUDY_SETTINGS[name].optional:
        return None
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        quoted = ", without quotation marks" if isinstance(value, str) else ""
        fix = f"Use {_KIND_NAMES[kind]}{quoted}."
        raise BadValue(name, f"{name} is {kind_of(value)}: {shown(value)}.", fix)
    return value


def _tools(value: Any) -> tuple[Tool, ...]:
    given = value if isinstance(value, list | tuple) else [value]
    wrong = [tool for tool in given if tool not in list(Tool)]
    if wrong or given is not value:
        known = ", ".join(repr(tool.value) for tool in Tool)
        what = f"{shown(wrong[0])} is not a tool." if wrong else f"This is {kind_of(value)}."
        raise BadValue("tools", what, f"Choose from {known}.")
    return tuple(Tool(tool) for tool in value)


def _grades(value: Any) -> tuple[Grade, ...]:
    if not isinstance(value, list | tuple):
        raise BadValue("grades", f"This is {kind_of(value)}.", "Use a list, from worst to best.")
    return tuple(_grade(each) for each in value)


def _grade(value: Any) -> Grade:
    grade = {"name": value} if isinstance(value, str) else value
    if not isinstance(grade, dict) or not set(grade) <= {"name", "description"}:
        raise BadValue(
            "grades",
            f"{shown(value)} is not a grade.",
            "A grade has a name and optionally a description.",
        )
    name = text_value(grade.get("name"), "grades", _MAX_GRADE, required=True)
    return Grade(name, text_value(grade.get("description"), "grades", _MAX_DESCRIPTION))
