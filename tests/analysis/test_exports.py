import gzip
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.analysis.data import (
    exports,
    read_confidence,
    read_consensus,
    read_judgments,
    read_letor,
    read_letor_export,
    read_pairs,
    read_preferences,
    read_qrels,
    read_reliability,
    read_timers,
    read_topk,
)
from topkapi.analysis.data.exports import (
    ClockEvent,
    ConfidenceList,
    ConsensusList,
    Label,
    LetorRow,
    LoggedEntry,
    MemberReliability,
    PairAnswer,
    PreferencePair,
    TopK,
)
from topkapi.analysis.data.exports.codec import Groups, Names, Numbers, Ranks, Shares
from topkapi.analysis.errors import BadData

AWKWARD = [
    "=1+1",
    "'",
    "''",
    "\t",
    "\\",
    "\\t",
    "\n",
    '"',
    ",",
    "\r\n",
    "\x85",
    "\u2028",
    "＝x",
    "🌷",
]
texts = st.sampled_from(AWKWARD) | st.text(max_size=12)
words = st.text(max_size=8).map(lambda text: "".join(text.split())).filter(bool)
counts = st.integers(0, 2**60)
moments = st.datetimes(timezones=st.just(UTC))
names = st.lists(texts, max_size=4).map(tuple)

shares = st.floats(0, 1)
triples = st.lists(shares, min_size=3, max_size=3).map(tuple)
DRAWN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    str | None: st.none() | texts,
    int: counts,
    bool: st.booleans(),
    float: shares,
    float | None: st.none() | shares,
    datetime: moments,
    datetime | None: st.none() | moments,
    Names: names,
    Groups: st.lists(names, max_size=3).map(tuple),
    Numbers: st.lists(shares, max_size=4).map(tuple),
    Shares: st.lists(st.none() | shares, max_size=4).map(tuple),
    Ranks: st.lists(counts, max_size=4).map(tuple),
}


