"""Settings tuned on validation data, by model.

[NGLC12]_ (section 4.2.1) tune C of the SVMs, iterations of the nets and beta of FocusedRank;
[LGNC13]_ (section 4.1) C, learning rates and iterations. With exact optimisers a penalty replaces
learning rates and iterations. Settings run from the strongest penalty to the weakest, and
the first of equally good ones is kept. FocusedRank is tuned at beta = .5 first, then beta.
"""

from inspect import signature
from typing import Any

from topkapi.analysis.models import model_class

Settings = dict[str, Any]
Grid = list[tuple[str, list[Any]]]
"""Settings tuned one after the other, each with its candidates."""

_C_PAIRS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]
_C_LISTS = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0]
_L2_PAIRS = [1e4, 1e3, 1e2, 10.0, 1.0, 0.1]
_L2_LISTS = [100.0, 10.0, 1.0, 0.1, 0.01]
_C_TOP = [1.0, 10.0, 100.0]
_BETAS = [round(0.1 * step, 1) for step in range(11)]

GRIDS: dict[str, Grid] = {
    "regression": [("l2", [1e3, 1e2, 10.0, 1.0, 0.1])],
    "ranksvm": [("c", _C_PAIRS)],
    "svm-map": [("c", _C_LISTS)],
    "ranknet": [("l2", _L2_PAIRS)],
    "listnet": [("l2", _L2_LISTS)],
    "listmle": [("l2", _L2_LISTS)],
    "topk-listmle": [("l2", _L2_LISTS)],
    "topk-listnet": [("l2", _L2_LISTS)],
    "focused-svm": [("c", [1.0, 10.0, 100.0]), ("beta", _BETAS)],
    "focused-boost": [("beta", _BETAS)],
    "focused-net": [("l2", _L2_LISTS), ("beta", _BETAS)],
    "top-margin": [("c", _C_TOP)],
    "top-slack": [("c", _C_TOP)],
    "toprank": [("c", _C_TOP)],
    "lightgbm": [("leaves", [4, 8, 16])],
    "xgboost": [("depth", [2, 3, 4, 6])],
}
"""What is tuned of each model."""

PENALTIES = ("c", "l2")
"""Settings whose grid is extended where the best value is at its end."""

EXTENSIONS = 3
"""Values that a grid is extended by at most; a value still at the end is flagged."""

FIXED: dict[str, Settings] = {
    "focused-boost": {"rounds": 150},
    "lightgbm": {"trees": 150},
    "xgboost": {"trees": 150},
}
"""Settings that experiments give a model besides its defaults."""

TITLES = {
    "regression": "Regression",
    "ranksvm": "RankSVM",
    "svm-map": "SVM-MAP",
    "rankboost": "RankBoost",
    "adarank": "AdaRank",
    "ranknet": "RankNet",
    "listnet": "ListNet",
    "listmle": "ListMLE",
    "rankcosine": "RankCosine",
    "topk-listmle": "Top-k ListMLE",
    "topk-listnet": "Top-k ListNet",
    "topk-rankcosine": "Top-k RankCosine",
    "focused-svm": "FocusedSVM",
    "focused-boost": "FocusedBoost",
    "focused-net": "FocusedNet",
    "top-margin": "TopMargin",
    "top-slack": "TopSlack",
    "toprank": "TopRank",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
}

TABLE_ORDER = [
    *("svm-map", "ranksvm", "focused-svm", "adarank", "rankboost", "focused-boost"),
    *("listnet", "ranknet", "focused-net", "topk-listmle", "listmle", "topk-listnet"),
    *("rankcosine", "topk-rankcosine", "regression", "top-margin", "top-slack", "toprank"),
    *("lightgbm", "xgboost"),
]
"""Rows as in Tables 4 and 5 of [NGLC12]_, then the models those tables lack."""


def effort(name: str) -> dict[str, Any]:
    """Describe the tuning of a model in its result rows.

    Rows of other grids are not reused.
    """
    grid, fixed = GRIDS.get(name, []), FIXED.get(name, {})
    return {"grid": grid, "fixed": fixed, "extensions": EXTENSIONS}


def title(name: str, k: int | None = None) -> str:
    """Return the title of a model in tables.

    >>> title("topk-listmle", 3)
    'Top-3 ListMLE'
    """
    text = TITLES.get(name, name)
    return text if k is None else text.replace("Top-k", f"Top-{k}")


def accepts(name: str, setting: str) -> bool:
    """Tell whether a model has a setting of this name."""
    return setting in signature(model_class(name)).parameters
