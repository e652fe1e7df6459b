"""Cohen's kappa from its definition, over all labels that two people gave."""

from collections.abc import Hashable, Sequence


def cohen_kappa_score(one: Sequence[Hashable], two: Sequence[Hashable]) -> float:
    """Return the agreement beyond chance of two equally long lists of labels."""
    count = len(one)
    agreed = sum(a == b for a, b in zip(one, two, strict=True)) / count
    chance = sum(one.count(label) * two.count(label) for label in {*one, *two}) / count**2
    return float("nan") if chance == 1 else (agreed - chance) / (1 - chance)
