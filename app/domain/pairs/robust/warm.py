"""Warm-up: compile every inner loop, or load it from the cache, before the first request."""

from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter


def compile_all() -> None:
    """Run a short session with every kind of answer."""
    sorter = RobustSorter(12, 2, seed=0, span=8)
    for preference in (Preference.FIRST, Preference.SECOND, Preference.TIE):
        pair = sorter.ask()
        assert pair is not None
        sorter.take(Answered(pair, preference))
    sorter.ask()
    sorter.conclude()
    sorter.evidence()
    sorter.rewind(2)
