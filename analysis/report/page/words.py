"""How each figure is computed, in the words the page shows."""

HOW = {
    "confidence": (
        "How sure the lists are",
        "The answers of a session are weighed as those of a person who errs now and then, with the "
        "error rate estimated along (Beta(2, 18) before the first answer). Expected quality is the "
        "mean kappa-NDCG of the assessor's list over all orders that the answers leave probable; "
        "beside it stands that of the most probable list.",
    ),
    "overall": (
        "Agreement",
        "Every unordered pair of pages of a query is counted once for every two assessors who "
        "both judged it; it agrees if both say A better, both tie, or both say B better.",
    ),
    "without_ties": (
        "Agreement without ties",
        "Only pairs on which both assessors expressed a preference count; the share on which it "
        "is the same page.",
    ),
    "cohen_kappa": (
        "Cohen's kappa",
        "Agreement beyond what the two assessors' own shares of A better, tie and B better would "
        "give by chance, from the pooled matrix.",
    ),
    "fleiss_kappa": (
        "Fleiss' kappa",
        "As Cohen's, for any number of assessors: chance comes from the shares of all votes. "
        "Pairs may have different numbers of votes (Gwet 2014).",
    ),
    "krippendorff_alpha": (
        "Krippendorff's alpha",
        "One less observed over expected disagreement, nominal, with its correction for few "
        "votes; pairs with fewer than two votes do not count.",
    ),
    "gwet_ac1": (
        "Gwet's AC1",
        "Agreement beyond chance, where chance is small when one answer is much more common than "
        "the others; steadier than kappa when most pairs tie.",
    ),
    "tau_b": (
        "Kendall's tau-b",
        "Pairs ordered alike less pairs ordered against each other, over the geometric mean of "
        "the pairs each assessor did not tie; mean over queries and pairs of assessors. Pages "
        "outside a list are tied at its end.",
    ),
    "rbo": (
        "Rank-biased overlap",
        "Expected overlap of the two lists read from the top, persistence 0.9, extrapolated; ties "
        "are taken in every order; mean over queries and pairs of assessors.",
    ),
    "chi": (
        "The tests",
        "Pearson's chi-square of agreed against disagreed votes, without and with Yates' "
        "correction. It treats every pair as independent. The last p exchanges the tools of whole "
        "queries and counts how often the difference is as large; the interval resamples queries.",
    ),
    "error": (
        "Estimated error rate",
        "The share of page pairs an assessor turns around, estimated without a truth: agreement "
        "with the rest depends on who the rest are, this does not. From Kendall's tau-b of every "
        "two assessors, each seeing the worth of pages through noise of their own.",
    ),
    "again": (
        "Self-consistency",
        "Share of pairs asked again, sides swapped, that got the same answer as the first time.",
    ),
    "left": (
        "Left",
        "Share of answers for the page on the left, ties left out. Sides are drawn at random, so "
        "it should be near 50 %; p by turning the sides of whole queries around.",
    ),
    "circles": (
        "Broken triples",
        "Of three pages that were all compared with each other: the share whose answers fit no "
        "order, ties allowed. Circles A over B over C over A are among them.",
    ),
    "effort": (
        "Effort",
        "Seconds count answers that stand. Judgments and minutes a query are of finished "
        "sessions; minutes include what was taken back. Intervals resample whole queries.",
    ),
    "consensus": (
        "Consensus",
        "Supervised Kemeny ranking: the order that turns around the least weighted votes; a vote "
        "weighs as much as its assessor's mean agreement with the others; from Borda's order.",
    ),
}
MEASURES = (
    ("overall", "percent"),
    ("without_ties", "percent"),
    ("cohen_kappa", "number"),
    ("fleiss_kappa", "number"),
    ("krippendorff_alpha", "number"),
    ("gwet_ac1", "number"),
    ("tau_b", "number"),
    ("rbo", "number"),
)
