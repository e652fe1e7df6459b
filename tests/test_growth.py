"""Processing of untrusted input takes a number of steps linear in its size.

Each input is a repeated piece. Four times as many pieces may take four times the steps, and a
little more. What happens inside a regular expression is not counted: patterns have a test of
their own.
"""

import cProfile
import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turbohtml import Token, tokenize

import topkapi
from topkapi.app.domain.text.highlighting import term_pattern
from topkapi.app.domain.text.snippets import snippet, without_markdown
from topkapi.app.domain.text.terms import query_terms
from topkapi.app.services.importing.records.contents import plain_text
from topkapi.app.services.pages import cleaning
from topkapi.app.services.pages.rendering import rendered_html
from topkapi.app.web.common.formats import to_html

PIECES = [
    "<", "<a", "<a ", "<a b='", "<a b=1 ", "<link rel=rel=", "<link rel=", "<pre<pre", "<pre>", "[",
    "[[[[", "](", "[](", "[a](", "![", "<div>", "<b>", "<i><div>", "<p><b>", "<a><b><i><p>", "<p>",
    "<table>", "<table><td>", "<svg>", "<svg><style/>", "<svg><title/>", "<math><mi>", "<!--", "&",
    "<!-- -->", "<script>", "<style>", "<style></style", "<noscript>", "<noscript></noscript>",
    "</", "</p>", "</svg>", "<template>", "<select>", "&amp", "&#x", "<![CDATA[", "]]>", "<?", "\0",
    "\r", "<textarea>", "<plaintext>", "<title>", "<!doctype>", "<!doctype html>", " ", "\n", "a ",
    "tulip ", "cut ", "cut \n", "|", "|-", "| ", "*", "`", "_", "*a_", "> ", "- ", "# ", "a-", "a.",
    "@", ":", "=", "docid", "docid ", "docid=", "charset", "<meta ", "<meta charset=", "charset= ",
    "qid:", "1:", "1:2 ", "\\", "#docid = a query = ", "<top>", "-", "'", '"', "a:", "é",
]  # fmt: skip
MATCHED = {  # patterns that are only matched with a whole value, not searched for
    "topkapi.app.services.accounts.oidc.EMAIL",
    "topkapi.app.services.accounts.users.EMAIL",
    "topkapi.app.services.values._SCHEME",
    "topkapi.app.services.importing.records.letor._UNGROUPED",
    "topkapi.app.services.values._ID",
    "topkapi.app.services.importing.layout.head._SLUG",
    "topkapi.app.services.importing.uploads.store._ID",
    "topkapi.app.web.pages.open_pages._VALUE",
    "topkapi.app.web.server.logs._REQUEST_ID",
    "topkapi.app.services.importing.kinds.queries._LABEL",
    "topkapi.app.services.pages.cleaning._NAME",
    "topkapi.app.services.pages.cleaning._ATTRIBUTE",
    "topkapi.app.services.pages.cleaning._ELSEWHERE",
    "topkapi.app.services.pages.rendering._DOCTYPE_ID",
    "topkapi.analysis.metrics.registry._NAME",
    "topkapi.analysis.data.exports.cells._RUN",
}


LONG = 40_000  # characters
SIMPLE = re.compile("[ab]")
RATIO = 9  # to SIMPLE: the slowest pattern in linear time needs 2.5, the fastest other one 33 to 64
BOUNDED = {"topkapi.app.services.importing.records.pages._CHARSET"}  # searched for in 2 kB only


def grows_linearly(steps: Callable[[int], int], few: int = 50) -> bool:
    steps(few - 1)  # compiles patterns; another size, because results may be cached
    return steps(4 * few) <= 4.5 * steps(few) + 500