def records_of(kind: type, /, **narrower: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw records with any value that the type of each field allows, or a ``narrower`` one."""
    hints = get_type_hints(kind).items()
    drawn = {name: DRAWN[hint] for name, hint in hints if name not in narrower}
    return st.builds(kind, **drawn, **narrower)


sizes = st.integers(1, 100)
options = st.dictionaries(texts, st.booleans() | counts | shares, max_size=3)
topk_records = records_of(TopK, k=sizes, options=options)
consensus_lists = records_of(ConsensusList, k=sizes)
sure_lists = records_of(ConfidenceList, k=sizes)
members = records_of(MemberReliability, lapse=triples, width=triples, tie_width=triples)
answered = {"tool": st.just("lists"), "entry": st.just("answer"), "kind": st.none()}
log_records = records_of(LoggedEntry, **answered)
preference_records = records_of(PreferencePair)
pair_records = records_of(PairAnswer, preference=st.sampled_from(["a", "b", "tie"]))
clock_records = records_of(ClockEvent)
call_records = records_of(exports.CallRecord)
label_records = st.builds(Label, words, words, st.integers(0, 1000))


@dataclass(frozen=True)
class Format:
    """A format: example records, the writer, and the reader."""

    records: st.SearchStrategy[Any]
    lines: Callable[[Iterable[Any]], Iterator[str]]
    read: Callable[[Path], list[Any]]


FORMATS = {
    "topk.jsonl": Format(topk_records, exports.json_lines, read_topk),
    "consensus.jsonl": Format(consensus_lists, exports.json_lines, read_consensus),
    "confidence.jsonl": Format(sure_lists, exports.json_lines, read_confidence),
    "reliability.jsonl": Format(members, exports.json_lines, read_reliability),
    "judgments.jsonl": Format(log_records, exports.json_lines, read_judgments),
    "preferences.jsonl": Format(preference_records, exports.json_lines, read_preferences),
    "pairs.tsv": Format(pair_records, exports.pair_lines, read_pairs),
    "timers.csv": Format(clock_records, exports.timer_lines, read_timers),
    "qrels": Format(label_records, exports.qrels_lines, read_qrels),
    "umbrela.jsonl": Format(label_records, exports.umbrela_lines, exports.read_umbrela),
    "calls.jsonl": Format(call_records, exports.json_lines, exports.read_calls),
}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60)
@given(data=st.data())
def test_what_is_written_is_read_back(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    form = FORMATS[name]
    once = (lambda label: label[:2]) if name == "qrels" else None
    records = data.draw(st.lists(form.records, max_size=4, unique_by=once))
    text = "".join(form.lines(records))
    folder = tmp_path_factory.mktemp("export")
    plain, packed = folder / name, folder / f"{name}.gz"
    plain.write_bytes(text.encode())
    packed.write_bytes(gzip.compress(text.encode()))
    assert form.read(plain) == records
    assert form.read(packed) == records


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["topk.jsonl", "judgments.jsonl", "preferences.jsonl"])
@settings(max_examples=40)
@given(data=st.data())
def test_a_json_record_is_one_line_for_everybody(name: str, data: st.DataObject) -> None:
    (line,) = FORMATS[name].lines([data.draw(FORMATS[name].records)])
    assert line.endswith("}\n")
    assert len(line.splitlines()) == 1


@given(event=clock_records)
@example(ClockEvent("=q", "+a", "-t", 0, True, "@e", "＝r", 0, datetime(2026, 1, 1, tzinfo=UTC)))
def test_no_cell_is_run_by_a_spreadsheet(event: ClockEvent) -> None:
    _, line = exports.timer_lines([event])
    for cell in (event.query, event.assessor, event.tool, event.event, event.reason):
        if cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")):
            assert f"'{cell}".replace('"', '""') in line


letor_queries = st.lists(words, unique=True, min_size=1, max_size=4)
features = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2)


@pytest.mark.thorough
@settings(max_examples=60)
@given(data=st.data())
def test_letor_is_read_back_with_its_names_labels_and_every_digit(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = []
    for qid, query in enumerate(data.draw(letor_queries), start=1):
        for document in data.draw(st.lists(words, unique=True, min_size=1, max_size=4)):
            values = tuple(enumerate(data.draw(features), start=1))
            rows.append(LetorRow(query, qid, document, data.draw(st.integers(0, 10)), values))
    path = tmp_path_factory.mktemp("export") / "letor"
    path.write_text("".join(exports.letor_lines(rows, ["bm25", "docid = 7\n"])), newline="")
    found = read_letor_export(path, topk=10)
    assert found.query_ids == tuple(dict.fromkeys(row.query for row in rows))
    assert found.document_ids == tuple(row.document for row in rows)
    assert found.labels.tolist() == [row.label for row in rows]
    expected = [[value for _, value in row.features] for row in rows]
    assert np.array_equal(found.features, np.array(expected))
    sizes = [len(list(group)) for _, group in itertools.groupby(rows, key=lambda row: row.qid)]
    assert found.sizes.tolist() == sizes
    assert read_letor(path).labels.tolist() == found.labels.tolist()


def test_labels_are_k_plus_one_minus_rank() -> None:
    record = TopK(
        "s", "q", "a", 0, True, 10, ("c", "a"), (("c", "a"),), ("b",), ("d",), ("e",),
        "heap", 1, "seed", {}, 5, 5, 0, 0, None, None,
    )  # fmt: skip
    assert record.labels() == {"c": 10, "a": 9, "b": 0, "d": 0}, "nothing is known of e"


def test_unfinished_work_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "topk.jsonl"
    done = TopK(
        "s", "q", "a", 0, True, 1, ("c",), (("c",),), (), (), (),
        "heap", 1, "seed", {}, 5, 5, 0, 0, None, None,
    )  # fmt: skip
    begun = replace(done, query="q2", complete=False, ranking=(), groups=(), rest=("c",))
    path.write_text("".join(exports.json_lines([done, begun])))
    assert read_topk(path) == [done, begun]
    assert read_topk(path, complete_only=True) == [done]


@pytest.mark.parametrize("lines", [exports.qrels_lines([Label("q 1", "d", 1)])])
def test_an_id_with_a_blank_is_refused_where_blanks_separate(lines: Iterator[str]) -> None:
    with pytest.raises(BadData, match="'q 1' contains a blank"):
        list(lines)


@each_case(
    ("read", "content", "says"),
    [
        (read_qrels, "q1 0 d1 2\nq1 0 d2\n", "line 2: 3 columns"),
        (read_qrels, "q1 0 d1 two\n", "'two' is not a whole number"),
        (read_qrels, "q1 0 d1 2\nq1 0 d1 2\nq1 0 d1 0\n", "line 3: another line .* 'd1'"),
        (read_pairs, "query\ta\tb\n", "line 1: the header is not"),
        (read_pairs, "query\ta\tb\tpreference\tassessor\nq\tx\ty\tz\tp\n", "line 2: .* tie"),
        (read_pairs, "query\ta\tb\tpreference\tassessor\nq\tx\ty\n", "line 2: 3 columns"),
        (
            read_pairs,
            "query\ta\tb\tpreference\tassessor\nq\\x\tx\ty\ta\tp\n",
            "not an escape sequence",
        ),
        (read_preferences, '{"prompt": "x"}\n', "line 1: the field 'chosen' is missing"),
        (read_preferences, '{"prompt": 3}\n', "line 1: prompt is 3, not a text"),
        (read_preferences, "{\n", "line 1: not JSON"),
        (read_preferences, "[]\n", "line 1: not an object"),
        (read_timers, "query\n", "line 1: the header is not query assessor"),
        (read_letor_export, "1 qid:1 1:0.5 #docid = d\n", "line 1: .*use read_letor"),
        (read_letor_export, "x qid:1 1:0.5\n", "label 'x'"),
    ],
)
def test_a_broken_file_names_its_line(
    read: Callable[[Path], object], content: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "broken"
    path.write_text(content)
    with pytest.raises(BadData, match=says):
        read(path)


def test_a_file_that_is_not_utf8_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken"
    path.write_bytes(b"q1 0 d1 2\nq1 0 d\xe9 1\n")
    with pytest.raises(BadData, match="line 2: not UTF-8"):
        read_qrels(path)
