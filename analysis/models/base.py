"""The contract of a ranker: fit, predict, save as JSON, load."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from topkapi.analysis.data.padding import scores_of
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData, NotFittedError
from topkapi.analysis.json_text import json_text
from topkapi.analysis.typing import FloatArray

FORMAT = 1


def _of_data(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def checked(self: object, data: RankingData, *others: Any, **named: Any) -> Any:
        if not isinstance(data, RankingData):
            raise BadData(
                f"{type(self).__name__}.{method.__name__} takes RankingData, not "
                f"{type(data).__name__}: make it with read_letor or RankingData.from_frame"
            )
        return method(self, data, *others, **named)

    return checked


class Ranker(ABC):
    """A model that orders the documents of a query by score, higher is better.

    Settings are keyword arguments kept under their own names; learned values end in ``_``. The same
    data, settings and seed give the same model.
    """

    name: ClassVar[str]
    learned: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        """Let ``fit`` and ``predict`` of every model refuse what is no data."""
        for name in ("fit", "predict"):
            if name in vars(cls):
                setattr(cls, name, _of_data(vars(cls)[name]))

    def __init__(self, **settings: Any) -> None:
        """Keep the settings; each model names its own."""
        raise TypeError(f"{type(self).__name__} takes no settings: {', '.join(settings)}")

    @abstractmethod
    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn from ``data``; ``validation`` chooses where a model has something to choose."""

    @abstractmethod
    def predict(self, data: RankingData) -> FloatArray:
        """Score every document, (n_rows,)."""

    def settings(self) -> dict[str, Any]:
        """Return the keyword arguments that make an equal model."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def require_fitted(self, data: RankingData | None = None) -> None:
        """Refuse to work before fit, or on documents of another width."""
        if not all(hasattr(self, name) for name in self.learned):
            raise NotFittedError(f"{type(self).__name__} is not fitted: call fit first")
        width = getattr(self, "n_features_", None)
        if data is not None and width is not None and data.n_features != width:
            raise BadData(
                f"the model was fitted on {width} features, the data have {data.n_features}"
            )

    def save(self, path: str | Path) -> None:
        """Write settings and learned values as JSON, every digit kept."""
        Path(path).write_text(json_text(self.as_json()), encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        """Return settings and learned values as plain values."""
        self.require_fitted()
        state = {name: _plain(getattr(self, name)) for name in self.learned}
        return {
            "format": FORMAT,
            "model": self.name,
            "settings": self.settings(),
            "learned": state,
        }

    def restore(self, state: dict[str, Any]) -> Self:
        """Take learned values back from their JSON form."""
        for name in self.learned:
            value = state[name]
            setattr(self, name, np.asarray(value) if isinstance(value, list) else value)
        return self

    def __repr__(self) -> str:
        """Return the call that makes the model."""
        inside = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        return f"{type(self).__name__}({inside})"


class LinearRanker(Ranker):
    """A ranker that scores by a weighted sum of features, ``coef_`` (n_features,)."""

    learned = ("coef_",)
    coef_: FloatArray

    @property
    def n_features_(self) -> int:
        """Width of the documents the model knows."""
        return int(self.coef_.shape[0])

    def predict(self, data: RankingData) -> FloatArray:
        """Score every document by its weighted sum of features, (n_rows,)."""
        self.require_fitted(data)
        return scores_of(data.features, self.coef_)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
