"""Conversion of a study's settings to and from a form."""

from collections.abc import Callable
from typing import Any

from topkapi.app.db.models import Study
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.goal import Goal
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.studies.edit_study import version_of
from topkapi.app.web.people.forms import SettingsForm

_FLAGS = (
    *("allow_ties", "allow_bad", "reuse_answers", "infer_transitive"),
    *("lists_in_rotation", "lists_repeats"),
)
_NUMBERS = ("k", "best_of", "recheck", "pair_limit", "attention_every")


def form_of(study: Study) -> SettingsForm:
    """Return the current settings as a filled-in form."""
    s = StudySettings.from_json(study.settings)
    values: dict[str, Any] = {name: getattr(s, name) for name in _FLAGS}
    values |= {name: str(getattr(s, name)) for name in _NUMBERS}
    return SettingsForm(
        seen=version_of(study),
        name=study.name,
        idle_seconds=str(s.idle_seconds),
        rest_minutes=_typed(s.rest_minutes),
        grades="\n".join(f"{g.name}: {g.description}".rstrip(": ") for g in s.grades),
        tools=[tool.value for tool in s.tools],
        sorter=s.sorter,
        goal=s.goal,
        check_per_cent=_typed(round(100 * s.check_share, 6)),
        budget=_typed(s.budget),
        stop_at=_typed(s.stop_at),
        lists_pairs=s.lists_pairs,
        lists_size=_typed(s.lists_size),
        **values,
    )


def settings_in(form: SettingsForm) -> dict[str, Any]:
    """Return the typed settings by name; raise Invalid naming a field that is not a number."""
    found: dict[str, Any] = {"idle_seconds": _whole(form.idle_seconds, "Pause after")}
    rest = form.rest_minutes.strip()
    found["rest_minutes"] = _whole(rest, "Rest after") if rest else None
    found["grades"] = [_grade(line) for line in form.grades.splitlines() if line.strip()]
    if not form.whole:
        return found
    found |= {name: getattr(form, name) for name in _FLAGS}
    labels = {"k": "Top k", "best_of": "Best of", "recheck": "Passes", "pair_limit": "Pair limit"}
    labels["attention_every"] = "Gold pair every"
    found |= {name: _whole(getattr(form, name) or "0", labels[name]) for name in _NUMBERS}
    share = _read(form.check_per_cent or "0", "Checks", float, "a number")
    return found | {
        "tools": form.tools,
        "sorter": form.sorter,
        "goal": form.goal or Goal.ORDER.value,
        "check_share": round(share / 100, 8),
        "budget": _whole(form.budget, "Budget") if form.budget.strip() else None,
        "stop_at": _read(form.stop_at, "Stop at", float, "a number")
        if form.stop_at.strip()
        else None,
        "lists_pairs": form.lists_pairs,
        "lists_size": _whole(form.lists_size, "Pairs of lists")
        if form.lists_size.strip()
        else None,
    }


def _grade(line: str) -> dict[str, str]:
    name, _, description = line.partition(":")
    return {"name": name.strip(), "description": description.strip()}


def _whole(text: str, label: str) -> int:
    return int(_read(text, label, int, "a whole number"))


def _read(text: str, label: str, kind: Callable[[str], float], wanted: str) -> float:
    try:
        return kind(text.strip())
    except ValueError:
        raise Invalid(f"{label}: {text.strip()!r} is not {wanted}.", field=label) from None


def _typed(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
