"""Topkapi: top-k preference labeling, and the analysis of its labels.

>>> import topkapi
>>> sorted(topkapi.MODELS)[:3]
['adarank', 'focused-boost', 'focused-net']

Names are imported when they are first used: the command line needs none of them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topkapi.analysis.library import (
        MODELS,
        agreement,
        consensus,
        evaluate,
        read_pairs,
        read_run,
        report,
    )
    from topkapi.app.services.simulation.planning import plan

    __version__: str

__all__ = [
    "MODELS",
    "__version__",
    "agreement",
    "consensus",
    "evaluate",
    "plan",
    "read_pairs",
    "read_run",
    "report",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from topkapi.extras import library_version

        return library_version()
    if name == "plan":  # it simulates the sessions of the program
        from topkapi.app.services.simulation.planning import plan

        return plan
    if name in __all__:
        from topkapi.analysis import library

        return getattr(library, name)
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(__all__)}"
    raise AttributeError(f"topkapi has no {name!r}: {hint}")


def __dir__() -> list[str]:
    return [*__all__, "analysis", "app"]
