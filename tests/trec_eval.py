"""trec_eval's own code, from the library inside the package pytrec_eval, run as trec_eval is.

    python tests/trec_eval.py FORMAT PREFS RUN MEASURE...

prints measure, query and value, as ``trec_eval -q -n -R FORMAT -m MEASURE`` does. The package
compiles all of trec_eval but its ``main``, which this file stands in for. It runs as a process of
its own because trec_eval aborts where preferences contradict each other.
"""

import ctypes
import subprocess
import sys
from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_long, c_void_p
from importlib.util import find_spec
from pathlib import Path
from typing import Any


class _Options(Structure):
    _fields_ = (
        *[(name, c_long) for name in ("query_flag", "summary_flag", "debug_level")],
        ("debug_query", c_char_p),
        *[(name, c_long) for name in ("relation_flag", "complete_flag", "judged_only_flag")],
        *[(name, c_long) for name in ("docs_in_collection", "relevance_level", "most_documents")],
        ("rel_format", c_char_p),
        ("results_format", c_char_p),
        ("zscore_flag", c_long),
        ("arguments", c_void_p),
    )


class _Value(Structure):
    _fields_ = (("name", c_char_p), ("value", c_double))


class _Evaluation(Structure):
    _fields_ = (
        ("query", c_char_p),
        ("queries", c_long),
        ("values", POINTER(_Value)),
        ("number", c_long),
        ("room", c_long),
    )


class _Results(Structure):
    _fields_ = (*[(name, c_char_p) for name in ("query", "run", "format")], ("content", c_void_p))


class _Judged(Structure):
    _fields_ = (("query", c_char_p), ("format", c_char_p), ("content", c_void_p))


class _AllResults(Structure):
    _fields_ = (("number", c_long), ("room", c_long), ("each", POINTER(_Results)))


class _AllJudged(Structure):
    _fields_ = (("number", c_long), ("room", c_long), ("each", POINTER(_Judged)))


_CALCULATE = CFUNCTYPE(
    c_int, POINTER(_Options), POINTER(_Judged), POINTER(_Results), c_void_p, POINTER(_Evaluation)
)


class _Measure(Structure):
    _fields_ = (
        ("name", c_char_p),
        ("explanation", c_char_p),
        ("init", c_void_p),
        ("calculate", _CALCULATE),
        *[(name, c_void_p) for name in ("accumulate", "average", "single", "final", "parameters")],
        ("index", c_long),
    )


NO_WHEEL = "trec_eval's code is not installed: it has no wheel for this machine"


def reference_library(name: str) -> Any:
    """Import `pytrec_eval` or `ir_measures`; skip the test where it is not installed."""
    import pytest  # not needed where this file is run as a process

    return pytest.importorskip(name, reason=NO_WHEEL)


def trec_eval(
    kind: str, prefs: Path, run: Path, measures: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return trec_eval's values by measure and query; skip the test where it is not installed."""
    import pytest  # not needed where this file is run as a process

    if find_spec("pytrec_eval_ext") is None:
        pytest.skip(NO_WHEEL)
    command = [sys.executable, __file__, kind, str(prefs), str(run), *measures]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, dict[str, float]] = {}
    for line in ran.stdout.splitlines():
        measure, query, value = line.split("\t")
        found.setdefault(measure, {})[query] = float(value)
    return found


def _evaluate(kind: str, prefs: str, run: str, measures: list[str]) -> None:
    spec = find_spec("pytrec_eval_ext")
    assert spec is not None
    assert spec.origin is not None
    library = ctypes.PyDLL(spec.origin)
    options = _Options(most_documents=2**62, rel_format=kind.encode())
    judged, results = _AllJudged(), _AllResults()
    read = getattr(library, f"te_get_{kind}")
    assert read(ctypes.byref(options), prefs.encode(), ctypes.byref(judged)) == 1
    assert (
        library.te_get_trec_results(ctypes.byref(options), run.encode(), ctypes.byref(results)) == 1
    )
    queries = {judged.each[at].query: judged.each[at] for at in range(judged.number)}
    for at in range(results.number):
        mine = results.each[at]
        if mine.query in queries:
            for name in measures:
                value = _value(library, name, options, queries[mine.query], mine)
                sys.stdout.write(f"{name}\t{mine.query.decode()}\t{value!r}\n")


def _value(
    library: ctypes.CDLL, name: str, options: _Options, judged: _Judged, results: _Results
) -> float:
    measure = _Measure.in_dll(library, f"te_meas_{name}")
    measure.index = 0
    value = _Value(measure.name, 0.0)
    found = _Evaluation(results.query, 1, ctypes.pointer(value), 1, 1)
    ended = measure.calculate(
        ctypes.byref(options),
        ctypes.byref(judged),
        ctypes.byref(results),
        ctypes.byref(measure),
        ctypes.byref(found),
    )
    assert ended == 1, name
    return float(value.value)


if __name__ == "__main__":
    _evaluate(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
