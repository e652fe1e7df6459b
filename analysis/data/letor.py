"""Reader and writer of LETOR (SVMlight with ``qid:`` and ``#docid``) files, plain or gzip.

The reader hands the whole text to NumPy's number parser at once; only a text that fails there is
walked line by line, to name the line that has to be mended.
"""

import gzip
import re
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from analysis.data.ranking import RankingData
from analysis.errors import BadData
from analysis.typing import BoolArray, ByteArray, FloatArray, IntArray

_NAME = re.compile(rb"qid:([^\s:]+)")
_COMMENT = re.compile(rb"#[^\n]*")
_DOCID = re.compile(rb"docid[ \t]*=[ \t]*(\S+)")
_INDENT = re.compile(rb"^\s+", re.MULTILINE)
_PAIR = re.compile(r"(\d+):(\S+)")


def read_letor(
    path: str | Path,
    *,
    n_features: int | None = None,
    topk: int | None = None,
    dtype: DTypeLike = np.float64,
) -> RankingData:
    """Read one LETOR file; features left out of a row are 0.

    ``n_features`` fixes the width (otherwise the largest number in the file); ``topk`` says that
    labels are k + 1 - rank of a top-k ground truth.
    """
    raw = read_bytes(path)
    try:
        return parse_letor(raw, n_features=n_features, topk=topk, dtype=dtype)
    except BadData as error:
        raise BadData(f"{path}: {error}") from None


def read_bytes(path: str | Path) -> bytes:
    """The whole content of a plain or gzip file."""
    with Path(path).open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    try:
        return gzip.decompress(Path(path).read_bytes()) if packed else Path(path).read_bytes()
    except (EOFError, OSError, gzip.zlib.error) as error:  # type: ignore[attr-defined]
        raise BadData(f"{path}: damaged gzip file ({error})") from None


def parse_letor(
    raw: bytes,
    *,
    n_features: int | None = None,
    topk: int | None = None,
    dtype: DTypeLike = np.float64,
) -> RankingData:
    r"""Parse LETOR text.

    >>> data = parse_letor(b"2 qid:7 1:.5 3:1 #docid = A\n0 qid:7 2:1 #docid = B\n")
    >>> data.features.tolist(), data.query_ids, data.document_ids
    ([[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]], ('7',), ('A', 'B'))
    """
    text = raw.replace(b"\r", b"") if b"\r" in raw else raw
    text = text if text.endswith(b"\n") else text + b"\n"
    body = _COMMENT.sub(b"", text)
    if body[:1].isspace() or b"\n\n" in body or b"\n " in body or b"\n\t" in body:
        body = _INDENT.sub(b"", body)  # blank lines, comment lines, leading blanks
    names = _NAME.findall(body)
    parsed = _numbers(body, len(names))
    if parsed is None:
        raise BadData(_first_fault(text))
    labels, features = _matrix(*parsed, n_features, text, dtype)
    offsets, query_ids = _borders(names, text)
    documents = _documents(text, len(names))
    return RankingData(features, labels, offsets, query_ids, documents, topk)


def _numbers(body: bytes, n_rows: int) -> tuple[FloatArray, IntArray] | None:
    """All numbers of the text without query ids, and how many pairs each row has."""
    flat = np.frombuffer(body, dtype=np.uint8)
    ends = np.flatnonzero(flat == ord("\n"))
    if ends.size != n_rows or n_rows == 0:
        return None
    colons = np.flatnonzero(flat == ord(":"))
    if not _well_formed(flat, ends, colons):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = np.fromstring(_NAME.sub(b"", body).replace(b":", b" "), sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    pairs = np.diff(np.searchsorted(colons, ends), prepend=0) - 1
    return (values, pairs) if values.size == n_rows + 2 * pairs.sum() else None


def _well_formed(flat: ByteArray, ends: IntArray, colons: IntArray) -> bool:
    """Every line is a label, then qid:name, then words with one colon each inside."""
    space = flat <= ord(" ")
    starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1  # the word at 0 is the first label
    heads = np.concatenate([[-1], ends[:-1]]) + 1
    words = starts[~_among(starts, heads, flat.size)]
    if words.size != colons.size or space[heads].any():
        return False
    inside = (words < colons).all() and (colons[:-1] < words[1:]).all()
    first = colons[np.minimum(np.searchsorted(colons, heads), colons.size - 1)]
    return bool(inside and (flat[first - 3] == ord("q")).all() and (first < ends).all())


def _among(places: IntArray, chosen: IntArray, size: int) -> BoolArray:
    mark = np.zeros(size + 1, dtype=np.bool_)
    mark[chosen] = True
    found: BoolArray = mark[places]
    return found


def _matrix(
    values: FloatArray, pairs: IntArray, n_features: int | None, text: bytes, dtype: DTypeLike
) -> tuple[FloatArray, FloatArray]:
    starts = np.concatenate([[0], np.cumsum(2 * pairs + 1)])[:-1]
    labels = values[starts]
    rest = np.delete(values, starts).reshape(-1, 2)
    width = int(pairs[0]) if pairs.size else 0
    numbers = rest[:, 0]
    if (pairs == width).all() and (numbers.reshape(-1, width) == np.arange(1, width + 1)).all():
        features = rest[:, 1].reshape(-1, width)
    else:
        features = _scatter(numbers, rest[:, 1], pairs, text)
    if not (np.isfinite(features).all() and np.isfinite(labels).all() and (labels >= 0).all()):
        raise BadData(_first_fault(text))
    return labels, _fit_width(features, n_features).astype(dtype, copy=False)


def _scatter(numbers: FloatArray, values: FloatArray, pairs: IntArray, text: bytes) -> FloatArray:
    rows = np.repeat(np.arange(pairs.size), pairs)
    descending = (np.diff(numbers) <= 0) & (np.diff(rows) == 0)
    whole = np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()
    if not whole or (numbers < 1).any() or descending.any():
        raise BadData(_first_fault(text))
    width = int(numbers.max(initial=0))
    if width * pairs.size > 2**31:
        raise BadData(f"feature number {width} in {pairs.size} rows does not fit into memory")
    features = np.zeros((pairs.size, width))
    features[rows, numbers.astype(np.int64) - 1] = values
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
    """Walk the lines and say what is wrong with the first bad one."""
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
        if match is None or not _number(match.group(2)):
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
    r"""The text of a LETOR file; numbers keep every digit.

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
    """Write a LETOR file, gzip when the name ends in .gz."""
    text = format_letor(data).encode()
    Path(path).write_bytes(gzip.compress(text) if str(path).endswith(".gz") else text)
