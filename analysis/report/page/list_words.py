"""How the figures about lists are computed, in words."""

HOW = {
    "lists-systems": (
        "Which systems win",
        "Comparisons won, a pair called the same as half a win, of all in which the system stood. "
        "How strong a preference was does not count. The interval (90 %) resamples whole queries.",
    ),
    "lists-answers": (
        "What was said",
        "Answers that stand, seen from the screen. Sides are drawn at random, so the left list "
        "should win as often as the right one; p is that of a binomial test.",
    ),
    "lists-gains": (
        "What a grade is worth",
        "Weights of grades at positions are learned so that preferred lists are worth more (Zhou "
        "et al. 2013); gains and discounts are the nearest weights of the form gain x discount.",
    ),
    "lists-discounts": (
        "What a position is worth",
        "The discounts of the same weights. Where the same pages stand in both lists, an amount "
        "added to a grade at every position cannot be seen: read the curves together.",
    ),
    "lists-accuracy": (
        "How many preferences are decided right",
        "Each preference is decided by gains learned without its query (five folds, three "
        "divisions; with fewer than five queries the pairs are divided). Lists of equal worth "
        "count as half right. The usual settings learn nothing.",
    ),
    "lists-sizes": (
        "By the number of training pairs",
        "Accuracy on the preferences that were left over after training on so many drawn at "
        "random; mean of 20 draws.",
    ),
    "lists-differences": (
        "Difference of worth by answer",
        "Mean absolute difference of worth of the two lists, under gains that did not see the "
        "pair. It should fall from much better to the same.",
    ),
    "lists-ties": (
        "What ties weigh",
        "Held-out accuracy, and the mean difference of worth of pairs called the same, for several "
        "weights of such pairs in learning.",
    ),
}
