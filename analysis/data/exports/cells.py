"""Cells of tables: formulas are escaped on writing and restored on reading."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from topkapi.analysis.data.exports.files import read_text
from topkapi.analysis.errors import BadData

# What a spreadsheet may take for a formula: a sign, in either width, behind anything it may drop
# (blanks, controls, quotes). A quote at the beginning would open a quoted cell in any case, and an
# apostrophe would be taken for ours.
_RUN = re.compile(
    r"""
    ['"\t\r\n]
    | [\s\0-\x20\x7f-\xa0\u200b-\u200f\u2060\ufeff'"“”＂＇]* [=+\-@＝＋－＠﹦﹢﹣﹫−]
    """,
    re.VERBOSE,
)
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_TABLE = str.maketrans(_ESCAPES)
_PLAIN = {escaped[1]: char for char, escaped in _ESCAPES.items()}


def guarded(cell: str) -> str:
    r"""Put an apostrophe before a sign that makes a spreadsheet run the cell.

    >>> guarded("=1+1"), guarded("'twas"), guarded("tulips"), guarded('"=1+1"')
    ("'=1+1", "''twas", 'tulips', '\'"=1+1"')
    """
    return f"'{cell}" if _RUN.match(cell) else cell


def unguarded(cell: str) -> str:
    """Undo :func:`guarded`."""
    return cell.removeprefix("'")


def csv_cell(value: object) -> str:
    """Format a cell of comma-separated values: text guarded, numbers as they are, None empty."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    cell = guarded(value)
    quote = any(char in cell for char in ',"\r\n')
    return '"' + cell.replace('"', '""') + '"' if quote else cell


def csv_line(cells: Sequence[object]) -> str:
    r"""Format one line of comma-separated values.

    >>> csv_line(["a", "b, c", "=d"])
    'a,"b, c",\'=d\n'
    """
    return ",".join(map(csv_cell, cells)) + "\n"


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    r"""Rows as comma-separated values: numbers as they are, None as an empty cell, text guarded.

    >>> csv_text([("assessor", "x"), ("=1", -1.5), (None, 2)])
    "assessor,x\n'=1,-1.5\n,2\n"
    """
    return "".join(map(csv_line, rows))


def read_csv(
    path: str | Path, header: Sequence[str], former: Sequence[str] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Yield location and cells of each row after checking the header.

    Files of an earlier version may have the header ``former``.
    """
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        for number, row in enumerate(reader):
            location = f"{path}, line {reader.line_num}"
            cells = [unguarded(cell) for cell in row]
            if number == 0:
                header = header if former is None or cells != list(former) else former
                _check_header(cells, header, location)
            elif cells:
                yield location, _wide(cells, header, location)
    except csv.Error as error:
        raise BadData(f"{path}, line {reader.line_num}: {error}") from None


def tsv_line(cells: Sequence[str]) -> str:
    r"""Format one line of tab-separated values.

    Tabs, line ends and backslashes are escaped.

    >>> tsv_line(["a", "b\tc"])
    'a\tb\\tc\n'
    """
    return "\t".join(guarded(cell).translate(_TABLE) for cell in cells) + "\n"


def read_tsv(path: str | Path, header: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield location and cells of each row after checking the header."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        location = f"{path}, line {number}"
        line = line.removesuffix("\r")
        cells = [unguarded(_unescaped(cell, location)) for cell in line.split("\t")]
        if number == 1:
            _check_header(cells, header, location)
        elif line:
            yield location, _wide(cells, header, location)


def whole(cell: str, location: str) -> int:
    """Parse a cell as a whole number."""
    try:
        return int(cell)
    except ValueError:
        raise BadData(f"{location}: {cell!r} is not a whole number") from None


def _unescaped(cell: str, location: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1] not in _PLAIN:
            raise BadData(
                f"{location}: {found[0]!r} is not an escape sequence; write a backslash twice"
            )
        return _PLAIN[found[1]]

    return _ESCAPED.sub(plain, cell)


def _check_header(cells: Sequence[str], header: Sequence[str], location: str) -> None:
    if list(cells) != list(header):
        raise BadData(f"{location}: the header is not {' '.join(header)}")


def _wide(cells: list[str], header: Sequence[str], location: str) -> list[str]:
    if len(cells) != len(header):
        raise BadData(f"{location}: {len(cells)} columns, expected {len(header)}")
    return cells
