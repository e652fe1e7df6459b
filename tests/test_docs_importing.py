"""The import guide names every accepted name, setting and option."""

import json
import re

from tests.documentation import DOCS
from topkapi.app.domain.settings import Setting
from topkapi.app.domain.study import SETTINGS, Grade
from topkapi.app.services.importing.kinds import FIELD_NAMES, ROLES

GUIDE = (DOCS / "importing.md").read_text()
CODE = set(re.findall(r"`([^`\n]+)`", GUIDE))


def test_every_file_name_is_in_the_guide() -> None:
    assert {name for kind in ROLES.values() for name in kind.names} <= CODE


def test_every_name_of_a_field_is_in_the_guide() -> None:
    names = {name for aliases in FIELD_NAMES.values() for name in aliases}
    names |= {
        other for aliases in FIELD_NAMES.values() for found in aliases.values() for other in found
    }
    assert names <= CODE


def row_of(setting: Setting) -> str:
    """Return the row of a setting in the table of the documentation, made from its declaration."""
    bounds = f" {setting.range.capitalize()}." if setting.range else ""
    return f"| `{setting.name}` | {default_of(setting)} | {setting.help}{bounds} |"


def default_of(setting: Setting) -> str:
    if setting.default is None or setting.default == "":
        return "none"
    if isinstance(setting.default, tuple):
        names = (one.name if isinstance(one, Grade) else one for one in setting.default)
        return ", ".join(f"`{name}`" for name in names)
    return f"`{json.dumps(setting.default)}`"


def test_the_table_of_settings_is_that_of_their_declarations() -> None:
    table = re.findall(r"^\| `.*$", (DOCS / "studies.md").read_text(), re.M)
    own = [row for row in table if row.startswith(("| `name` ", "| `slug` "))]
    rows = [row_of(setting) for setting in SETTINGS.values()]
    start = table.index(own[0])
    assert table[start : start + len(own) + len(rows)] == own + rows
