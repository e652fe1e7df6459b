"""Error rates of assessors without a ground truth, from how they agree with each other.

Both models are hierarchical: the log-odds of the rates are normal with unknown mean and spread, so
that an assessor with few votes is drawn to the others instead of to 0. ``errors_of_answers`` is for
raw answers to pairs, ``errors_of_lists`` for lists and grades, whose pairs imply each other.
"""

from topkapi.analysis.agreement.reliability.answers import errors_of_answers
from topkapi.analysis.agreement.reliability.lists import errors_of_lists
from topkapi.analysis.agreement.reliability.rates import ErrorRates, identified

__all__ = ["ErrorRates", "errors_of_answers", "errors_of_lists", "identified"]