class Counted:
    """Counts calls of Python and C functions, and the characters passed to the tokenizer."""

    def __init__(self) -> None:
        self.steps = 0

    def run(self, act: Callable[[str], object], text: str) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cleaning, "tokenize", self._tokenize)
            profile = cProfile.Profile()
            with profile:
                result = act(text)
        called = sum(entry.callcount for entry in profile.getstats())
        return called + self.steps + (len(result) if isinstance(result, str) else 0)

    def _tokenize(self, source: str) -> Iterator[Token]:
        self.steps += len(source)
        return tokenize(source)


ACTS: dict[str, Callable[[str], object]] = {
    "rendered": lambda text: rendered_html(text, ["tulip", "cut tulips", "a"]),
    "without links": lambda text: rendered_html(text, [], links=False),
    "plain text": plain_text,
    "snippet": lambda text: snippet(without_markdown(text), ["tulip", "a b"]),
    "query terms": query_terms,
    "markdown": to_html,
}


def calls(act: str, piece: str) -> Callable[[int], int]:
    return lambda count: Counted().run(ACTS[act], piece * count)


@pytest.mark.thorough
@pytest.mark.parametrize("act", ACTS)
def test_hostile_pages_take_no_more_steps_than_others(act: str) -> None:
    few = 100 if act == "markdown" else 50  # it takes more steps until it reaches its nesting limit
    ACTS[act]("")  # compiles its patterns
    assert [piece for piece in PIECES if not grows_linearly(calls(act, piece), few)] == []


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join))
@settings(max_examples=60)
def test_pages_of_mixed_pieces_take_linear_steps(piece: str) -> None:
    for act in ("rendered", "plain text", "snippet"):
        assert grows_linearly(calls(act, piece))


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield every compiled pattern of the program, by module and name."""
    for module in pkgutil.walk_packages(topkapi.__path__, "topkapi."):
        if ".test" not in module.name and "__main__" not in module.name:
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern):
                    yield f"{module.name}.{name}", value
    for terms in (["a b", "a", "a a a a b"], ["tulip", "cut tulips", "cut cut cut"]):
        found = term_pattern(terms)
        assert found is not None
        yield f"terms {terms}", found


def ends_soon(pattern: re.Pattern[Any], piece: str, *, whole: bool = False) -> bool:
    """Return whether a long text of pieces takes at most RATIO times the CPU time of `SIMPLE`.

    Python's own engine works, and is interrupted. A machine that was slow just then gets a second
    and a third try.
    """
    source = piece * (LONG // len(piece))
    text = source if isinstance(pattern.pattern, str) else source.encode()
    act = pattern.fullmatch if whole else partial(pattern.sub, text[:0])
    return any(
        _ends_within(RATIO * _time_of_simple(again=number > 0), act, text) for number in range(3)
    )


_TIMES: list[float] = []


def _time_of_simple(*, again: bool) -> float:
    if again or not _TIMES:
        before = time.process_time()  # seconds: compared with others of this process
        SIMPLE.sub("", "a" * LONG)
        _TIMES.append(time.process_time() - before)  # seconds: the same
    return _TIMES[-1]


def _ends_within(seconds: float, act: Callable[[Any], object], text: str | bytes) -> bool:
    before = signal.signal(signal.SIGVTALRM, _interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        act(text)
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return True


def _interrupt(*_: object) -> NoReturn:
    raise TimeoutError


@pytest.mark.thorough
def test_no_pattern_takes_long_on_a_text_of_any_piece() -> None:
    slow = [
        (name, piece)
        for name, pattern in patterns()
        if name not in BOUNDED
        for piece in PIECES
        if not ends_soon(pattern, piece, whole=name in MATCHED)
    ]
    assert slow == []


@pytest.mark.parametrize(
    ("source", "piece"),
    [
        (r"!?\[([^\]\n]*)\]\([^)\s]*(?:\s[^)]*)?\)", "["),
        (r"<(/?)pre\b[^>]*>", "<pre "),
        (r"(?:a+)+b", "a"),
    ],
)
def test_patterns_that_backtrack_are_interrupted(source: str, piece: str) -> None:
    assert not ends_soon(re.compile(source), piece)
