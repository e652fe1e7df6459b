import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, select

from tests.exporting import (
    NOTE,
    START,
    add_features,
    judge,
    judge_in_a_team,
    make_grades,
    make_judged_study,
    writable_exports,
)
from tests.factories import make_assignment, make_study, make_user, queries_of
from tests.ranked import compare_lists
from tests.trec_eval import reference_library
from topkapi.analysis.data import (
    read_consensus,
    read_judgments,
    read_letor,
    read_letor_export,
    read_pairs,
    read_preferences,
    read_qrels,
    read_timers,
    read_topk,
)
from topkapi.analysis.data.exports import read_crowdkit, read_pref, read_prefs, read_qrels_prefs
from topkapi.analysis.errors import BadData
from topkapi.analysis.report import build_report
from topkapi.analysis.report.serialise import record_of
from topkapi.analysis.report.sources import read_preferences as read_report_source
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Candidate, Document, JudgmentRow, Query
from topkapi.app.domain.errors import Invalid, NotFound
from topkapi.app.domain.grades.session import DEFAULT_GRADES
from topkapi.app.services.results.exports import ExportOptions, export_session, open_export
from topkapi.app.services.results.reports import ReportCache

pytestmark = pytest.mark.both

ANSA, BAO, CHIDI, DEE = (f"{name}@tulips.example" for name in ("ansa", "bao", "chidi", "dee"))
Read = Callable[[Path], Any]


def exported(sessions: Sessions, format: str, slug: str = "tulips", **options: Any) -> bytes:
    with export_session(sessions) as session:
        return b"".join(open_export(session, slug, format, ExportOptions(**options)).chunks)


class Files:
    """Exports as files, read back by the readers of the library."""

    def __init__(self, sessions: Sessions, folder: Path) -> None:
        self._sessions, self._folder = sessions, folder

    def path(self, format: str, slug: str = "tulips", **options: Any) -> Path:
        path = self._folder / format
        path.write_bytes(exported(self._sessions, format, slug, **options))
        return path

    def __call__(self, read: Read, format: str, slug: str = "tulips", **options: Any) -> Any:
        return read(self.path(format, slug, **options))


@pytest.fixture
def files(judged: Sessions, tmp_path: Path) -> Files:
    return Files(judged, tmp_path)


def test_the_ground_truth_says_who_what_and_how_complete(files: Files) -> None:
    found = files(read_topk, "topk.jsonl")
    assert [(each.query, each.assessor, each.complete) for each in found] == [
        ("q0", ANSA, True),
        ("q0", BAO, True),
        ("q1", ANSA, True),
        ("q1", BAO, False),
        ("q1", CHIDI, False),
    ]
    fussy, bao, plain, begun, waiting = found
    for each in found:
        pages = (*each.ranking, *each.rest, *each.bad, *each.unjudgeable)
        assert sorted(pages) == [f"{each.query}-d{number}" for number in range(8)]
    assert len(bao.ranking) == 3
    assert [page for group in bao.groups for page in group][:3] == list(bao.ranking)
    assert fussy.bad
    assert fussy.unjudgeable
    assert (bao.sorter, bao.sorter_version, bao.k, bao.seed) == ("heap", 1, 3, "b0")
    assert bao.options["check_share"] == 0.5
    assert bao.active_ms == 4000 * bao.entries
    assert bao.wall_ms == 6000 * bao.entries
    assert bao.answered == bao.entries - 4  # two undone, one redone: four more entries
    assert bao.begun_at == START
    assert plain.finished_at is not None
    assert plain.begun_at is not None
    assert plain.finished_at > plain.begun_at
    assert (begun.ranking, begun.answered, begun.finished_at) == ((), 3, None)
    assert (waiting.answered, waiting.begun_at) == (0, None)


def test_the_log_is_whole_and_marks_what_stands(files: Files, judged: Sessions) -> None:
    found = files(read_judgments, "judgments.jsonl")
    with judged.read() as session:
        rows = session.scalars(select(JudgmentRow)).all()
    assert len(found) == len(rows)
    mine = [each for each in found if (each.query, each.assessor) == ("q0", BAO)]
    assert [each.position for each in mine] == list(range(len(mine)))
    assert [each.entry for each in mine[5:8]] == ["undo", "undo", "redo"]
    assert [each.effective for each in mine[:9]] == [True] * 4 + [False] * 4 + [True]
    assert mine[1].note == NOTE
    assert {"sort", "check"} <= {each.kind for each in mine}
    assert {each.assessor for each in found if each.withdrawn} == {DEE}
    graded = [each for each in found if each.tool == "grades"]
    assert {(each.left, each.right, each.document is None) for each in graded} == {
        (None, None, False)
    }


