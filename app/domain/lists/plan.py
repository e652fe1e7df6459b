"""The plan of a list session: which rankings are shown, and which pairs of them are asked."""

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
    """Which pairs of a query's rankings are asked: all, a sample, or the most informative."""

    ALL = "all"
    RANDOM = "random"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class ShownList:
    """The shown part of a ranking by ``system``, best page first."""

    id: RankingId
    system: str
    documents: tuple[ItemId, ...]


def hidden_name(seed: str, system: str) -> str:
    """Return a list's name for its assessor: it differs in each assignment and hides the system."""
    return f"list-{draw_integer(seed, 'name', system):016x}"


@dataclass(frozen=True, slots=True)
class ListRules:
    """Rules of a study for comparing lists.

    ``size`` is the number of pairs per assessor (None: all that are free), ``depth`` the number of
    results shown per list, ``repeats`` whether several assessors may be asked the same pair.
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
                "A random sample of pairs of lists needs a size: set lists_size.",
                field="lists_size",
            )


@dataclass(frozen=True, slots=True)
class ListPlan:
    """The rankings and the ordered pairs to ask; with `active`, the pairs to choose from."""

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
        """Return the pair as (left, right) for question ``number``.

        Of every two questions the sides of one are swapped, depending on the seed.
        """
        first, second = unordered(pair)
        swapped = draw_integer(self.seed, "sides", number // 2) + number & 1
        return (second, first) if swapped else (first, second)

    def sided(self) -> list[SidedPair]:
        """Return all pairs in their order, each as (left, right)."""
        return [self.on_sides(pair, number) for number, pair in enumerate(self.pairs)]

    def as_json(self) -> dict[str, Any]:
        """Return a plain dictionary that `from_json` reads back; ``order`` has all shown pages."""
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
        """Read the plan that `as_json` wrote."""
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
    """Return the pair with the smaller number first, regardless of sides."""
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
    """Return the plan of one assessor for ``query``; raise `Conflict` if no pair is free.

    It is empty if no two lists of the query differ: then there is nothing to ask.
    ``taken`` are the pairs assigned to others, ``reserved`` the number of pairs that they will be
    asked in total; neither matters if pairs may be repeated.
    """
    shown = [ShownList(each.id, each.system, each.documents[: rules.depth]) for each in lists]
    pool = [
        unordered((first.id, second.id))
        for first, second in combinations(shown, 2)
        if first.documents != second.documents
    ]
    available = len(pool) if rules.repeats else len(pool) - reserved
    free = [pair for pair in pool if rules.repeats or pair not in taken]
    wanted = None if rules.choice is PairChoice.ALL else rules.size
    size = min(available, len(free)) if wanted is None else min(wanted, available, len(free))
    if pool and size < 1:
        people = 1 if wanted is None else -(-len(pool) // wanted)
        raise Conflict(
            f"{query} has {len(pool)} pair{'s' * (len(pool) != 1)} of lists, enough for {people} "
            f"{'person' if people == 1 else 'people'}, as no pair is given twice. Assign it to no "
            "more. To allow more, set lists_repeats = true or lists_size in study.toml, before any "
            "work of the study is assigned."
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
