"""Hypothesis strategies shared by the tests of the domain."""

from hypothesis import strategies as st

from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorters.registry import SORTERS

EXACT_SORTERS = sorted(name for name, info in SORTERS.items() if not info.sampled)
sorter_names = st.sampled_from(EXACT_SORTERS)
seeds = st.text("0123456789abcdef", min_size=1, max_size=8)


@st.composite
def orders(draw: st.DrawFn, max_size: int = 24) -> tuple[int, ...]:
    """Draw distinct document numbers in any order."""
    numbers = st.lists(st.integers(1, 999), unique=True, max_size=max_size)
    return tuple(draw(numbers))


@st.composite
def plans(draw: st.DrawFn, max_size: int = 16) -> Plan:
    """Draw a small valid plan with a deterministic sorter."""
    return Plan(
        order=draw(orders(max_size)),
        k=draw(st.integers(1, 12)),
        sorter=draw(sorter_names),
        allow_ties=True,
        allow_bad=True,
        reuse_answers=draw(st.booleans()),
        infer_transitive=draw(st.booleans()),
        best_of=draw(st.sampled_from([1, 1, 1, 3])),
        recheck=draw(st.sampled_from([0, 0, 1])),
        check_share=draw(st.sampled_from([0.0, 0.0, 0.3, 1.0])),
        seed=draw(seeds),
    )