def test_pairs_are_the_preferences_that_stand(files: Files) -> None:
    found = files(read_pairs, "pairs.tsv")
    log = files(read_judgments, "judgments.jsonl")
    codes = {"left": "a", "right": "b", "tie": "tie"}
    expected = [
        (each.query, each.left, each.right, codes[each.answer], each.assessor)
        for each in log
        if each.tool == "pairs"
        and each.effective
        and each.kind == "sort"
        and not each.withdrawn
        and each.answer in codes
    ]
    assert [(p.query, p.a, p.b, p.preference, p.assessor) for p in found] == expected
    assert Counter(p.preference for p in found)["tie"] > 0


def test_preferences_carry_the_texts(files: Files) -> None:
    found = files(read_preferences, "preferences.jsonl")
    pairs = [each for each in files(read_pairs, "pairs.tsv") if each.preference != "tie"]
    assert len(found) == len(pairs)
    for each, pair in zip(found, pairs, strict=True):
        better, worse = (pair.a, pair.b) if pair.preference == "a" else (pair.b, pair.a)
        assert (each.chosen_id, each.rejected_id, each.query) == (better, worse, pair.query)
        assert each.chosen.startswith(f"Page {better} of tulips")
        assert each.rejected.startswith(f"Page {worse} of tulips")
        assert each.prompt == f"how to keep cut tulips upright {pair.query[1:]}"


def test_clocks_are_told_in_their_order(files: Files) -> None:
    found = files(read_timers, "timers.csv")
    assert [(each.event, each.reason, each.active_ms) for each in found] == [
        ("start", "", 0),
        ("auto_pause", "idle, =1+1", 9000),
        ("heartbeat", "", 15000),
    ]


def test_grades_are_the_middle_ones(files: Files, judged: Sessions) -> None:
    found = files(read_qrels, "grades.qrels")
    assert [each.query for each in found] == ["q0"] * 8 + ["q2"] * 8
    given: dict[tuple[str, str], list[int]] = {}
    for each in files(read_judgments, "judgments.jsonl"):
        if each.tool == "grades":
            grades = given.setdefault((each.query, each.document), [])
            grades.append(DEFAULT_GRADES.index(each.answer))
    assert {len(set(grades)) for grades in given.values()} == {1, 2}
    assert {each[:2]: each.label for each in found} == {
        page: min(grades)
        for page, grades in given.items()  # the lower median of two
    }
    mine = files(read_qrels, "grades.qrels", assessor=ANSA)
    assert [each.query for each in mine] == ["q2"] * 8
    with judged.write.begin() as session:
        third = session.scalars(select(Query).where(Query.external_id == "q2")).one()
        eve = make_grades(session, make_user(session), third, seed="ggg")
        judge(session, eve, most=3)
    assert files(read_qrels, "grades.qrels") == found  # unfinished work does not count


def test_labels_are_those_of_the_ground_truth(files: Files) -> None:
    truth = {each.query: each for each in files(read_topk, "topk.jsonl", assessor=ANSA)}
    labels = files(read_qrels, "qrels", assessor=ANSA)
    assert {each.query for each in labels} == {"q0", "q1"}
    for query, record in truth.items():
        mine = {each.document: each.label for each in labels if each.query == query}
        assert mine == record.labels()
    data = files(read_letor_export, "letor", assessor="Ansa 2")
    assert data.query_ids == ("q0", "q1")
    named = dict(zip(data.document_ids, data.labels.tolist(), strict=True))
    assert named == {each.document: each.label for each in labels}
    assert data.features[:, 1].tolist() == [int(name[-1]) ** 2 for name in data.document_ids]
    unsure = {name for record in truth.values() for name in record.unjudgeable}
    assert unsure
    assert not unsure & set(named), "a page that could not be judged has no label"


@pytest.mark.thorough
def test_the_consensus_is_that_of_the_report(files: Files, judged: Sessions) -> None:
    found = {each.query: each for each in files(read_consensus, "consensus.jsonl")}
    assert list(found) == ["q0", "q1"]
    assert (found["q0"].assessors, found["q1"].assessors) == ((ANSA, BAO), (ANSA,))
    with export_session(judged) as session:
        reported = ReportCache().report(session, "tulips").tools[0].consensus.queries
    for each in reported:
        mine = found[each.query]
        assert (mine.documents, mine.rest) == (each.documents, each.rest)
        assert mine.departures == each.departures
        assert mine.study == "tulips"
    ansa = next(
        each for each in files(read_topk, "topk.jsonl", assessor=ANSA) if each.query == "q1"
    )
    assert found["q1"].labels() == ansa.labels()  # nobody else has finished it


