"""Reader and writer of LETOR (SVMlight with ``qid:`` and ``#docid``) files, plain or gzip.

The reader hands blocks of lines to NumPy's number parser, so memory is that of the features and of
one block; only a file that fails there is read line by line to report the bad line.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby, pairwise
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import DTypeLike

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.tokens import LONGEST_NUMBER, Rows, read_rows
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray

_NAME = re.compile(rb"qid:([^\s:]+)")
_COMMENT = re.compile(rb"#[^\n]*")
_DOCID = re.compile(rb"docid[ \t]*=[ \t]*(\S+)")
_INDENT = re.compile(rb"^\s+", re.MULTILINE)
_PAIR = re.compile(r"(\d+):(\S+)")


_NULL = re.compile(rb":NULL\b", re.IGNORECASE)
_UNKNOWN = 9e307  # stands for NULL while a text is parsed
BLOCK = 2**25  # bytes of text to parse at a time
_MOST = 2**31  # feature values to hold in memory

Null = Literal["zero", "minimum"]


def read_letor(
    path: str | Path,
    *,
    n_features: int | None = None,
    topk: int | None = None,
    dtype: DTypeLike = np.float64,
    null: Null | None = None,
) -> RankingData:
    """Read one LETOR file, plain or gzip.

    Features left out of a row are 0.

    Parameters
    ----------
    path
        Plain or gzip file.
    n_features
        Number of features; the largest number in the file if None.
    topk
        k if labels are k + 1 - rank of a top-k ground truth; None where they are grades.
    dtype
        float64 or float32.
    null
        What ``NULL`` features become: ``zero``, or ``minimum``, the least value of the feature in
        the query (0 where the query has none). None refuses them.

    Raises
    ------
    BadData
        If a line is malformed; the message names it.
    """
    table = _Table(n_features, dtype, null)
    try:
        for block in _blocks(path):
            table.add(block)
        return table.data(topk)
    except _Fault:
        raise BadData(f"{path}: {_first_fault(_lines(path))}") from None
    except BadData as error:
        raise BadData(f"{path}: {error}") from None


def _blocks(path: str | Path) -> Iterator[bytes]:
    """Yield whole lines, about `BLOCK` bytes at a time."""
    rest = b""
    with Path(path).open("rb") as raw, ExitStack() as stack:
        packed = _is_packed(path)
        stream = stack.enter_context(gzip.GzipFile(fileobj=raw)) if packed else raw
        while chunk := _read(stream):
            end = chunk.rfind(b"\n") + 1
            if end:
                yield rest + chunk[:end]
                rest = b""
            rest += chunk[end:]
    if rest:
        yield rest


def _lines(path: str | Path) -> Iterator[bytes]:
    for block in _blocks(path):
        yield from block.removesuffix(b"\n").split(b"\n")


def _read(stream: BinaryIO | gzip.GzipFile) -> bytes:
    try:
        return stream.read(BLOCK)
    except (EOFError, OSError, zlib.error) as error:
        raise BadData(f"damaged gzip file ({error})") from None


def read_bytes(path: str | Path) -> bytes:
    """Read the whole content of a plain or gzip file."""
    whole = Path(path).read_bytes()
    try:
        return gzip.decompress(whole) if _is_packed(path) else whole
    except (EOFError, OSError, zlib.error) as error:
        raise BadData(f"{path}: damaged gzip file ({error})") from None


def _is_packed(path: str | Path) -> bool:
    with Path(path).open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def parse_letor(
    raw: bytes,
    *,
    n_features: int | None = None,
    topk: int | None = None,
    dtype: DTypeLike = np.float64,
    null: Null | None = None,
) -> RankingData:
    r"""Parse LETOR text.

    Parameters
    ----------
    raw
        Content of a LETOR file.
    n_features
        Number of features; the largest number in the text if None.
    topk
        k if labels are k + 1 - rank of a top-k ground truth; None where they are grades.
    dtype
        float64 or float32.
    null
        What ``NULL`` features become, as in :func:`read_letor`.

    Examples
    --------
    >>> data = parse_letor(b"2 qid:7 1:.5 3:1 #docid = A\n0 qid:7 2:1 #docid = B\n")
    >>> data.features.tolist(), data.query_ids, data.document_ids
    ([[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]], ('7',), ('A', 'B'))
    """
    table = _Table(n_features, dtype, null)
    try:
        table.add(raw)
        return table.data(topk)
    except _Fault:
        raise BadData(_first_fault(raw.split(b"\n"))) from None


class _Fault(Exception):
    """A line is malformed; `_first_fault` says which and why."""


class _Table:
    """Features and labels of the blocks read so far."""

    def __init__(self, n_features: int | None, dtype: DTypeLike, null: Null | None) -> None:
        self._wanted, self._null = n_features, null
        self._features: FloatArray = np.empty((0, n_features or 0), dtype)
        self._labels: list[FloatArray] = []
        self._runs: list[tuple[bytes, int]] = []  # query and number of its rows, in file order
        self._documents: list[str] = []
        self._rows = 0

    def add(self, block: bytes) -> None:
        """Parse whole lines and append their rows."""
        text = block.replace(b"\r", b"") if b"\r" in block else block
        text = text if text.endswith(b"\n") else text + b"\n"
        if self._null is not None:
            text = _NULL.sub(b":0" if self._null == "zero" else b":9e307", text)
        body = _COMMENT.sub(b"", text)
        if body[:1].isspace() or b"\n\n" in body or b"\n " in body or b"\n\t" in body:
            body = _INDENT.sub(b"", body)  # blank lines, comment lines, leading blanks
        if not body.strip():
            return
        names = _NAME.findall(body)
        rows = read_rows(body, len(names))
        if rows is None:
            raise _Fault
        self._append(_matrix(rows), rows.labels)
        self._runs += [(name, len(list(group))) for name, group in groupby(names)]
        documents = _documents(text, len(names))
        if documents or self._documents:
            before = self._rows - len(names)
            self._documents += [""] * (before - len(self._documents))
            self._documents += documents or [""] * len(names)

    def _append(self, features: FloatArray, labels: FloatArray) -> None:
        width = max(self._features.shape[1], features.shape[1])
        if self._wanted is not None and width > self._wanted:
            raise BadData(f"feature {width} is used, but n_features is {self._wanted}")
        total = self._rows + features.shape[0]
        if width * total > _MOST:
            raise BadData(f"feature number {width} in {total} rows does not fit into memory")
        if width > self._features.shape[1]:
            self._features = np.pad(self._features, ((0, 0), (0, width - self._features.shape[1])))
        self._features.resize(
            (total, width), refcheck=False
        )  # in place: a copy needs twice as much
        with np.errstate(over="ignore"):  # an unknown value in single precision is infinite
            self._features[self._rows :, : features.shape[1]] = features
        self._labels.append(labels)
        self._rows = total

    def data(self, topk: int | None) -> RankingData:
        """Return everything that was read."""
        if not self._rows:
            raise _Fault
        runs = [
            (name, sum(count for _, count in group))
            for name, group in groupby(self._runs, key=lambda run: run[0])
        ]
        query_ids = tuple(name.decode("utf-8", "replace") for name, _ in runs)
        if len(set(query_ids)) < len(query_ids):
            raise _Fault
        offsets = np.cumsum([0, *(count for _, count in runs)])
        if self._null == "minimum":
            _fill(self._features, offsets)
        labels = np.concatenate(self._labels)
        documents = tuple(self._documents)
        return RankingData(self._features, labels, offsets, query_ids, documents, topk)


def _matrix(rows: Rows) -> FloatArray:
    width = int(rows.pairs[0])
    dense = (rows.pairs == width).all() and (
        rows.numbers.reshape(-1, width) == np.arange(1, width + 1)
    ).all()
    features = rows.values.reshape(-1, width) if dense else _scatter(rows)
    known = np.isfinite(features).all() and np.isfinite(rows.labels).all()
    if not (known and (rows.labels >= 0).all()):
        raise _Fault
    return features


def _scatter(rows: Rows) -> FloatArray:
    owner = np.repeat(np.arange(rows.pairs.size), rows.pairs)
    falling = (np.diff(rows.numbers) <= 0) & (np.diff(owner) == 0)
    if (rows.numbers < 1).any() or falling.any():
        raise _Fault
    width = int(rows.numbers.max(initial=0))
    if width * rows.pairs.size > _MOST:
        raise BadData(f"feature number {width} in {rows.pairs.size} rows does not fit into memory")
    features = np.zeros((rows.pairs.size, width))
    features[owner, rows.numbers - 1] = rows.values
    return features


def _documents(text: bytes, n_rows: int) -> list[str]:
    found = _DOCID.findall(text)
    if not found:
        return []
    if len(found) == n_rows:
        return [name.decode("utf-8", "replace") for name in found]
    names = []
    for line in text.split(b"\n"):  # some rows have none, or a comment line has one
        if line.split(b"#")[0].strip():
            match = _DOCID.search(line)
            names.append(match.group(1).decode("utf-8", "replace") if match else "")
    return names


def _first_fault(lines: Iterable[bytes]) -> str:
    """Describe the first bad line."""
    seen: set[str] = set()
    query = None
    for number, line in enumerate(lines, start=1):
        tokens = line.decode("utf-8", "replace").split("#")[0].split()
        if not tokens:
            continue
        fault = _fault(tokens)
        if fault:
            return f"line {number}: {fault}"
        if tokens[1] != query and tokens[1] in seen:
            return f"line {number}: rows of {tokens[1]} are not together: sort the file by query"
        query = tokens[1]
        seen.add(query)
    return "no documents in the file" if query is None else "not a LETOR file"


def _fault(tokens: list[str]) -> str | None:
    if not _number(tokens[0]) or float(tokens[0]) < 0:
        return f"label {tokens[0]!r} is not a finite number of at least 0"
    if len(tokens) < 2 or not re.fullmatch(r"qid:[^:]+", tokens[1]):
        return "the second word must be qid:NAME"
    last = 0
    for token in tokens[2:]:
        match = _PAIR.fullmatch(token)
        if match is None or not _number(match.group(2)) or len(match.group(1)) > LONGEST_NUMBER:
            hint = ": choose one with --null" if token.upper().endswith(":NULL") else ""
            return f"{token!r} is not number:value with a finite value{hint}"
        if int(match.group(1)) <= last:
            return f"feature {match.group(1)} after {last}: numbers start at 1 and rise"
        last = int(match.group(1))
    return None


def _number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text))) and "_" not in text
    except ValueError:
        return False


def format_letor(data: RankingData) -> str:
    r"""Format data as a LETOR file.

    Numbers keep every digit.

    Parameters
    ----------
    data
        Documents of many queries.

    Examples
    --------
    >>> format_letor(parse_letor(b"2 qid:7 1:.5\n"))
    '2 qid:7 1:0.5\n'
    """
    lines = []
    for row, query in enumerate(data.queries):
        values = " ".join(f"{i}:{float(v)!r}" for i, v in enumerate(data.features[row], start=1))
        document = f" #docid = {data.document_ids[row]}" if data.document_ids else ""
        lines.append(f"{data.labels[row]:g} qid:{data.query_ids[query]} {values}{document}\n")
    return "".join(lines)


def write_letor(data: RankingData, path: str | Path) -> None:
    """Write a LETOR file, gzip when the name ends in .gz.

    Parameters
    ----------
    data
        Documents of many queries.
    path
        File to write.
    """
    text = format_letor(data).encode()
    Path(path).write_bytes(gzip.compress(text) if str(path).endswith(".gz") else text)


def _fill(features: FloatArray, offsets: IntArray) -> None:
    """Replace unknown features by the least known one of their query, 0 if there is none."""
    with np.errstate(over="ignore"):
        unknown = features.dtype.type(_UNKNOWN)
    for start, end in pairwise(offsets.tolist()):
        query = features[start:end]
        least = query.min(axis=0)
        least[least == unknown] = 0.0
        np.copyto(query, least, where=query == unknown)
