"""The digest that identifies a plan."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def plan_digest(plan: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a plan's canonical JSON.

    Equal for equal plans, also after a round trip through either database: keys are sorted, and a
    whole number is the same with and without a decimal point.
    """
    stored = json.loads(json.dumps(plan))
    text = json.dumps(_canonical(stored), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_canonical(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