def test_labels_are_of_the_consensus_unless_somebody_is_named(files: Files) -> None:
    labels = {each.query: each.labels() for each in files(read_consensus, "consensus.jsonl")}
    found: dict[str, dict[str, int]] = {}
    for each in files(read_qrels, "qrels"):
        found.setdefault(each.query, {})[each.document] = each.label
    assert found == labels
    assert found["q0"] != {
        each.document: each.label
        for each in files(read_qrels, "qrels", assessor=ANSA)
        if each.query == "q0"
    }
    data = files(read_letor_export, "letor")
    assert dict(zip(data.document_ids, data.labels.tolist(), strict=True)) == {
        document: label for mine in labels.values() for document, label in mine.items()
    }


def test_pages_added_later_have_no_label(judged: Sessions, tmp_path: Path) -> None:
    with judged.write.begin() as session:
        query = session.scalars(select(Query).where(Query.external_id == "q1")).first()
        page = session.scalars(select(Document).where(Document.external_id == "q2-d0")).one()
        assert query is not None
        session.add(Candidate(query_id=query.id, document_id=page.id, position=99))
    files = Files(judged, tmp_path)
    (mine,) = (each for each in files(read_consensus, "consensus.jsonl") if each.query == "q1")
    assert "q2-d0" not in mine.labels()
    assert len(mine.labels()) == 8


def test_unfinished_queries_have_no_labels(files: Files) -> None:
    assert {each.query for each in files(read_qrels, "qrels", assessor=BAO)} == {"q0"}
    assert files(read_qrels, "qrels", assessor=CHIDI) == []


@pytest.mark.thorough
def test_tools_of_others_read_the_labels(files: Files) -> None:
    from sklearn.datasets import load_svmlight_file

    ir_measures = reference_library("ir_measures")
    path = files.path("qrels", assessor=ANSA)
    qrels = list(ir_measures.read_trec_qrels(str(path)))
    mine = [each for each in files(read_topk, "topk.jsonl") if each.assessor == ANSA]
    labeled = [8 - len(each.unjudgeable) for each in mine]
    assert len(qrels) == sum(labeled) > 8
    best = {each.query_id: each.doc_id for each in qrels if each.relevance == 3}
    run = [ir_measures.ScoredDoc(query, document, 1.0) for query, document in best.items()]
    measured = ir_measures.calc_aggregate([ir_measures.Success(rel=3) @ 1], qrels, run)
    assert list(measured.values()) == [1.0]
    letor = files.path("letor", assessor=ANSA)
    matrix, labels, qids = load_svmlight_file(str(letor), query_id=True)
    ours = read_letor(letor)
    assert matrix.toarray().tolist() == ours.features.tolist()
    assert labels.tolist() == ours.labels.tolist()
    assert qids.tolist() == [1] * labeled[0] + [2] * labeled[1]


def test_lists_are_judgment_groups_of_trec_eval(files: Files) -> None:
    levels = files(read_prefs, "prefs")
    assert levels == files(read_qrels_prefs, "qrels_prefs")
    finished = files(partial(read_topk, complete_only=True), "topk.jsonl")
    assert len({(each.query, each.group) for each in levels}) == len(finished)
    for record in finished:
        group = f"{record.assessor}:{record.round}"
        found = {
            each.document: each.level
            for each in levels
            if (each.query, each.group) == (record.query, group)
        }
        assert found.keys() == {*record.ranking, *record.rest, *record.bad}
        by_level = [found[document] for document in record.ranking]
        assert by_level == sorted(by_level, reverse=True)
        outside = [found[document] for document in (*record.rest, *record.bad)]
        assert min(by_level) > max(outside, default=0) == 1


def test_winners_are_those_of_the_pairs(files: Files) -> None:
    pairs = [each for each in files(read_pairs, "pairs.tsv") if each.preference != "tie"]
    assert pairs
    assert files(read_crowdkit, "crowdkit.csv") == pairs
    assert files(read_pref, "pref") == [replace(each, assessor="") for each in pairs]


