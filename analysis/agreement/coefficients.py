r"""Agreement beyond chance: Cohen, Fleiss, Krippendorff and Gwet.

All functions work on sums that add over queries, so that a bootstrap over queries is one matrix
product; leading axes are batches, and an undefined coefficient is NaN (no shared judgments, or
chance alone already explains everything because a single category was used).

With observed agreement :math:`p_o` and chance agreement :math:`p_e` each is
:math:`(p_o - p_e) / (1 - p_e)`; they differ in :math:`p_e`, and where judgments are missing also
in :math:`p_o`.
"""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement.preferences import Preferences, QueryVotes
from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.typing import FloatArray, IntArray

WIDTH = 15  # sums of one query: 9 coincidences, agreement of units, units, 3 shares, rated units
TINY = 1e-12  # sums of products of counts: below it a difference from 1 is rounding


def both_orders(counts: IntArray | FloatArray) -> FloatArray:
    """Average tables (..., 3, 3) over both orders of every document pair.

    Which document is A is arbitrary, and chance agreement must not depend on it. The number of
    votes stays the same.

    Parameters
    ----------
    counts
        Tables (..., 3, 3).

    Examples
    --------
    >>> both_orders(np.array([[4, 0, 0], [0, 0, 1], [0, 0, 0]])).tolist()
    [[2.0, 0.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 2.0]]
    """
    return (counts + counts[..., ::-1, ::-1]) / 2


def cohen_kappa(counts: IntArray | FloatArray) -> FloatArray:
    """Compute Cohen's kappa of tables (..., c, c) [Coh60]_.

    Chance comes from each assessor's own margins.

    Parameters
    ----------
    counts
        Tables (..., c, c).

    Examples
    --------
    >>> float(cohen_kappa(np.array([[737, 302, 53], [355, 2557, 207], [72, 260, 356]])))
    0.5135
    """
    shares = ratio(counts, np.sum(counts, axis=(-2, -1), keepdims=True))
    chance = (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1)
    return _beyond(np.trace(shares, axis1=-2, axis2=-1), chance)


def gwet_ac1_of_table(counts: IntArray | FloatArray) -> FloatArray:
    """Compute Gwet's AC1 of two assessors' tables (..., c, c) [Gwe14]_.

    Parameters
    ----------
    counts
        Tables (..., c, c).

    Examples
    --------
    >>> float(gwet_ac1_of_table(np.array([[737, 302, 53], [355, 2557, 207], [72, 260, 356]])))
    0.6546
    """
    shares = ratio(counts, np.sum(counts, axis=(-2, -1), keepdims=True))
    used = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    return _beyond(np.trace(shares, axis1=-2, axis2=-1), _ac1_chance(used))


def alpha_of_table(counts: IntArray | FloatArray) -> FloatArray:
    """Compute Krippendorff's nominal alpha of two assessors' tables (..., c, c) [Kri13]_.

    Parameters
    ----------
    counts
        Tables (..., c, c).

    Examples
    --------
    >>> float(alpha_of_table(np.array([[737, 302, 53], [355, 2557, 207], [72, 260, 356]])))
    0.5134
    """
    table: FloatArray = np.asarray(counts, dtype=float)
    return _alpha(table + np.swapaxes(table, -1, -2))


@dataclass(frozen=True, slots=True)
class RatingSums:
    """Sums over judged pairs for coefficients of any number of assessors.

    Attributes
    ----------
    values
        Sums (..., 15): coincidences 3 x 3, sum of unit agreement, units with two or more votes, sum
        of vote shares by category, units with a vote.
    """

    values: FloatArray

    @property
    def coincidences(self) -> FloatArray:
        """Krippendorff's coincidence matrix (..., 3, 3)."""
        return self.values[..., :9].reshape((*self.values.shape[:-1], 3, 3))


def rating_sums(preferences: Preferences) -> RatingSums:
    """Compute the sums of every query (n_queries, 15).

    A judged pair is a unit, an assessor a coder. Every pair is averaged over both orders of its
    documents.

    Parameters
    ----------
    preferences
        Votes of a study under one tool.
    """
    values = np.zeros((preferences.n_queries, WIDTH))
    for block in preferences.blocks:
        values[block.query] = _block_sums(block)
    return RatingSums(values)


def _block_sums(block: QueryVotes) -> FloatArray:
    votes = np.stack([(block.votes == code).sum(axis=0) for code in range(3)], axis=1).astype(float)
    raters = votes.sum(axis=1)
    sums = np.zeros(WIDTH)
    for coders in np.unique(raters[raters > 0]):  # whole numbers add alike in every order of pairs
        rated = votes[raters == coders]
        used, rows = (rated + rated[:, ::-1]).sum(axis=0) / 2, len(rated)
        sums[11:] += [*(used / coders), rows]
        if coders > 1:
            together = both_orders(rated.T @ rated) - np.diag(used)
            sums[:9] += together.ravel() / (coders - 1)
            sums[9:11] += [np.trace(together) / (coders * (coders - 1)), rows]
    return sums


def krippendorff_alpha(sums: RatingSums) -> FloatArray:
    """Compute Krippendorff's nominal alpha.

    Pairs with fewer than two votes do not count.

    Parameters
    ----------
    sums
        Sums of :func:`rating_sums`.

    Examples
    --------
    >>> from topkapi.analysis.agreement.preferences import Scores, from_scores
    >>> both = Scores(0, np.array([0, 1]), np.array([[2.0, 1, 0], [2, 0, 1]]))
    >>> float(krippendorff_alpha(rating_sums(from_scores([both], 2, 1)))[0])
    0.4444
    """
    return _alpha(sums.coincidences)


def fleiss_kappa(sums: RatingSums) -> FloatArray:
    """Compute Fleiss' kappa.

    The number of votes may differ between pairs, as in [Gwe14]_, section 2.5.

    Parameters
    ----------
    sums
        Sums of :func:`rating_sums`.
    """
    observed, used = _observed_and_used(sums)
    return _beyond(observed, (used**2).sum(axis=-1))


def gwet_ac1(sums: RatingSums) -> FloatArray:
    """Compute Gwet's AC1 for any number of assessors [Gwe14]_.

    Votes may be missing.

    Parameters
    ----------
    sums
        Sums of :func:`rating_sums`.
    """
    observed, used = _observed_and_used(sums)
    return _beyond(observed, _ac1_chance(used))


def _observed_and_used(sums: RatingSums) -> tuple[FloatArray, FloatArray]:
    values = sums.values
    observed = ratio(values[..., 9], values[..., 10])
    return observed, ratio(values[..., 11:14], values[..., 14:15])


def _ac1_chance(used: FloatArray) -> FloatArray:
    chance: FloatArray = (used * (1 - used)).sum(axis=-1) / (used.shape[-1] - 1)
    return chance


def _alpha(coincidences: FloatArray) -> FloatArray:
    margins = coincidences.sum(axis=-1)
    total = margins.sum(axis=-1)
    observed = total - np.trace(coincidences, axis1=-2, axis2=-1)
    expected = total**2 - (margins**2).sum(axis=-1)
    scale = np.maximum(total, 1) ** 2
    return 1 - ratio((total - 1) * observed / scale, expected / scale, least=TINY)


def _beyond(observed: FloatArray, chance: FloatArray) -> FloatArray:
    return ratio(observed - chance, 1 - chance, least=TINY)
