"""Keys of the judging page: the actions, their default keys, and a person's own keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase

from topkapi.app.domain.errors import Invalid

_ARROWS = {"ArrowLeft": "←", "ArrowRight": "→"}
_CAPS = {
    **_ARROWS,
    **{f"Shift+{key}": f"⇧{cap}" for key, cap in _ARROWS.items()},
    "Plus": "+",  # its name in aria-keyshortcuts
}
# Digits from 1 to 8 are grades; in lists, digits open results. Arrow up and down, Space, F6 and Esc
# always do the same.
KEYS = (*_CAPS, *ascii_uppercase, "9", "0", "?", ",", ".", ";", "/", "-", "=", "[", "]")
_FREE = (*ascii_uppercase, ";", "/", "-", "=", "[", "]")


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a key does, with its default key.

    Templates read its key as ``keys.<name>``: no method of dictionaries may have that name.
    """

    name: str
    label: str
    key: str


ACTIONS = (
    Action("left", "Left is better", "ArrowLeft"),
    Action("right", "Right is better", "ArrowRight"),
    Action("tie", "Tie, or the same", "T"),
    Action("strong_left", "Left is bad, or left much better", "Shift+ArrowLeft"),
    Action("strong_right", "Right is bad, or right much better", "Shift+ArrowRight"),
    Action("broken_left", "Cannot judge left", "9"),
    Action("broken_right", "Cannot judge right, or the page", "0"),
    Action("down", "Scroll down", "J"),
    Action("up", "Scroll up", "K"),
    Action("switch", "Switch to the other page", "S"),
    Action("link", "Link scrolling", "L"),
    Action("fit", "Fit wide pages to the width", "W"),
    Action("text", "Show a page as text", "V"),
    Action("differences", "Mark the differences of nearly equal pages", "C"),
    Action("larger", "Larger text", "Plus"),
    Action("smaller", "Smaller text", "-"),
    Action("find", "Find in the pages", "F"),
    Action("next_hit", "Next hit, or next result", "."),
    Action("previous_hit", "Previous hit, or previous result", ","),
    Action("highlight", "Highlight another term", "H"),
    Action("mark", "Mark the selected text", "M"),
    Action("undo", "Undo", "U"),
    Action("redo", "Redo", "R"),
    Action("pause", "Pause and resume", "P"),
    Action("note", "Note", "N"),
    Action("details", "Details of the query", "D"),
    Action("guidelines", "Guidelines", "G"),
    Action("history", "History", "Y"),
    Action("flag", "Flag this question", "X"),
    Action("help", "Help", "?"),
)
_DEFAULTS = {action.name: action.key for action in ACTIONS}
_LABELS = {action.name: action.label for action in ACTIONS}


def cap_of(key: str) -> str:
    """Return what a key cap shows.

    >>> cap_of("Shift+ArrowLeft"), cap_of("T")
    ('⇧←', 'T')
    """
    return _CAPS.get(key, key)


def keys_of(chosen: Mapping[str, str] | None) -> dict[str, str]:
    """Return the key of every action: the person's own, else the default.

    An action added after the person chose may find its default taken; it gets the first free key.

    >>> keys_of({"undo": "M"})["undo"], keys_of({"undo": "M"})["mark"]
    ('M', 'A')
    """
    own = {name: key for name, key in (chosen or {}).items() if name in _DEFAULTS}
    keys = {**_DEFAULTS, **own}
    for name in keys:
        if name not in own and keys[name] in own.values():
            keys[name] = next(key for key in _FREE if key not in keys.values())
    return keys


def chosen_keys(wanted: Mapping[str, str]) -> dict[str, str]:
    """Check a choice of keys and return those that differ from the defaults.

    Raises `Invalid` if a key cannot be used, or if two actions share one.
    """
    keys = keys_of(wanted)
    actions: dict[str, str] = {}
    for name, key in keys.items():
        if key not in KEYS:
            raise Invalid(f"“{_LABELS[name]}” cannot use the key {key!r}.", field=name)
        if key in actions:
            raise Invalid(
                f"“{_LABELS[actions[key]]}” and “{_LABELS[name]}” both use {cap_of(key)}. "
                "Choose another key for one of them.",
                field=name,
            )
        actions[key] = name
    return {name: key for name, key in keys.items() if key != _DEFAULTS[name]}