def test_texts_for_training_are_those_of_the_preferences(files: Files) -> None:
    preferences = files(read_preferences, "preferences.jsonl")
    triplets = [json.loads(line) for line in files.path("triplets.jsonl").read_text().splitlines()]
    assert triplets == [
        {"anchor": each.prompt, "positive": each.chosen, "negative": each.rejected}
        for each in preferences
    ]
    lines = files.path("conversations.jsonl").read_text().splitlines()
    assert [json.loads(line)["chosen"] for line in lines] == [
        [{"role": "assistant", "content": each.chosen}] for each in preferences
    ]


def test_beir_labels_are_those_of_the_qrels(files: Files) -> None:
    header, *lines = files.path("beir.tsv").read_text().splitlines()
    assert header.split("\t") == ["query-id", "corpus-id", "score"]
    assert [tuple(line.split("\t")) for line in lines] == [
        (query, document, str(label)) for query, document, label in files(read_qrels, "qrels")
    ]


def test_the_report_reads_the_pairs(files: Files) -> None:
    study = read_report_source([files.path("pairs.tsv")])
    assert set(study.assessors) == {ANSA, BAO}
    assert set(study.queries) == {"q0", "q1"}


@pytest.mark.thorough
def test_the_report_reads_lists_logs_and_grades_as_the_study_tells_them(
    files: Files, judged: Sessions, tmp_path: Path
) -> None:
    grades = []
    for who in ("ansa", "chidi"):
        path = tmp_path / f"{who}@tulips.example.qrels"
        path.write_bytes(exported(judged, "grades.qrels", assessor=f"{who}@tulips.example"))
        grades.append(path)
    found = build_report(
        read_report_source([files.path("topk.jsonl"), files.path("judgments.jsonl"), *grades])
    )
    with export_session(judged) as session:
        reported = ReportCache().report(session, "tulips")
    tools = (record_of(each)["tools"] for each in (found, reported))
    for mine, its in zip(*tools, strict=True):
        for key in ("agreement", "answers"):
            assert mine[key] == its[key]
        for key in ("sessions", "seconds_per_judgment", "judgments_per_query", "taken_back"):
            assert mine["effort"][key] == its["effort"][key]
    with pytest.raises(BadData, match="give one of the two"):
        read_report_source([files.path("pairs.tsv"), files.path("judgments.jsonl")])


@pytest.mark.thorough
def test_named_features_are_numbered_and_explained(judged: Sessions, tmp_path: Path) -> None:
    from sklearn.datasets import load_svmlight_file

    with judged.write.begin() as session:
        study = make_study(session, slug="named", documents=4)
        add_features(session, study, named=True)
        (query,) = queries_of(session, study)
        query.external_id = "17"
        judge(session, make_assignment(session, user=make_user(session, name="Eve"), query=query))
    text = exported(judged, "letor", "named", assessor="eve").decode()
    assert text.startswith("# feature 1: bm25\n# feature 2: clicks\n")
    path = tmp_path / "letor"
    path.write_text(text)
    _, _, qids = load_svmlight_file(str(path), query_id=True)
    assert set(qids.tolist()) == {17}


def test_the_last_round_of_a_query_counts(judged: Sessions, tmp_path: Path) -> None:
    with judged.write.begin() as session:
        study = make_study(session, slug="rounds", documents=5)
        (query,) = queries_of(session, study)
        user = make_user(session, email="eve@rounds.example")
        for number, most in ((0, None), (1, None), (2, 1)):
            work = make_assignment(session, user=user, query=query, round=number, k=number + 1)
            judge(session, work, most=most)
    files = Files(judged, tmp_path)
    labels = files(read_qrels, "qrels", "rounds", assessor="eve@rounds.example")
    assert sorted(each.label for each in labels) == [0, 0, 0, 1, 2]


def test_pseudonyms_are_stable_and_give_nobody_away(judged: Sessions, tmp_path: Path) -> None:
    files = Files(judged, tmp_path)
    options: dict[str, Any] = {"pseudonyms": True}
    for name in writable_exports():
        assert b"@tulips.example" not in exported(judged, name, **options)
    with ZipFile(io.BytesIO(exported(judged, "dataset"))) as archive:
        assert not [name for name in archive.namelist() if b"@tulips" in archive.read(name)]
    before = files(read_topk, "topk.jsonl", pseudonyms=True)
    assert [each.assessor for each in before[:2]] == ["assessor-01", "assessor-02"]
    by_email = {each.seed: each.assessor for each in files(read_topk, "topk.jsonl")}
    assert {each.assessor: by_email[each.seed] for each in before} == {
        "assessor-01": BAO,
        "assessor-02": ANSA,
        "assessor-04": CHIDI,
    }
    with judged.write.begin() as session:
        query = session.scalars(select(Query).where(Query.external_id == "q0")).first()
        make_assignment(session, user=make_user(session, email="aa@tulips.example"), query=query)
    after = files(read_topk, "topk.jsonl", pseudonyms=True)
    assert [each for each in after if each.assessor != "assessor-05"] == before


