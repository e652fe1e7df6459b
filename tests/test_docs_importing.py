"""The import guide names every accepted name, setting and option."""

import re

from tests.documentation import DOCS
from topkapi.app.services.importing.naming import ROLES
from topkapi.app.services.importing.records.names import FIELD_NAMES
from topkapi.app.services.importing.settings import FILE_SETTINGS

GUIDE = (DOCS / "importing.md").read_text()
CODE = set(re.findall(r"`([^`\n]+)`", GUIDE))


def test_every_file_name_is_in_the_guide() -> None:
    assert {name for names in ROLES.values() for name in names} <= CODE


def test_every_name_of_a_field_is_in_the_guide() -> None:
    names = {name for aliases in FIELD_NAMES.values() for name in aliases}
    names |= {
        other for aliases in FIELD_NAMES.values() for found in aliases.values() for other in found
    }
    assert names <= CODE


def test_every_setting_is_in_the_documentation() -> None:
    settings = (DOCS / "studies.md").read_text()
    assert all(f"`{name}`" in settings for name in FILE_SETTINGS if name != "files")
