"""study.toml: the name of a study and its settings, each value checked."""

import difflib
import re
import tomllib
import unicodedata
from dataclasses import replace
from typing import Any

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.study import SETTINGS as STUDY_SETTINGS
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.bundle import GUIDELINES, SETTINGS, Files, ImportedHead
from topkapi.app.services.importing.kinds import ROLES
from topkapi.app.services.importing.problems import Location, Problems
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.setting_values import setting_value
from topkapi.app.services.values import BadValue, kind_of, one_line, shown, text_value

_OTHERS = ("name", "slug", "files")
FILE_SETTINGS = (*_OTHERS, *STUDY_SETTINGS)
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


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

    def _files(self) -> Files:
        table = self._table.get("files", {})
        if not isinstance(table, dict):
            self._add("files", f"This is {kind_of(table)}, not a table.", "Write [files].")
            return {}
        by_role: dict[str, tuple[str, ...]] = {}
        for role, given in table.items():
            paths = [given] if isinstance(given, str) else given
            if role not in ROLES:
                self._add(
                    f"files.{role}", "There is no such role.", f"Known roles: {', '.join(ROLES)}."
                )
            elif not _is_paths(paths) or (len(paths) != 1 and not ROLES[role].folder):
                self._add(f"files.{role}", f"{shown(given)} is not a file name.", "Name one file.")
            else:
                by_role[role] = tuple(paths)
        return by_role

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
            return StudySettings(**values)
        except Invalid as error:
            self._add(error.field or "settings", str(error), "")
            return None


def _is_paths(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
