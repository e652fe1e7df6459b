"""Field metadata that the serialiser reads."""

INLINE = {"inline": True}
"""Metadata of a field whose keys belong to the record around it."""

OPTIONAL = {"optional": True}
"""Metadata of a field that is left out of the JSON while it is None."""


def key(name: str) -> dict[str, str]:
    """Return metadata that stores a field under another key."""
    return {"key": name}
