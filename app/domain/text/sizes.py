"""Numbers of bytes as text, by one rule: units of 1024, as the limits on imports are set."""

_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "kB"))


def format_size(size: int) -> str:
    """Return a number of bytes with three significant digits: 4.01 MB."""
    for unit, name in _UNITS:
        if size >= unit:
            number = size / unit
            return f"{number:.0f} {name}" if number >= 100 else f"{number:.3g} {name}"
    return "1 byte" if size == 1 else f"{size} bytes"
