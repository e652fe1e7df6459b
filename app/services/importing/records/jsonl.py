"""JSON Lines: one object per line, parsed strictly."""

import json
from collections import Counter
from typing import Any

from topkapi.app.services.importing.problems import Location, Problems
from topkapi.app.services.importing.records.values import BadValue, kind_of


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise BadValue(
            twice[:50], "The field appears twice in one object.", "Remove one of the two."
        )
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_object)


def json_object(location: Location, line: str, problems: Problems) -> dict[str, Any] | None:
    """Parse the object on ``line``; return None after adding a problem."""
    try:
        record = DECODER.decode(line)
    except BadValue as error:
        problems.add(location, error.field, error.problem, error.fix)
        return None
    except (ValueError, RecursionError) as error:
        at = f" at character {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        problems.add(
            location, None, f"This is not JSON{at}: {reason}.", "Write one object per line."
        )
        return None
    if not isinstance(record, dict):
        problems.add(
            location,
            None,
            f"This is {kind_of(record)}, not an object.",
            "Write one object per line.",
        )
        return None
    return record
