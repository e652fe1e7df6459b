"""Reader and writer of LETOR (SVMlight with ``qid:`` and ``#docid``) files, plain or gzip.

The reader hands the whole text to NumPy's number parser at once; only a text that fails there is
read line by line to report the bad line.
"""

import gzip
import re
import zlib
from pathlib import Path
from typing import Literal

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
    raw = read_bytes(path)
    try:
        return parse_letor(raw, n_features=n_features, topk=topk, dtype=dtype, null=null)
    except BadData as error:
        raise BadData(f"{path}: {error}") from None


def read_bytes(path: str | Path) -> bytes:
    """Read the whole content of a plain or gzip file."""
    with Path(path).open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    try:
        return gzip.decompress(Path(path).read_bytes()) if packed else Path(path).read_bytes()
    except (EOFError, OSError, zlib.error) as error:
        raise BadData(f"{path}: damaged gzip file ({error})") from None


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
    text = raw.replace(b"\r", b"") if b"\r" in raw else raw
    text = text if text.endswith(b"\n") else text + b"\n"
    if null is not None:
        text = _NULL.sub(b":0" if null == "zero" else b":9e307", text)
    body = _COMMENT.sub(b"", text)
    if body[:1].isspace() or b"\n\n" in body or b"\n " in body or b"\n\t" in body:
        body = _INDENT.sub(b"", body)  # blank lines, comment lines, leading blanks
    names = _NAME.findall(body)
    rows = read_rows(body, len(names))
    if rows is None:
        raise BadData(_first_fault(text))
    features = _matrix(rows, n_features, text)
    offsets, query_ids = _borders(names, text)
    documents = _documents(text, len(names))
    if null == "minimum":
        features = _filled(features, offsets)
    features = features.astype(dtype, copy=False)
    return RankingData(features, rows.labels, offsets, query_ids, documents, topk)


def _matrix(rows: Rows, n_features: int | None, text: bytes) -> FloatArray:
    width = int(rows.pairs[0])
    dense = (rows.pairs == width).all() and (
        rows.numbers.reshape(-1, width) == np.arange(1, width + 1)
    ).all()
    features = rows.values.reshape(-1, width) if dense else _scatter(rows, text)
    known = np.isfinite(features).all() and np.isfinite(rows.labels).all()
    if not (known and (rows.labels >= 0).all()):
        raise BadData(_first_fault(text))
    return _fit_width(features, n_features)


def _scatter(rows: Rows, text: bytes) -> FloatArray:
    owner = np.repeat(np.arange(rows.pairs.size), rows.pairs)
    falling = (np.diff(rows.numbers) <= 0) & (np.diff(owner) == 0)
    if (rows.numbers < 1).any() or falling.any():
        raise BadData(_first_fault(text))
    width = int(rows.numbers.max(initial=0))
    if width * rows.pairs.size > 2**31:
        raise BadData(f"feature number {width} in {rows.pairs.size} rows does not fit into memory")
    features = np.zeros((rows.pairs.size, width))
    features[owner, rows.numbers - 1] = rows.values
    return features


def _fit_width(features: FloatArray, n_features: int | None) -> FloatArray:
    if n_features is None or n_features == features.shape[1]:
        return features
    if features.shape[1] > n_features:
        raise BadData(f"feature {features.shape[1]} is used, but n_features is {n_features}")
    return np.pad(features, ((0, 0), (0, n_features - features.shape[1])))


def _borders(names: list[bytes], text: bytes) -> tuple[IntArray, tuple[str, ...]]:
    starts = [0, *(row for row in range(1, len(names)) if names[row] != names[row - 1])]
    query_ids = tuple(names[row].decode("utf-8", "replace") for row in starts)
    if len(set(query_ids)) < len(query_ids):
        raise BadData(_first_fault(text))
    return np.array([*starts, len(names)], dtype=np.int64), query_ids


def _documents(text: bytes, n_rows: int) -> tuple[str, ...]:
    found = _DOCID.findall(text)
    if not found:
        return ()
    if len(found) == n_rows:
        return tuple(name.decode("utf-8", "replace") for name in found)
    names = []
    for line in text.split(b"\n"):  # some rows have none, or a comment line has one
        if line.split(b"#")[0].strip():
            match = _DOCID.search(line)
            names.append(match.group(1).decode("utf-8", "replace") if match else "")
    return tuple(names)


def _first_fault(text: bytes) -> str:
    """Raise the error of the first bad line."""
    seen: set[str] = set()
    query = None
    for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), start=1):
        tokens = line.split("#")[0].split()
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
            return f"{token!r} is not number:value with a finite value"
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


def _filled(features: FloatArray, offsets: IntArray) -> FloatArray:
    """Replace unknown features by the least known one of their query, 0 if there is none."""
    least = np.minimum.reduceat(features, offsets[:-1], axis=0)
    least = np.where(least == _UNKNOWN, 0.0, least)
    filled: FloatArray = np.where(
        features == _UNKNOWN, np.repeat(least, np.diff(offsets), axis=0), features
    )
    return filled
