"""How each figure is computed, as the page explains it."""

from typing import NamedTuple


class Explanation(NamedTuple):
    """Title and text of the explanation of a figure."""

    title: str
    text: str


EXPLANATIONS = {
    "confidence": Explanation(
        "Confidence in the lists",
        "Each session is modelled as the answers of a person who makes some errors; the error rate "
        "is estimated together with the order (prior Beta(2, 18)). Expected quality is the mean "
        "kappa-NDCG of the assessor's list over the posterior; the next column has that of the "
        "most probable list.",
    ),
    "members": Explanation(
        "Members of teams",
        "Learned from the answers of all members together, with 90 % intervals: the share of "
        "answers that have nothing to do with the pages; how far apart pages must be, in standard "
        "deviations of their scores, before they are rarely confused; how close they are when "
        "called equal; and the share of lapses for the left page. Marked as random: an error rate "
        "of one third or more after 30 answers.",
    ),
    "overall": Explanation(
        "Agreement",
        "Every unordered pair of pages of a query counts once per two assessors who both judged "
        "it. They agree if both answered A better, both tie, or both B better.",
    ),
    "without_ties": Explanation(
        "Agreement without ties",
        "Share of pairs on which both assessors preferred the same page, among the pairs on which "
        "both expressed a preference.",
    ),
    "cohen_kappa": Explanation(
        "Cohen's kappa",
        "Agreement beyond what the two assessors' own shares of A better, tie and B better would "
        "give by chance, from the pooled matrix.",
    ),
    "fleiss_kappa": Explanation(
        "Fleiss' kappa",
        "Like Cohen's kappa, for any number of assessors: chance comes from the shares of all "
        "votes. Pairs may have different numbers of votes (Gwet 2014).",
    ),
    "krippendorff_alpha": Explanation(
        "Krippendorff's alpha",
        "One minus observed over expected disagreement, nominal, corrected for few votes. Pairs "
        "with fewer than two votes do not count.",
    ),
    "gwet_ac1": Explanation(
        "Gwet's AC1",
        "Agreement beyond chance, where chance is small if one answer is much more common than "
        "the others. More stable than kappa when most pairs are ties.",
    ),
    "tau_b": Explanation(
        "Kendall's tau-b",
        "Concordant minus discordant pairs, divided by the geometric mean of the pairs that each "
        "assessor did not tie. Mean over queries and pairs of assessors. Pages outside a list are "
        "tied at its end.",
    ),
    "rbo": Explanation(
        "Rank-biased overlap",
        "Expected overlap of the two lists from the top, persistence 0.9, extrapolated, averaged "
        "over all ways to break ties. Mean over queries and pairs of assessors.",
    ),
    "chi": Explanation(
        "The tests",
        "Pearson's chi-square of agreed against disagreed votes, without and with Yates' "
        "correction. It treats every pair as independent. The last p is of a permutation test: it "
        "swaps the tools of whole queries and counts how often the difference is as large. The "
        "interval resamples queries.",
    ),
    "error": Explanation(
        "Estimated error rate",
        "Share of page pairs that an assessor reverses, estimated without ground truth. From lists "
        "and grades it is the share of all pairs; from raw answers, of the pairs asked, which is "
        "higher where a sorter asks about close pages. Assessors come from a common distribution, "
        "so that one with few votes is drawn to the others; pairs may be hard or easy. The "
        "interval is of the posterior. Unlike agreement with the rest, it does not depend on who "
        "the others are. Nothing is shown where the shared judgments cannot tell assessors apart, "
        "as with two of them.",
    ),
    "again": Explanation(
        "Self-consistency",
        "Share of repeated pairs, shown with sides swapped, that got the same answer as the first "
        "time.",
    ),
    "left": Explanation(
        "Left",
        "Share of answers for the page on the left, without ties. Sides are drawn at random, so "
        "it should be near 50 %. The p by query swaps the sides of whole queries.",
    ),
    "circles": Explanation(
        "Intransitive triples",
        "Share of triples of pages, all compared with each other, whose answers fit no order; ties "
        "are allowed in the order. Strict cycles (A over B over C over A) are among them.",
    ),
    "effort": Explanation(
        "Effort",
        "Seconds are of effective answers. Judgments and minutes per query are of finished "
        "sessions; minutes include undone answers. Intervals resample whole queries.",
    ),
    "consensus": Explanation(
        "Consensus",
        "Where there are answers to pairs, the order of Bradley-Terry worths (with ties, ridge .3) "
        "fitted to them. Otherwise Supervised Kemeny: the order that contradicts the fewest votes, "
        "weighted by each assessor's mean agreement with the others. The files name the method.",
    ),
    "lists-systems": Explanation(
        "Which systems win",
        "Share of comparisons that the system won; an answer “the same” counts as half a win. The "
        "strength of a preference does not count. The interval (90 %) resamples whole queries.",
    ),
    "lists-answers": Explanation(
        "Answers",
        "Effective answers by the side shown on the screen. Sides are drawn at random, so the left "
        "list should win as often as the right one; p is of a binomial test.",
    ),
    "lists-gains": Explanation(
        "What a grade is worth",
        "The weight of each grade at each position is learned so that preferred lists are worth "
        "more (Zhou et al. 2013). Gains and discounts are the nearest weights of the form gain x "
        "discount.",
    ),
    "lists-discounts": Explanation(
        "What a position is worth",
        "The discounts of the same weights; both curves sum to 1. If both lists hold the same "
        "pages, a constant added to a grade at every position has no effect: read both curves "
        "together.",
    ),
    "lists-accuracy": Explanation(
        "Accuracy on held-out preferences",
        "Each preference is predicted by gains learned without its query (five folds, three "
        "splits; with fewer than five queries the pairs are split). Lists of equal worth count as "
        "half right. The usual settings learn nothing.",
    ),
    "lists-sizes": Explanation(
        "By the number of training pairs",
        "Accuracy on the remaining preferences after training on random ones; mean of 20 draws.",
    ),
    "lists-differences": Explanation(
        "Difference of worth by answer",
        "Mean absolute difference of worth of the two lists, under gains that were learned without "
        "the pair. It should fall from much better to the same.",
    ),
    "lists-ties": Explanation(
        "Weight of ties",
        "Held-out accuracy, and the mean difference of worth of pairs answered “the same”, for "
        "several weights of such pairs in learning.",
    ),
}