@pytest.mark.thorough
def test_the_same_study_gives_the_same_bytes(judged: Sessions) -> None:
    for name in writable_exports():
        assert exported(judged, name) == exported(judged, name)


def test_an_export_says_what_is_complete(judged: Sessions) -> None:
    with export_session(judged) as session:
        found = open_export(session, "tulips", "topk.jsonl").completeness
        everything = open_export(session, "tulips", "judgments.jsonl").completeness
        ansa = open_export(session, "tulips", "topk.jsonl", ExportOptions(ANSA)).completeness
    assert (found.assigned, found.finished, found.complete) == (5, 3, False)
    assert str(everything) == "grades: 3 of 3 finished; pairs: 3 of 5 finished"
    assert sum(each.withdrawn for each in everything.tools) == 1
    assert ansa.complete


def test_refusals_come_before_the_first_line(judged: Sessions) -> None:
    with judged.write.begin() as session:
        make_judged_study(session, slug="plain")
        bare = make_study(session, slug="bare")
        judge(
            session,
            make_assignment(session, user=make_user(session), query=queries_of(session, bare)[0]),
        )
    with export_session(judged) as session:
        with pytest.raises(NotFound, match="no study 'nothing'"):
            open_export(session, "nothing", "qrels")
        with pytest.raises(NotFound, match=r"no export 'qrel'\. Choose one of topk\.jsonl"):
            open_export(session, "tulips", "qrel")
        with pytest.raises(NotFound, match=f"No assessor 'eve'.*{ANSA}"):
            open_export(session, "tulips", "pairs.tsv", ExportOptions("eve"))
        with pytest.raises(Invalid, match="no features"):
            open_export(session, "bare", "letor", ExportOptions("assessor-01"))


def test_a_study_without_work_exports_empty_files(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="fresh")
    assert exported(sessions, "topk.jsonl", "fresh") == b""
    assert exported(sessions, "pairs.tsv", "fresh").count(b"\n") == 1
    with export_session(sessions) as session:
        state = open_export(session, "fresh", "pairs.tsv").completeness
    assert (str(state), state.complete) == ("nothing is assigned yet", True)


def test_an_export_sees_one_state_of_the_study(judged: Sessions) -> None:
    with export_session(judged) as session:
        chunks = open_export(session, "tulips", "judgments.jsonl").chunks
        with judged.write.begin() as writing:
            second = writing.scalars(select(Query).where(Query.external_id == "q2")).first()
            late = make_assignment(writing, user=make_user(writing), query=second, seed="late")
            judge(writing, late)
        before = b"".join(chunks).decode()
    seen = {json.loads(line)["assessor"] for line in before.splitlines()}
    assert seen == {ANSA, BAO, CHIDI, DEE}
    assert len(exported(judged, "judgments.jsonl").decode()) > len(before)


def test_an_export_that_is_given_up_leaves_nothing_open(
    judged: Sessions, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topkapi.app.services.results.exports.service._CHUNK", 1)
    with judged.write.begin() as session:
        compare_lists(session, "tulips", "ansa@tulips.example")
        judge_in_a_team(session, "ansa@tulips.example")
    for name in writable_exports():
        with export_session(judged) as session:
            assert next(open_export(session, "tulips", name).chunks)
    assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_a_sampled_session_is_exported_where_its_log_leaves_it(
    judged: Sessions, tmp_path: Path
) -> None:
    with judged.write.begin() as session:
        study = make_study(session, slug="robust", queries=2, documents=5)
        user = make_user(session, email="eve@robust.example")
        for query, most in zip(queries_of(session, study), (None, 2), strict=True):
            work = make_assignment(session, user=user, query=query, sorter="robust", budget=6)
            judge(session, work, most=most)
    done, begun = Files(judged, tmp_path)(read_topk, "topk.jsonl", "robust")
    assert (done.complete, len(done.ranking), done.answered) == (True, 3, 6)
    assert (begun.complete, begun.answered) == (False, 2)
    assert begun.options["budget"] == 6
