import gzip
from collections import defaultdict
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import each_case
from tests.kappa import cohen_kappa_score
from topkapi.analysis.data.exports import LoggedEntry, PairAnswer, TopK, json_lines, pair_lines
from topkapi.analysis.errors import BadData
from topkapi.analysis.report import Options, build_report
from topkapi.analysis.report.serialise import record_of
from topkapi.analysis.report.sources import read_preferences

DATA = Path(__file__).parents[4] / "shared" / "data"
FEW = Options(draws=100, exchanges=99)


def needs(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path.name} is not here: real preferences are not part of the checkout")
    return path


def test_crowd_and_local_agree_on_911_of_1469() -> None:
    folder = DATA / "prefs-CAsT2019"
    paths = [needs(folder / f"TREC-CAsT-2019.{name}gz") for name in ("pref.", "local.pref.")]
    first: list[dict[tuple[str, str, str], int]] = []
    for path in paths:
        votes: dict[tuple[str, str, str], int] = {}
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                query, a, b, winner = line.split()
                one, two = sorted((a, b))
                votes.setdefault((query, one, two), 0 if winner == one else 2)
        first.append(votes)
    shared = sorted(first[0].keys() & first[1].keys())
    assert (len(shared), sum(first[0][key] == first[1][key] for key in shared)) == (1469, 911)
    study = read_preferences(paths)
    found = record_of(build_report(study, FEW))["tools"][0]["agreement"]
    assert study.assessors == ("TREC-CAsT-2019", "TREC-CAsT-2019.local")
    counts = found["matrix"]["counts"]
    table = np.zeros((3, 3))
    for key in shared:
        table[first[0][key], first[1][key]] += 1
    assert counts == (table + table[::-1, ::-1]).tolist()
    assert counts[0][0] == 911
    assert found["votes"] == 1469
    both = [[votes[key] for key in shared] for votes in first]
    kappa = cohen_kappa_score(*(each + [2 - vote for vote in each] for each in both))
    assert found["cohen_kappa"]["value"] == pytest.approx(kappa, abs=1e-9)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


HEADER = "query\ta\tb\tpreference\tassessor\n"


def test_exported_pairs_are_read_with_every_way_to_say_a_preference(tmp_path: Path) -> None:
    rows = ["a", "b", "tie", "left", ">", "-1", "d2"]
    text = HEADER + "".join(f"q{i}\td1\td2\t{said}\tBao\n" for i, said in enumerate(rows))
    study = read_preferences([write(tmp_path / "pairs.tsv", text)])
    asked = study.tools[0].judgments
    assert asked is not None
    assert asked.answer.tolist() == [1, -1, 0, 1, 1, -1, -1]
    assert study.assessors == ("Bao",)
    assert study.documents[0] == ("d1", "d2")


def test_gzip_and_plain_and_all_formats_are_seen_from_the_content(tmp_path: Path) -> None:
    tags = write(tmp_path / "tags.tsv", "Query\tpair\ttags\nq\tx.jpg,y.jpg\t-2\t0\t1.0\n")
    found = read_preferences([tags]).tools[0].judgments
    assert found is not None
    assert found.answer.tolist() == [1, 0, -1]
    packed = tmp_path / "crowd.pref.gz"
    packed.write_bytes(gzip.compress(b"q d1 d2 d2\n"))
    plain = write(tmp_path / "local.pref", "q d2 d1 d1\n\n")
    both = read_preferences([packed, plain])
    assert both.assessors == ("crowd", "local")
    assert record_of(build_report(both, FEW))["tools"][0]["agreement"]["votes"] == 1


@each_case(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("one two\n", "line 1 fits no known format"),
        ("\n" * 60 + "one two\n", "line 1 fits no known format"),
        (HEADER + "q\td1\td2\tmaybe\tBao\n", "line 2: preference 'maybe'"),
        (HEADER + "q\td1\td2\n", "line 2: 3 columns"),
        ('{"ranking": 3}\n', "line 1"),
        ("q 0 a 1\nq 0 b 0\nq 0 c 0.5\n", "line 3: the label '0.5'"),
        (HEADER + "q\td1\td1\ttie\tBao\n", "line 2: document 'd1' is compared with itself"),
        ("q d1 d2 d1\nq d1 d1 d1\n", "leave such answers out with --leave-out-self"),
        (HEADER + "q\td1\td2\ta\t\n", "line 2: query, documents and assessor"),
        ("q d1 d2 d1\nq d1 d2 d3\n", "line 2: expected query, two documents"),
        ("Q\tp\tt\nq\tx,y\t1\nq\tx,y\tz\n", "line 3: tag 'z' is not a number"),
        ("Q\tp\tt\nq\tx,y\t1\nq\txy\t1\n", "line 3: expected query, left,right"),
    ],
)
def test_a_fault_names_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "bad.tsv", text)
    with pytest.raises(BadData) as refused:
        read_preferences([path])
    assert message in str(refused.value)
    assert "bad.tsv" in str(refused.value)


