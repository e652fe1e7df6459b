"""How each figure is computed, as the page explains it."""

from typing import NamedTuple


class Explanation(NamedTuple):
    """Title and text of the explanation of a figure."""

    title: str
    text: str


EXPLANATIONS = {
    "confidence": Explanation(
        "How sure the lists are",
        "The answers of a session are weighed as those of a person who errs now and then, with the "
        "error rate estimated along (Beta(2, 18) before the first answer). Expected quality is the "
        "mean kappa-NDCG of the assessor's list over all orders that the answers leave probable; "
        "beside it stands that of the most probable list.",
    ),
    "overall": Explanation(
        "Agreement",
        "Every unordered pair of pages of a query is counted once for every two assessors who "
        "both judged it; it agrees if both say A better, both tie, or both say B better.",
    ),
    "without_ties": Explanation(
        "Agreement without ties",
        "Only pairs on which both assessors expressed a preference count; the share on which it "
        "is the same page.",
    ),
    "cohen_kappa": Explanation(
        "Cohen's kappa",
        "Agreement beyond what the two assessors' own shares of A better, tie and B better would "
        "give by chance, from the pooled matrix.",
    ),
    "fleiss_kappa": Explanation(
        "Fleiss' kappa",
        "As Cohen's, for any number of assessors: chance comes from the shares of all votes. "
        "Pairs may have different numbers of votes (Gwet 2014).",
    ),
    "krippendorff_alpha": Explanation(
        "Krippendorff's alpha",
        "One less observed over expected disagreement, nominal, with its correction for few "
        "votes; pairs with fewer than two votes do not count.",
    ),
    "gwet_ac1": Explanation(
        "Gwet's AC1",
        "Agreement beyond chance, where chance is small when one answer is much more common than "
        "the others; steadier than kappa when most pairs tie.",
    ),
    "tau_b": Explanation(
        "Kendall's tau-b",
        "Pairs ordered alike less pairs ordered against each other, over the geometric mean of "
        "the pairs each assessor did not tie; mean over queries and pairs of assessors. Pages "
        "outside a list are tied at its end.",
    ),
    "rbo": Explanation(
        "Rank-biased overlap",
        "Expected overlap of the two lists read from the top, persistence 0.9, extrapolated; ties "
        "are taken in every order; mean over queries and pairs of assessors.",
    ),
    "chi": Explanation(
        "The tests",
        "Pearson's chi-square of agreed against disagreed votes, without and with Yates' "
        "correction. It treats every pair as independent. The last p exchanges the tools of whole "
        "queries and counts how often the difference is as large; the interval resamples queries.",
    ),
    "error": Explanation(
        "Estimated error rate",
        "The share of page pairs an assessor turns around, estimated without a truth: agreement "
        "with the rest depends on who the rest are, this does not. From Kendall's tau-b of every "
        "two assessors, each seeing the worth of pages through noise of their own.",
    ),
    "again": Explanation(
        "Self-consistency",
        "Share of pairs asked again, sides swapped, that got the same answer as the first time.",
    ),
    "left": Explanation(
        "Left",
        "Share of answers for the page on the left, ties left out. Sides are drawn at random, so "
        "it should be near 50 %; p by turning the sides of whole queries around.",
    ),
    "circles": Explanation(
        "Broken triples",
        "Of three pages that were all compared with each other: the share whose answers fit no "
        "order, ties allowed. TriadCounts A over B over C over A are among them.",
    ),
    "effort": Explanation(
        "Effort",
        "Seconds count answers that stand. Judgments and minutes a query are of finished "
        "sessions; minutes include what was taken back. Intervals resample whole queries.",
    ),
    "consensus": Explanation(
        "Consensus",
        "Supervised Kemeny ranking: the order that turns around the least weighted votes; a vote "
        "weighs as much as its assessor's mean agreement with the others; from Borda's order.",
    ),
    "lists-systems": Explanation(
        "Which systems win",
        "Comparisons won, a pair called the same as half a win, of all in which the system stood. "
        "How strong a preference was does not count. The interval (90 %) resamples whole queries.",
    ),
    "lists-answers": Explanation(
        "What was said",
        "Answers that stand, seen from the screen. Sides are drawn at random, so the left list "
        "should win as often as the right one; p is that of a binomial test.",
    ),
    "lists-gains": Explanation(
        "What a grade is worth",
        "Weights of grades at positions are learned so that preferred lists are worth more (Zhou "
        "et al. 2013); gains and discounts are the nearest weights of the form gain x discount.",
    ),
    "lists-discounts": Explanation(
        "What a position is worth",
        "The discounts of the same weights. Where the same pages stand in both lists, an amount "
        "added to a grade at every position cannot be seen: read the curves together.",
    ),
    "lists-accuracy": Explanation(
        "How many preferences are decided right",
        "Each preference is decided by gains learned without its query (five folds, three "
        "divisions; with fewer than five queries the pairs are divided). Lists of equal worth "
        "count as half right. The usual settings learn nothing.",
    ),
    "lists-sizes": Explanation(
        "By the number of training pairs",
        "Accuracy on the preferences that were left over after training on so many drawn at "
        "random; mean of 20 draws.",
    ),
    "lists-differences": Explanation(
        "Difference of worth by answer",
        "Mean absolute difference of worth of the two lists, under gains that did not see the "
        "pair. It should fall from much better to the same.",
    ),
    "lists-ties": Explanation(
        "What ties weigh",
        "Held-out accuracy, and the mean difference of worth of pairs called the same, for several "
        "weights of such pairs in learning.",
    ),
}
