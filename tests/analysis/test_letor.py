"""The LETOR reader: values, sparse rows, ids, gzip, and faults named by line."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.memory import peak_of
from topkapi.analysis.data import (
    RankingData,
    format_letor,
    letor,
    parse_letor,
    read_folds,
    read_letor,
    write_letor,
)
from topkapi.analysis.data.letor import Null
from topkapi.analysis.errors import BadData

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason="shared research data are not here")


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    width=st.integers(1, 4),
    seed=st.integers(0, 1000),
    named=st.booleans(),
)
def test_what_is_written_is_read_back_to_the_last_digit(
    sizes: list[int], width: int, seed: int, named: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = sum(sizes)
    data = RankingData(
        rng.normal(size=(rows, width)) * 10.0 ** rng.integers(-8, 8),
        rng.integers(0, 12, size=rows).astype(float),
        np.concatenate([[0], np.cumsum(sizes)]),
        tuple(f"q-{number}" for number in range(len(sizes))),
        tuple(f"doc/{number}" for number in range(rows)) if named else (),
    )
    again = parse_letor(format_letor(data).encode())
    np.testing.assert_array_equal(again.features, data.features)
    np.testing.assert_array_equal(again.labels, data.labels)
    np.testing.assert_array_equal(again.offsets, data.offsets)
    assert (again.query_ids, again.document_ids) == (data.query_ids, data.document_ids)


def test_sparse_rows_comments_blank_lines_and_windows_ends_are_read() -> None:
    text = b"# a comment\r\n\r\n2 qid:a 2:1.5\r\n  1 qid:a 1:1 3:-2e-1 # docid = X inc = 1\r\n"
    text += b"0 qid:b\r\n"
    data = parse_letor(text, n_features=4)
    expected = [[0, 1.5, 0, 0], [1, 0, -0.2, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(data.features, expected)
    assert data.document_ids == ("", "X", "")
    assert data.offsets.tolist() == [0, 2, 3]


@pytest.mark.parametrize("block", [1, 7, 40, 10_000])
@pytest.mark.parametrize("null", [None, "minimum"])
def test_a_file_read_in_blocks_is_the_text_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, null: Null | None
) -> None:
    """Documents and wide features start late, and a query goes on in the next block."""
    rows = [f"{row % 3} qid:{row // 4} 1:{row}.5 2:{'NULL' if null else 1}" for row in range(20)]
    rows[7] += " #docid = seven"
    rows[15] += " 5:.25 # docid = fifteen"
    text = "\r\n".join(["# begin", *rows[:9], "", "# more", *rows[9:]]).encode()
    monkeypatch.setattr(letor, "BLOCK", block)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text))
    whole = parse_letor(text, null=null)
    assert whole.features.shape == (20, 5)
    found = read_letor(tmp_path / "a.gz", null=null)
    np.testing.assert_array_equal(found.features, whole.features)
    assert found.digest() == whole.digest()
    assert (found.query_ids, found.document_ids) == (whole.query_ids, whole.document_ids)
    single = read_letor(tmp_path / "a.gz", null=null, dtype=np.float32)
    np.testing.assert_array_equal(single.features, whole.features.astype(np.float32))


@pytest.mark.thorough
def test_memory_is_that_of_the_features_and_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letor, "BLOCK", 2**14)
    features = np.random.default_rng(0).random((20_000, 40)).round(3)
    offsets = np.arange(0, 20_001, 100)
    write_letor(RankingData(features, np.zeros(20_000), offsets), tmp_path / "a.txt")
    assert peak_of(lambda: read_letor(tmp_path / "a.txt")) < 1.7 * features.nbytes


def test_gzip_and_plain_files_and_float32(tmp_path: Path) -> None:
    data = parse_letor(b"1 qid:1 1:0.1 2:2\n0 qid:1 1:3 2:4\n")
    for name in ("a.txt", "a.txt.gz"):
        write_letor(data, tmp_path / name)
        read = read_letor(tmp_path / name, dtype=np.float32, topk=2)
        assert read.features.dtype == np.float32
        assert read.topk == 2
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"1 qid:1 1:2\n" * 99)[:-12])
    with pytest.raises(BadData, match="damaged gzip"):
        read_letor(tmp_path / "cut.gz")


@each_case(
    ("text", "fault"),
    [
        ("", "no documents"),
        ("1 qid:1 1:2\nx qid:1 1:2\n", "line 2: label 'x'"),
        ("1 qid:1 1:2\n1 1:2\n", "line 2: the second word"),
        ("1 1:2 qid:1\n", "line 1: the second word"),
        ("1 qid:1 1:2 3\n", "line 1: '3'"),
        ("1 qid:1 1:2 3\n1 qid:1 1:\n", "line 1: '3'"),
        ("1 qid:1 1:2:3 4\n", "line 1: '1:2:3'"),
        ("1 qid:1 1:nan\n", "line 1: '1:nan'"),
        ("1 qid:1 1:1\n1 qid:1 1:inf\n", "line 2: '1:inf'"),
        ("nan qid:1 1:1\n", "line 1: label 'nan'"),
        ("-1 qid:1 1:1\n", "line 1: label '-1'"),
        ("1 qid:1 2:1 1:1\n", "line 1: feature 1 after 2"),
        ("1 qid:1 0:1\n", "line 1: feature 0 after 0"),
        ("1 qid:1 1.5:1\n", "line 1: '1.5:1'"),
        ("1 qid:1 1:1\n1 qid:2 1:1\n1 qid:1 1:1\n", "line 3: rows of qid:1 are not together"),
        ("1 qid:1 1:abc\n", "line 1: '1:abc'"),
        ("1 qid:1 1234567890:1\n", "line 1: '1234567890:1'"),
        ("1 qid: 1:1\n", "line 1: the second word"),
        ("1 qid:1 1: 2\n", "line 1: '1:'"),
        ("qid:1 1:2\n", "line 1: label 'qid:1'"),
        ("1\n1 qid:1 1:2\n", "line 1: the second word"),
    ],
)
def test_faults_name_the_line(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(BadData, match=fault) as caught:
        read_letor(path)
    assert str(path) in str(caught.value)


def test_a_width_below_the_largest_feature_is_refused() -> None:
    with pytest.raises(BadData, match="n_features is 1"):
        parse_letor(b"1 qid:1 1:2 2:3\n", n_features=1)


def test_folds_refuse_leaks_and_missing_parts(tmp_path: Path) -> None:
    folder = tmp_path / "Fold1"
    folder.mkdir()
    with pytest.raises(BadData, match="no folder"):
        list(read_folds(folder))
    (folder / "train.txt").write_text("1 qid:1 1:2\n")
    (folder / "vali.txt").write_text("1 qid:2 1:2 2:3\n")
    with pytest.raises(BadData, match=r"neither test\.txt"):
        list(read_folds(tmp_path))
    (folder / "test.txt").write_text("1 qid:3 1:2\n")
    (fold,) = read_folds(tmp_path)
    assert [part.n_features for part in (fold.train, fold.validation, fold.test)] == [2, 2, 2]
    (folder / "test.txt").write_text("1 qid:1 1:2\n")
    with pytest.raises(BadData, match="query 1 is in two parts"):
        list(read_folds(tmp_path))


@needs_data
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["MQ2008/Fold1/vali.txt.gz", "OHSUMED/Fold2/test.txt.gz"])
def test_real_files_equal_scikit_learn(name: str) -> None:
    from sklearn.datasets import load_svmlight_file

    raw = gzip.decompress((SHARED / name).read_bytes())
    features, labels, queries = load_svmlight_file(io.BytesIO(raw), query_id=True)
    data = read_letor(SHARED / name)
    np.testing.assert_array_equal(data.features, features.toarray())
    np.testing.assert_array_equal(data.labels, labels)
    assert [int(name) for name in data.query_ids] == list(dict.fromkeys(queries.tolist()))
    assert data.document_ids[0]


def test_null_features_are_refused_or_become_zero_or_the_least_of_their_query() -> None:
    text = b"1 qid:1 1:NULL 2:5\n0 qid:1 1:3 2:NULL\n1 qid:2 1:NULL 2:7\n"
    with pytest.raises(BadData, match="line 1"):
        parse_letor(text)
    zero = parse_letor(text, null="zero").features.tolist()
    assert zero == [[0.0, 5.0], [3.0, 0.0], [0.0, 7.0]]
    least = parse_letor(text, null="minimum").features.tolist()
    assert least == [[3.0, 5.0], [3.0, 5.0], [0.0, 7.0]]
