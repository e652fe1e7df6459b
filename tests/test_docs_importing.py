"""The import guide names every accepted name of a file or a field."""

import re

from tests.documentation import DOCS
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
