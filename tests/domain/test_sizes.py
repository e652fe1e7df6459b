"""Sizes as text."""

from tests.cases import each_case
from topkapi.app.domain.text.sizes import format_size


@each_case(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1 kB"),
        (4_200_000, "4.01 MB"),
        (1_047_000, "1022 kB"),
        (64 * 1024**2, "64 MB"),
        (2 * 1024**3, "2 GB"),
    ],
)
def test_sizes_have_units_of_1024_and_three_digits(size: int, text: str) -> None:
    assert format_size(size) == text
