"""Preference measures against plain loops over pairs, and against trec_eval itself."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trec_eval import trec_eval
from topkapi.analysis.data.exports import PreferenceLevel, prefs_lines, read_prefs
from topkapi.analysis.data.runs import Run, read_run
from topkapi.analysis.errors import BadData, UnknownName
from topkapi.analysis.metrics import PREFS_MEASURES, evaluate_prefs, prefs_summary

DOCUMENTS = tuple("abcdefg")


@st.composite
def groups(draw: st.DrawFn, query: str, group: str) -> list[PreferenceLevel]:
    """Draw levels that do not contradict each other: subgroups are parts of one order."""
    order = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1))
    parts = draw(st.lists(st.sets(st.sampled_from(sorted(order)), min_size=1), max_size=3))
    return [
        PreferenceLevel(query, group, name, order[name], str(number))
        for number, part in enumerate(parts or [set(order)], start=1)
        for name in sorted(part)
    ]


@st.composite
def cases(draw: st.DrawFn, most: int = 3) -> tuple[list[PreferenceLevel], Run]:
    """Draw the preferences of several people for several queries, and a run with equal scores."""
    queries = [f"q{number}" for number in range(draw(st.integers(1, most)))]
    names = [(query, f"p{at}") for query in queries for at in range(draw(st.integers(1, 4)))]
    levels = [each for query, name in names for each in draw(groups(query, name))]
    retrieved = st.dictionaries(
        st.sampled_from((*DOCUMENTS, "x", "0")), st.integers(0, 4).map(float), min_size=1
    )
    return levels, {query: draw(retrieved) for query in queries}


def preferred(levels: list[PreferenceLevel]) -> set[tuple[str, str]]:
    """Return who is preferred to whom in one group, directly or through others."""
    pairs = {
        (one.document, two.document)
        for one, two in permutations(levels, 2)
        if one.subgroup == two.subgroup and one.level > two.level
    }
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return pairs


def brute(levels: list[PreferenceLevel], scores: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Yield each measure of one query by its definition."""
    ranks = {name: at for at, name in enumerate(sorted(scores, key=lambda n: (-scores[n], n)))}
    by_group: dict[str, list[PreferenceLevel]] = {}
    for each in levels:
        by_group.setdefault(each.group, []).append(each)
    everyone = [preferred(mine) for mine in by_group.values()]

    def fulfilled(pair: tuple[str, str]) -> bool:
        return pair[0] in ranks and ranks[pair[0]] < ranks.get(pair[1], len(ranks))

    for ending, needed in (("", 0), ("_imp", 1), ("_ret", 2)):
        kept = [{p for p in mine if sum(n in ranks for n in p) >= needed} for mine in everyone]
        votes = [fulfilled(pair) for mine in kept for pair in mine]
        yield f"prefs_simp{ending}", sum(votes) / max(len(votes), 1)
        shares = [sum(map(fulfilled, mine)) / max(len(mine), 1) for mine in kept]
        yield f"prefs_avgjg{ending}", sum(shares) / len(shares)
        pairs: dict[frozenset[str], list[bool]] = {}
        for mine in kept:
            for pair in mine:
                pairs.setdefault(frozenset(pair), []).append(fulfilled(pair))
        means = [sum(each) / len(each) for each in pairs.values()]
        yield f"prefs_pair{ending}", sum(means) / max(len(means), 1)
        if needed != 1:
            yield f"prefs_num_prefs_ful{ending}", sum(votes)
        if not needed:
            yield "prefs_num_prefs_poss", len(votes)


@pytest.mark.thorough
@settings(max_examples=40)
@given(cases())
def test_measures_equal_their_definitions(case: tuple[list[PreferenceLevel], Run]) -> None:
    levels, run = case
    found = evaluate_prefs(levels, run, PREFS_MEASURES)
    for query, scores in run.items():
        for name, value in brute([each for each in levels if each.query == query], scores):
            assert found[name][query] == pytest.approx(value, abs=1e-12), name


def write(folder: Path, levels: list[PreferenceLevel], run: Run) -> tuple[Path, Path]:
    paths = folder / "prefs", folder / "run"
    paths[0].write_text("".join(prefs_lines(levels)))
    rows = [(query, name, score) for query, of in run.items() for name, score in of.items()]
    paths[1].write_text("".join(f"{query} Q0 {name} 0 {score} r\n" for query, name, score in rows))
    return paths


@settings(max_examples=15)  # each runs a process; together they have some 100 queries
@given(cases(most=15))
def test_measures_equal_trec_eval(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[list[PreferenceLevel], Run]
) -> None:
    levels, run = case
    paths = write(tmp_path_factory.mktemp("prefs"), levels, run)
    theirs = trec_eval("prefs", *paths, PREFS_MEASURES)
    ours = evaluate_prefs(read_prefs(paths[0]), read_run(paths[1]), PREFS_MEASURES)
    for name in PREFS_MEASURES:
        assert ours[name] == pytest.approx(theirs[name], abs=1e-12), name


def test_scores_that_32_bits_cannot_tell_apart_are_ordered_by_id(tmp_path: Path) -> None:
    levels = [PreferenceLevel("q", "p", name, "ab".index(name) + 1) for name in "ab"]
    run = {"q": {"a": 12.0000001, "b": 12.0000002}}
    ours = evaluate_prefs(levels, run, ["prefs_simp"])
    assert ours == {"prefs_simp": {"q": 0.0}}
    assert ours == trec_eval("prefs", *write(tmp_path, levels, run), ["prefs_simp"])


def test_counts_are_added_up_and_shares_averaged() -> None:
    levels = [
        PreferenceLevel(query, "p", name, "ba".index(name)) for query in "qr" for name in "ab"
    ]
    found = evaluate_prefs(levels, {"q": {"a": 1.0}}, ["prefs_simp", "prefs_num_prefs_poss"])
    assert found["prefs_simp"] == {"q": 1.0, "r": 0.0}
    assert {name: prefs_summary(name, values) for name, values in found.items()} == {
        "prefs_simp": 0.5,
        "prefs_num_prefs_poss": 2.0,
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a 2 1, b 1 1, b 2 2, a 1 2", "contradict each other"),
        ("a 2 1, a 1 1", "document a twice"),
        ("a 0 1, b 1 1, a 1 2", "level 0 and another"),
    ],
)
def test_preferences_that_contradict_each_other_are_refused(rows: str, message: str) -> None:
    levels = [
        PreferenceLevel("q", "p", name, float(level), part)
        for name, level, part in (row.split() for row in rows.split(", "))
    ]
    with pytest.raises(BadData, match=message):
        evaluate_prefs(levels, {"q": {"a": 1.0}}, ["prefs_simp"])


def test_unknown_measures_and_strange_runs_are_refused() -> None:
    levels = [PreferenceLevel("q", "p", "a", 1)]
    with pytest.raises(UnknownName, match="write prefs_simp, "):
        evaluate_prefs(levels, {"q": {"a": 1.0}}, ["prefs"])
    with pytest.raises(BadData, match="no query in common"):
        evaluate_prefs(levels, {"r": {"a": 1.0}}, ["prefs_simp"])
