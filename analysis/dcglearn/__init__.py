"""Gains and discounts of DCG learned from people's preferences between rankings ([ZZCX13]_)."""

from topkapi.analysis.dcglearn.active import by_uncertainty
from topkapi.analysis.dcglearn.gains import Gains, load_gains, usual_gains, utilities
from topkapi.analysis.dcglearn.learned import Learned, learn_gains
from topkapi.analysis.dcglearn.learner import DCGLearn
from topkapi.analysis.dcglearn.preferences import ANSWERS, ListPreferences
from topkapi.analysis.dcglearn.similarity import accuracy, centred_similarity, t_similarity

__all__ = [
    "ANSWERS",
    "DCGLearn",
    "Gains",
    "Learned",
    "ListPreferences",
    "accuracy",
    "by_uncertainty",
    "centred_similarity",
    "learn_gains",
    "load_gains",
    "t_similarity",
    "usual_gains",
    "utilities",
]