def test_a_malformed_entry_of_a_log_names_file_and_line(tmp_path: Path) -> None:
    rest = ("sort", "ranking", "d", None, "tie", True, 1, 1, None, datetime(2026, 11, 18, 8))
    entry = LoggedEntry("s", "q", "Bao", "pairs", 0, False, 0, "answer", *rest)
    wrong: list[dict[str, Any]] = [{"entry": "foo"}, {"entry": "undo"}, {"active_ms": -5}]
    wrong += [{"right": "ranking"}, {"answer": "maybe"}, {"left": None}, {"tool": "zzz"}]
    for each in wrong:
        path = write(tmp_path / "log", "".join(json_lines([entry, replace(entry, **each)])))
        with pytest.raises(BadData, match=f"log, line 2: .*{next(iter(each))}"):
            read_preferences([path])


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "q\td1\td1\ttie\tBao\nq\td1\td2\ta\tBao\n",
        "q d1 d2 d1\nq d1 d1 d1\n",
        "Q\tp\tt\nq\tx,y\t1\nq\tx,x\t1\n",
    ],
)
def test_a_document_against_itself_is_left_out_on_request(tmp_path: Path, text: str) -> None:
    left_out: list[str] = []
    found = read_preferences([write(tmp_path / "own.tsv", text)], left_out=left_out)
    assert len(found.tools[0].judgments or ()) == 1
    assert len(left_out) == 1
    assert "own.tsv, line " in left_out[0]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    latin = tmp_path / "latin.tsv"
    latin.write_bytes(b"q d1 d2 d1\nq caf\xe9 d2 d2\n")
    with pytest.raises(BadData, match="line 2: not UTF-8"):
        read_preferences([latin])
    with pytest.raises(BadData, match="cannot be read"):
        read_preferences([tmp_path / "absent.tsv"])
    with pytest.raises(BadData, match="unknown format 'xml'"):
        read_preferences([write(tmp_path / "x", "q a b a\n")], format="xml")
    with pytest.raises(BadData, match="the same name"):
        read_preferences([tmp_path / "a.pref", tmp_path / "a.pref.gz"])
    with pytest.raises(BadData, match="no preference file"):
        read_preferences([])


def test_row_order_changes_nothing_but_names(tmp_path: Path) -> None:
    rows = [
        f"q{i % 3} d{i % 5} d{(i * 7 + 1) % 5} d{i % 5}"
        for i in range(60)
        if i % 5 != (i * 7 + 1) % 5
    ]
    once: dict[tuple[str, ...], str] = defaultdict(str)
    for row in rows:
        once.setdefault(tuple(sorted(row.split()[:3])), row)
    one = write(tmp_path / "one.pref", "\n".join(once.values()))
    two = write(tmp_path / "two.pref", "\n".join(reversed(once.values())))
    found = record_of(build_report(read_preferences([one, two]), FEW))["tools"][0]["agreement"]
    assert found["overall"]["value"] == 1.0


def test_exported_lists_and_answers_make_one_study(tmp_path: Path) -> None:
    base = TopK(
        study="s", query="q1", assessor="Ansa", round=0, complete=True, k=2,
        ranking=("d1", "d2"), groups=(), rest=("d3",), bad=("d4",), unjudgeable=(),
        sorter="heap", sorter_version=1, seed="1", options={}, answered=3, entries=3,
        active_ms=1, wall_ms=1, begun_at=None, finished_at=None,
    )  # fmt: skip
    other = replace(base, assessor="Bao", ranking=("d2", "d1"), groups=(("d2", "d1"),))
    unfinished = replace(base, query="q2", complete=False, ranking=())
    path = write(tmp_path / "topk.jsonl", "".join(json_lines([base, other, unfinished])))
    answers = write(tmp_path / "pairs.tsv", HEADER + "q1\td2\td1\tb\tAnsa\n")
    study = read_preferences([path, answers])
    assert (study.k, study.queries, study.documents[0]) == (2, ("q1",), ("d1", "d2", "d3", "d4"))
    assert study.tools[0].scores[0].values.tolist() == [[2, 1, 0, 0], [2, 2, 0, 0]]
    found = record_of(build_report(study, FEW))["tools"][0]
    assert found["agreement"]["overall"]["value"] == pytest.approx(5 / 6)
    unsure = replace(other, rest=(), unjudgeable=("d3",))
    path = write(tmp_path / "unsure.jsonl", "".join(json_lines([base, unsure])))
    missing = read_preferences([path])
    expected = np.array([[2, 1, 0, 0], [2, 2, np.nan, 0]])
    assert np.array_equal(missing.tools[0].scores[0].values, expected, equal_nan=True)
    figures = record_of(build_report(missing, FEW))["tools"][0]["agreement"]
    assert figures["overall"]["value"] == pytest.approx(2 / 3), "d3 is no vote against it"
    assert found["answers"]["left"]["answers"] == 1
    with pytest.raises(BadData, match="two lists for query q1"):
        read_preferences([path, write(tmp_path / "more.jsonl", "".join(json_lines([base])))])
    strange = write(
        tmp_path / "strange.jsonl", "".join(json_lines([replace(other, groups=(("d2", "d9"),))]))
    )
    with pytest.raises(BadData, match="Bao for query q1: groups name 'd9'"):
        read_preferences([strange])


