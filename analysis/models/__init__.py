"""Ranking models by name: ``MODELS["focused-net"](k=10, beta=0.5).fit(data).predict(other)``."""

import json
from pathlib import Path

from topkapi.analysis.errors import BadData, unknown_name
from topkapi.analysis.models.adarank import AdaRank
from topkapi.analysis.models.base import FORMAT, LinearRanker, Ranker
from topkapi.analysis.models.focused_boost import FocusedBoost
from topkapi.analysis.models.focused_net import FocusedNet
from topkapi.analysis.models.focused_svm import FocusedSVM
from topkapi.analysis.models.lightgbm import LightGBM
from topkapi.analysis.models.listmle import ListMLE, TopKListMLE
from topkapi.analysis.models.listnet import ListNet, TopKListNet
from topkapi.analysis.models.rankboost import RankBoost
from topkapi.analysis.models.rankcosine import RankCosine, TopKRankCosine
from topkapi.analysis.models.ranknet import RankNet
from topkapi.analysis.models.ranksvm import RankSVM
from topkapi.analysis.models.regression import Regression
from topkapi.analysis.models.svm_map import SVMMAP
from topkapi.analysis.models.top_margin import TopMargin
from topkapi.analysis.models.top_rank import TopRank
from topkapi.analysis.models.top_slack import TopSlack
from topkapi.analysis.models.xgboost import XGBoost


class _ByName(dict[str, type[Ranker]]):
    """A dictionary whose error for a wrong name says which ones there are."""

    def __missing__(self, name: str) -> type[Ranker]:
        raise unknown_name("model", name, self)


MODELS: dict[str, type[Ranker]] = _ByName(
    (model.name, model)
    for model in (
        Regression,
        RankSVM,
        SVMMAP,
        RankBoost,
        AdaRank,
        RankNet,
        ListNet,
        ListMLE,
        RankCosine,
        TopKListMLE,
        TopKListNet,
        TopKRankCosine,
        FocusedSVM,
        FocusedBoost,
        FocusedNet,
        TopMargin,
        TopSlack,
        TopRank,
        LightGBM,
        XGBoost,
    )
)
"""Every model by its name."""


def model_class(name: str) -> type[Ranker]:
    """Return the class of a model name.

    Parameters
    ----------
    name
        Name of a model, such as ``focused-net``.

    Returns
    -------
    type[Ranker]
        The class.

    Raises
    ------
    UnknownName
        If there is no such model; the message lists the names.
    """
    return MODELS[name]


def load_model(path: str | Path) -> Ranker:
    """Read a model that ``save`` has written.

    Parameters
    ----------
    path
        File written by ``Ranker.save``.

    Returns
    -------
    Ranker
        The fitted model.

    Raises
    ------
    BadData
        If the file is not a saved model of this version.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise BadData(f"{path}: model format {document['format']}, this version reads {FORMAT}")
        model = model_class(document["model"])(**document["settings"])
        return model.restore(document["learned"])
    except (KeyError, TypeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadData(f"{path}: not a saved model ({error})") from None


__all__ = [
    "MODELS",
    "SVMMAP",
    "AdaRank",
    "FocusedBoost",
    "FocusedNet",
    "FocusedSVM",
    "LightGBM",
    "LinearRanker",
    "ListMLE",
    "ListNet",
    "RankBoost",
    "RankCosine",
    "RankNet",
    "RankSVM",
    "Ranker",
    "Regression",
    "TopKListMLE",
    "TopKListNet",
    "TopKRankCosine",
    "TopMargin",
    "TopRank",
    "TopSlack",
    "XGBoost",
    "load_model",
    "model_class",
]
