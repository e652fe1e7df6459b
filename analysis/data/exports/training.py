"""``triplets.jsonl`` and ``conversations.jsonl``: preferences as training libraries read them."""

import json
from collections.abc import Iterable, Iterator

from topkapi.analysis.data.exports.records import PreferencePair


def triplet_lines(records: Iterable[PreferencePair]) -> Iterator[str]:
    r"""Yield triplets for sentence-transformers: anchor, positive, negative.

    >>> list(triplet_lines([PreferencePair("q?", "yes", "no", "q1", "d3", "d7", "ansa")]))
    ['{"anchor": "q?", "positive": "yes", "negative": "no"}\n']
    """
    for each in records:
        texts = {"anchor": each.prompt, "positive": each.chosen, "negative": each.rejected}
        yield json.dumps(texts, ensure_ascii=False) + "\n"


def conversation_lines(records: Iterable[PreferencePair]) -> Iterator[str]:
    """Yield preferences in TRL's conversational form: messages with a role and content."""
    for each in records:
        messages = {
            "prompt": [{"role": "user", "content": each.prompt}],
            "chosen": [{"role": "assistant", "content": each.chosen}],
            "rejected": [{"role": "assistant", "content": each.rejected}],
        }
        yield json.dumps(messages, ensure_ascii=False) + "\n"
