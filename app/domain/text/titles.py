"""The title that lists show for a document."""

FIRST_WORDS = 80  # characters of the text that stand for a missing title


def shown_title(title: str, text: str | None, name: str) -> str:
    """Return the title, or else the first words of the text, or else the name.

    >>> shown_title("", "  Keep tulips \\n in cold water. ", "d7")
    'Keep tulips in cold water.'
    """
    return title or " ".join((text or "")[:FIRST_WORDS].split()) or name