def test_qrels_of_several_assessors_are_compared(tmp_path: Path) -> None:
    one = write(tmp_path / "ansa.qrels", "q1 0 d1 0\nq1 0 d2 2\nq1 0 d3 1\n")
    two = write(tmp_path / "bao.qrels", "q1 0 d1 1\nq1 0 d2 2\n")
    study = read_preferences([one, two])
    assert (study.assessors, [tool.name for tool in study.tools]) == (("ansa", "bao"), ["grades"])
    values = study.tools[0].scores[0].values
    assert np.array_equal(values, np.array([[0, 2, 1], [1, 2, np.nan]]), equal_nan=True)
    assert record_of(build_report(study, FEW))["tools"][0]["agreement"]["overall"]["value"] == 1.0
    with pytest.raises(BadData, match="label 'good' is not a whole number"):
        read_preferences([write(tmp_path / "bad.qrels", "q1 0 d1 good\n")], format="qrels")


def test_escaped_cells_are_read_as_they_were(tmp_path: Path) -> None:
    answer = PairAnswer("q 1", "=a", "b\tc", "tie", "Bao")
    path = write(tmp_path / "pairs.tsv", "".join(pair_lines([answer])))
    assert read_preferences([path]).documents[0] == ("=a", "b\tc")


def pairs_file(folder: Path, *rows: str) -> Path:
    path = folder / "pairs.tsv"
    lines = ["query a b preference assessor", *rows]
    path.write_text("".join("\t".join(line.split()) + "\n" for line in lines))
    return path


def answers_of(path: Path, preference: str | None = None) -> list[int]:
    asked = read_preferences([path], preference=preference).tools[0].judgments
    assert asked is not None
    return [int(each) for each in asked.answer]


def test_ids_that_look_like_codes_are_refused_unless_an_option_decides(tmp_path: Path) -> None:
    path = pairs_file(tmp_path, "q 2 1 1 x")
    with pytest.raises(BadData, match="line 2: preference '1' can be a code or the id"):
        read_preferences([path])
    assert answers_of(path, "codes") == [1]
    assert answers_of(path, "ids") == [-1]
    with pytest.raises(BadData, match="neither codes nor ids"):
        read_preferences([path], preference="other")


def test_the_whole_file_decides_what_a_preference_is(tmp_path: Path) -> None:
    assert answers_of(pairs_file(tmp_path, "q 2 1 1 x", "q 2 3 -1 x")) == [1, -1]
    assert answers_of(pairs_file(tmp_path, "q 2 1 1 x", "q 2 3 3 x", "q 3 1 tie x")) == [-1, -1, 0]
    assert answers_of(pairs_file(tmp_path, "q b a a x", "q b c tie x"), "codes") == [1, 0]
    assert answers_of(pairs_file(tmp_path, "q a b a x")) == [1]  # both readings mean the same


@each_case(("queries",), [(5,), (9,)])
def test_no_figure_depends_on_the_order_of_rows(tmp_path: Path, queries: int) -> None:
    rng = np.random.default_rng(4)
    rows = [
        PairAnswer(f"q{query}", *pair, ("a", "b", "tie")[rng.choice(3, p=(0.5, 0.3, 0.2))], who)
        for query in range(queries)
        for pair in (("d1", "d2"), ("d1", "d3"), ("d2", "d3"))
        for who in ("Ansa", "Bao", "Cem", "Dana")[query % 2 :]
    ]
    reports = []
    for seed in range(3):
        path = tmp_path / str(seed) / "pairs.tsv"
        path.parent.mkdir(exist_ok=True)
        shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
        path.write_text("".join(pair_lines(shuffled)), encoding="utf-8")
        found = record_of(build_report(read_preferences([path])))
        del found["tools"][0]["answers"]["course"]  # follows the order of the answers
        reports.append(found)
    assert reports[0]["tools"][0]["agreement"]["overall"]["low"] > 0
    assert reports[1] == reports[0]
    assert reports[2] == reports[0]
