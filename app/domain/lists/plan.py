"""The plan of a session with lists: which rankings are shown, and which pairs of them are asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any, Self

from topkapi.app.domain.draws import draw_integer, shuffled
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.pairs.answers import ItemId

RankingId = int
SidedPair = tuple[RankingId, RankingId]


class PairChoice(StrEnum):
    """Which pairs of a query's rankings are asked: every one, a sample, or those that tell most."""

    ALL = "all"
    RANDOM = "random"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class ShownList:
    """A ranking as far as it is shown, best page first; ``system`` made it."""

    id: RankingId
    system: str
    documents: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class ListRules:
    """What a study decides about its lists.

    ``size`` is the number of pairs an assessor is asked (None: all that are free), ``depth`` how
    many results of a list are shown, ``repeats`` whether a pair may be asked of several assessors.
    """

    choice: PairChoice = PairChoice.ALL
    size: int | None = None
    depth: int = 10
    repeats: bool = False

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 1:
            raise Invalid(f"lists_size is {self.size}; it must be at least 1.", field="lists_size")
        if self.choice is PairChoice.RANDOM and self.size is None:
            raise Invalid(
                "A random sample of pairs of lists needs its size: set lists_size.",
                field="lists_size",
            )


@dataclass(frozen=True, slots=True)
class ListPlan:
    """The rankings and the pairs to ask in their order; under `active` the pairs to choose from."""

    lists: tuple[ShownList, ...]
    pairs: tuple[SidedPair, ...]
    size: int
    choice: PairChoice = PairChoice.ALL
    repeats: bool = False
    seed: str = ""

    @property
    def is_active(self) -> bool:
        """Whether each pair is chosen when it is due."""
        return self.choice is PairChoice.ACTIVE

    def on_sides(self, pair: SidedPair, number: int) -> SidedPair:
        """The pair as question ``number``: of every two questions one is turned, by the seed."""
        first, second = unordered(pair)
        turned = draw_integer(self.seed, "sides", number // 2) + number & 1
        return (second, first) if turned else (first, second)

    def sided(self) -> list[SidedPair]:
        """All pairs in their order, each on its sides."""
        return [self.on_sides(pair, number) for number, pair in enumerate(self.pairs)]

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary that `from_json` reads back; ``order`` are all pages shown."""
        pages = dict.fromkeys(page for each in self.lists for page in each.documents)
        return {
            **asdict(self),
            "lists": [{**asdict(each), "documents": list(each.documents)} for each in self.lists],
            "pairs": [list(pair) for pair in self.pairs],
            "choice": self.choice.value,
            "order": list(pages),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The plan that `as_json` wrote."""
        return cls(
            lists=tuple(
                ShownList(each["id"], each["system"], tuple(each["documents"]))
                for each in stored["lists"]
            ),
            pairs=tuple((first, second) for first, second in stored["pairs"]),
            size=stored["size"],
            choice=PairChoice(stored["choice"]),
            repeats=stored["repeats"],
            seed=stored["seed"],
        )


def unordered(pair: SidedPair) -> SidedPair:
    """The pair without its sides."""
    return (pair[0], pair[1]) if pair[0] < pair[1] else (pair[1], pair[0])


def plan_lists(
    lists: Sequence[ShownList],
    rules: ListRules,
    seed: str,
    *,
    query: str,
    taken: Collection[SidedPair] = (),
    reserved: int = 0,
) -> ListPlan:
    """The plan of one assessor for ``query``, or a refusal that says what to mend.

    ``taken`` are pairs that others ask, ``reserved`` how many pairs they will ask in all; neither
    counts where pairs may be asked again.
    """
    shown = [ShownList(each.id, each.system, each.documents[: rules.depth]) for each in lists]
    pool = [
        unordered((first.id, second.id))
        for first, second in combinations(shown, 2)
        if first.documents != second.documents
    ]
    _refuse_too_few(shown, pool, query)
    room = len(pool) if rules.repeats else len(pool) - reserved
    free = [pair for pair in pool if rules.repeats or pair not in taken]
    wanted = None if rules.choice is PairChoice.ALL else rules.size
    size = min(room, len(free)) if wanted is None else min(wanted, room, len(free))
    if size < 1:
        raise Conflict(
            f"Each of the {len(pool)} pairs of lists of {query} is given out already. Set "
            "lists_repeats = true in study.toml to have pairs compared by several assessors, or "
            "lists_size to give each assessor fewer."
        )
    drawn = shuffled(pool if rules.choice is PairChoice.ACTIVE else free, seed, "pairs")
    return ListPlan(
        lists=tuple(shown),
        pairs=tuple(drawn if rules.choice is PairChoice.ACTIVE else drawn[:size]),
        size=size,
        choice=rules.choice,
        repeats=rules.repeats,
        seed=seed,
    )


def _refuse_too_few(lists: Sequence[ShownList], pool: Sequence[SidedPair], query: str) -> None:
    if len(lists) < 2:
        has = f"only the one of {lists[0].system!r}" if lists else "none"
        raise Conflict(
            f"Two rankings are needed to compare lists, and {query} has {has}. Import rankings of "
            "at least two systems for it."
        )
    if not pool:
        raise Conflict(
            f"All {len(lists)} rankings of {query} show the same pages in the same order; there is "
            "nothing to compare."
        )
