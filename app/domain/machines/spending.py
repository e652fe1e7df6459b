"""What a machine spends: requests and tokens, their cost, and the caps on both.

A cap holds for a machine in a study, over all runs. Before a request is sent, it is added with an
upper bound of its tokens; the usage that its reply reports replaces the bound. What may have been
billed without a report (a time-out, a broken reply, a killed run) stays at the bound.
"""

from dataclasses import astuple, dataclass
from math import ceil

from topkapi.app.domain.errors import Invalid


class CapReached(Invalid):
    """The machine may not spend more in the study."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests and tokens; ``unreported`` requests count with an upper bound of their tokens."""

    requests: int = 0
    unreported: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens, in any currency; None: unknown."""

    tokens_in: float | None = None
    tokens_out: float | None = None

    def cost(self, spent: Usage) -> float | None:
        """Return what tokens cost; None without prices."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return (spent.tokens_in * self.tokens_in + spent.tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that a machine may spend in a study: requests, and money where prices are known."""

    requests: int | None = None
    cost: float | None = None
    prices: Prices = Prices()

    def refuse(self, spent: Usage, more: Usage, what: str) -> None:
        """Raise unless a machine that has ``spent`` may spend ``more``, which is for ``what``."""
        total = spent.requests + more.requests
        if self.requests is not None and total > self.requests:
            raise CapReached(
                f"The machine has made {spent.requests:,} requests in this study, over all runs, "
                f"and {what} {more.requests:,} more; the cap is {self.requests:,}. Raise it "
                f"to at least {total:,} to continue."
            )
        before, added = self.prices.cost(spent), self.prices.cost(more)
        if self.cost is None or before is None or added is None or before + added <= self.cost:
            return
        unreported = f"requests without reported usage, at their upper bound: {spent.unreported:,}"
        raise CapReached(
            f"The machine has cost {money(before)} in this study, over all runs"
            f"{f' ({unreported})' if spent.unreported else ''}, and {what} {money(added)} more; "
            f"the cap is {money(self.cost)}. Raise it to at least "
            f"{money(ceil(1e4 * (before + added)) / 1e4)} to continue."
        )


def money(cost: float) -> str:
    """Return an amount with cents, or hundredths of a cent where they matter."""
    return f"{cost:,.2f}" if abs(cost - round(cost, 2)) < 1e-9 else f"{cost:,.4f}"
