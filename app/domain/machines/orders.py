"""Which orders of a pair are asked, and what the replies to them say together.

Models favour a side. Asked in both orders they contradict themselves where only the side decided;
that counts as a tie, or a third reply decides.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

Ask = Callable[[bool, int], str | None]  # swapped, repeat -> the reply as named in that order


class Orders(StrEnum):
    """Orders in which a pair is shown to a model."""

    ONE = "one"
    BOTH = "both"


class Contradiction(StrEnum):
    """What two replies count as that contradict each other."""

    TIE = "tie"
    THIRD = "third"


def decide(
    ask: Ask,
    mirror: Mapping[str, str],
    *,
    tie: str | None,
    orders: Orders,
    contradiction: Contradiction,
    swap_first: bool,
) -> str | None:
    """Return the answer in the order of the question; None if a reply could not be read.

    ``mirror`` maps each answer to the same answer with the sides exchanged, ``tie`` is the answer
    that neither is better, None where there is none. ``swap_first`` is chosen by the caller.
    """

    def told(swapped: bool, repeat: int = 0) -> str | None:
        reply = ask(swapped, repeat)
        return mirror[reply] if swapped and reply is not None else reply

    first = told(swap_first)
    if orders is Orders.ONE or first is None:
        return first
    second = told(not swap_first)
    if second is None:
        return None
    together = _together(first, second, mirror)
    if together is not None:
        return together
    if contradiction is Contradiction.TIE and tie is not None:
        return tie
    return told(swap_first, 1)


def _together(first: str, second: str, mirror: Mapping[str, str]) -> str | None:
    """Return the common answer, the weaker one of the same side; None if they contradict."""
    if first == second:
        return first
    scale = list(mirror)
    middle = (len(scale) - 1) / 2
    places = [scale.index(each) - middle for each in (first, second)]
    if places[0] * places[1] > 0:
        return scale[int(min(places, key=abs) + middle)]
    return None


def mirrored(scale: Sequence[str]) -> dict[str, str]:
    """Return each answer of a scale from left to right with its mirror image."""
    return dict(zip(scale, reversed(scale), strict=True))
