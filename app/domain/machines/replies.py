"""What a model is asked to reply, and what a reply says; an unreadable reply says nothing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_FENCES = ("```json", "```")


class ReplyForm(StrEnum):
    """How a reply is asked for, from the strictest form to the plainest."""

    SCHEMA = "schema"
    OBJECT = "object"
    WORD = "word"

    @property
    def sentence(self) -> str:
        """The sentence of a prompt that asks for this form; ``{values}`` are the answers."""
        if self is ReplyForm.WORD:
            return "Reply with one of these words and nothing else: {values}."
        return (
            'Reply with a JSON object and nothing else, such as {example}. "answer" is one of: '
            '{values}. "confidence" is how sure you are, in percent.'
        )


@dataclass(frozen=True, slots=True)
class ReadReply:
    """An answer that was asked for, and the stated confidence from 0 to 1, if there is one."""

    answer: str
    confidence: float | None = None


def asked_for(form: ReplyForm, values: Sequence[str]) -> str:
    """Return the sentence that tells a model how to reply."""
    example = json.dumps({"answer": values[0], "confidence": 75})
    named = ", ".join(values)
    return form.sentence.replace("{example}", example).replace("{values}", named)


def schema_of(values: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    return {
        "type": "object",
        "properties": {
            "answer": {"type": "string", "enum": list(values)},
            "confidence": {"type": "integer"},
        },
        "required": ["answer", "confidence"],
        "additionalProperties": False,
    }


def read_reply(text: str, form: ReplyForm, values: Sequence[str]) -> ReadReply | None:
    """Return what a reply says; None unless it is exactly what was asked for."""
    if form is ReplyForm.WORD:
        return _of_values(text.strip().strip(".\"'`"), values, None)
    try:
        found = json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return _of_values(found.get("answer"), values, found.get("confidence"))


def _unfenced(text: str) -> str:
    """Return the text without the marks that many models put around JSON."""
    text = text.strip()
    for fence in _FENCES:
        if text.startswith(fence) and text.endswith("```") and len(text) >= len(fence) + 3:
            return text[len(fence) : -3]
    return text


def _of_values(answer: object, values: Sequence[str], confidence: object) -> ReadReply | None:
    by_name = {value.lower(): value for value in values}
    if not isinstance(answer, str | int) or isinstance(answer, bool):
        return None
    value = by_name.get(str(answer).strip().lower())
    if value is None:
        return None
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not is_number:
        return ReadReply(value)
    assert isinstance(confidence, int | float)
    return ReadReply(value, confidence / 100 if 0 <= confidence <= 100 else None)
