"""TopSlack: a structural SVM for the top of the list, slack scaling."""

from typing import ClassVar

from topkapi.analysis.models.oracles.slack_search import slack_violation
from topkapi.analysis.models.top_margin import TopMargin, Violation


class TopSlack(TopMargin):
    r"""TopSlack ([CSX15]_, section 3.1): TopMargin's problem with slacks scaled by the loss.

    .. math:: \xi_i = \max_y \Delta(y_i, y)\,(1 - w\,(\Psi(x_i, y_i) - \Psi(x_i, y)))

    A ranking that is already apart by 1 costs nothing, however wrong it is. The largest slack is
    exact for Precision and, at the usual depths, for NDCG: see ``slack_violation``.
    """

    name = "top-slack"
    violation: ClassVar[Violation] = staticmethod(slack_violation)
