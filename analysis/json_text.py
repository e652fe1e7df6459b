"""The text of saved models and gains."""

import json
from typing import Any


def json_text(document: dict[str, Any]) -> str:
    """Return a document as indented JSON with a final newline."""
    return json.dumps(document, indent=1) + "\n"
