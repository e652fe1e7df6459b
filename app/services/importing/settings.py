"""study.toml: the name of a study and its settings, each value checked."""

import difflib
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.sorters.registry import require_sorter
from topkapi.app.domain.study import SETTINGS as STUDY_SETTINGS
from topkapi.app.domain.study import Grade, StudySettings
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.layout import GUIDELINES, SETTINGS, Named
from topkapi.app.services.importing.naming import ROLES
from topkapi.app.services.importing.problems import BadValue, Location, Problems
from topkapi.app.services.importing.records.values import kind_of, one_line, shown, text_value
from topkapi.app.services.importing.sources.reader import Reader

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


_OTHERS = ("name", "slug", "files")
FILE_SETTINGS = (*_OTHERS, *STUDY_SETTINGS)
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class ImportedHead:
    """A study without its content: name, guidelines and settings."""

    name: str
    slug: str
    guidelines: str
    settings: StudySettings
    files: Named
    location: Location
    lines: Mapping[str, int] = field(default_factory=dict)  # of study.toml, by setting

    def where(self, name: str) -> Location:
        """Return where a field of the head is written."""
        if name == "guidelines":
            return Location(GUIDELINES)
        return Location(self.location.file, self.lines.get(name, 0))


def read_head(reader: Reader) -> ImportedHead | None:
    """Read study.toml and guidelines.md; return None after adding problems.

    Without a study.toml, or a name in it, the study is named after its folder.
    """
    files = reader.source.files
    guidelines = reader.text(GUIDELINES) if GUIDELINES in files else ""
    if "\0" in guidelines:
        reader.problems.add(
            Location(GUIDELINES), None, "The file contains a NUL character.", "Remove it."
        )
    usual = replace(head_of_file(reader.source.name), guidelines=guidelines)
    if SETTINGS not in files:
        return usual
    text = reader.text(SETTINGS)
    parsed = _parsed(text, reader.problems)
    if parsed is None:
        return None
    return _Head(text, {"name": usual.name, **parsed}, reader.problems).read(guidelines)


def head_of_file(name: str) -> ImportedHead:
    """Return the head of a single-file study: named after the file, with default settings."""
    stem = name.split(".")[0] or name
    return ImportedHead(
        stem[: limits.MAX_NAME], slug_of(stem), "", StudySettings(), {}, Location(name)
    )


def under_name(
    head: ImportedHead, name: str | None, slug: str | None, problems: Problems
) -> ImportedHead:
    """Return the head under another name and slug, where these are given."""
    if name is not None:
        try:
            one_line(name.strip(), "name")
        except BadValue as error:
            problems.add_value(head.location, error)
        head = replace(head, name=name.strip()[: limits.MAX_NAME])
        if not head.lines:  # the slug was made from a file name
            head = replace(head, slug=slug_of(name))
    if slug is not None and (not _SLUG.fullmatch(slug) or len(slug) > limits.MAX_SLUG):
        problems.add(
            head.location,
            "slug",
            f"{shown(slug)} cannot be part of an address.",
            f"Use lower-case letters, digits and hyphens, at most {limits.MAX_SLUG}.",
        )
    return head if slug is None else replace(head, slug=slug)


def slug_of(name: str) -> str:
    """Return the slug made from a study's name."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = "-".join(re.findall(r"[a-z0-9]+", ascii_only.lower()))
    return slug[: limits.MAX_SLUG].strip("-") or "study"


def _parsed(text: str, problems: Problems) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        at = _AT_LINE.search(str(error))
        location = Location(SETTINGS, int(at[1]) if at else 0)
        reason = _AT_LINE.sub("", str(error)).strip()
        problems.add(
            location,
            None,
            f"This is not TOML: {reason}.",
            "Correct the line; texts need quotation marks.",
        )
        return None


class _Head:
    """Reads the table; adds a problem for each wrong value and continues."""

    def __init__(self, text: str, table: dict[str, Any], problems: Problems) -> None:
        self._lines = text.splitlines()
        self._table = table
        self._problems = problems

    def read(self, guidelines: str) -> ImportedHead | None:
        before = len(self._problems)
        for key in self._table:
            if key not in STUDY_SETTINGS and key not in _OTHERS:
                known = sorted((*STUDY_SETTINGS, *_OTHERS))
                near = difflib.get_close_matches(key, known, 3)
                fix = f"Did you mean {' or '.join(near)}?" if near else ""
                fix = fix or f"Known settings: {', '.join(known)}."
                self._add(key, "There is no such setting.", fix)
        name, files, settings = self._name(), self._files(), self._settings()
        slug = self._slug(name)
        if settings is None or len(self._problems) > before:
            return None
        lines = {key: self._location(key).line for key in self._table}
        return ImportedHead(name, slug, guidelines, settings, files, Location(SETTINGS), lines)

    def _add(self, field: str, problem: str, fix: str = "") -> None:
        self._problems.add(self._location(field), field, problem, fix)

    def _location(self, field: str) -> Location:
        key = re.compile(rf"""\s*(?:\[+\s*)?["']?{re.escape(field.split(".")[0])}\b""")
        number = next((n for n, line in enumerate(self._lines, 1) if key.match(line)), 0)
        return Location(SETTINGS, number)

    def _name(self) -> str:
        try:
            name = text_value(self._table.get("name"), "name", limits.MAX_NAME, required=True)
            return one_line(name, "name")
        except BadValue as error:
            self._add(error.field, error.problem, error.fix)
            return ""

    def _slug(self, name: str) -> str:
        slug = self._table.get("slug", slug_of(name))
        if not isinstance(slug, str) or not _SLUG.fullmatch(slug) or len(slug) > limits.MAX_SLUG:
            self._add(
                "slug",
                f"{shown(slug)} cannot be part of an address.",
                f"Use lower-case letters, digits and hyphens, at most {limits.MAX_SLUG}.",
            )
        return str(slug)

    def _files(self) -> Named:
        table = self._table.get("files", {})
        if not isinstance(table, dict):
            self._add("files", f"This is {kind_of(table)}, not a table.", "Write [files].")
            return {}
        found: dict[str, tuple[str, ...]] = {}
        for role, given in table.items():
            paths = [given] if isinstance(given, str) else given
            if role not in ROLES:
                self._add(
                    f"files.{role}", "There is no such role.", f"Known roles: {', '.join(ROLES)}."
                )
            elif not _is_paths(paths) or (len(paths) != 1 and role != "rankings"):
                self._add(f"files.{role}", f"{shown(given)} is not a file name.", "Name one file.")
            else:
                found[role] = tuple(paths)
        return found

    def _settings(self) -> StudySettings | None:
        before = len(self._problems)
        values: dict[str, Any] = {}
        for name in STUDY_SETTINGS:
            if name in self._table:
                try:
                    values[name] = setting_value(name, self._table[name])
                except BadValue as error:
                    self._add(error.field, error.problem, error.fix)
        if len(self._problems) > before:
            return None
        try:
            settings = StudySettings(**values)
            require_sorter(settings.sorter)
            return settings
        except Invalid as error:
            self._add(error.field or "settings", str(error), "")
            return None


def _is_paths(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
