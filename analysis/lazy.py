"""The packages of the extra `analysis`, imported when they are first used.

A server that never computes a report needs none of them, and says what to install if it does.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import joblib
    from matplotlib import figure as matplotlib_figure
    from scipy import linalg, optimize, sparse, special, stats
    from scipy.sparse import csgraph
else:
    from topkapi.extras import LazyModule

    joblib = LazyModule("joblib", "analysis", "joblib")
    matplotlib_figure = LazyModule("matplotlib.figure", "analysis", "Matplotlib")
    linalg, optimize, sparse, special, stats, csgraph = (
        LazyModule(f"scipy.{name}", "analysis", "SciPy")
        for name in ("linalg", "optimize", "sparse", "special", "stats", "sparse.csgraph")
    )

__all__ = [
    "csgraph",
    "joblib",
    "linalg",
    "matplotlib_figure",
    "optimize",
    "sparse",
    "special",
    "stats",
]
