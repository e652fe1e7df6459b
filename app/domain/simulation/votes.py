"""Real votes as simulated assessors: some votes answer the questions, the others are the truth."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from random import Random

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference

SHRINK = 1.0  # wins, and as many losses, against an average item that are added to each item's
ROUNDS = 50  # of the fit


@dataclass(frozen=True, slots=True)
class Vote:
    """One vote about a pair: 1 if the first item is better, -1 if the second is, 0 for a tie."""

    assessor: str
    first: str
    second: str
    answer: int


@dataclass(frozen=True, slots=True)
class Election:
    """All votes about the items of one query."""

    query: str
    votes: tuple[Vote, ...]

    @property
    def items(self) -> tuple[str, ...]:
        """The items that were voted on, by name."""
        return tuple(sorted({item for vote in self.votes for item in (vote.first, vote.second)}))

    @property
    def assessors(self) -> tuple[str, ...]:
        """Everybody who voted, by name."""
        return tuple(sorted({vote.assessor for vote in self.votes}))


@dataclass(frozen=True, slots=True)
class Session:
    """A session to simulate: true worths by index, and the people who answer in turn.

    ``own`` are the worths by all votes of these people, and ``names`` those of the items. The same
    people finish the ``earlier`` sessions first.
    """

    worth: tuple[float, ...]
    people: tuple["VotesAssessor", ...]
    own: tuple[float, ...]
    names: tuple[str, ...]
    earlier: tuple["Session", ...] = ()

    @property
    def assessor(self) -> "VotesAssessor":
        """The only person who answers."""
        (only,) = self.people
        return only


class VotesAssessor:
    """Answers with a vote about the pair; without one, by the votes about its items.

    Of several votes about a pair one is drawn at random, every time it is asked unless
    ``persistent``. ``filled`` counts the answers about pairs without a vote: each is drawn once, by
    the Bradley-Terry ``scores`` of its items.
    """

    def __init__(
        self,
        votes: Mapping[Pair, Sequence[int]],
        scores: Sequence[float],
        random: Random,
        *,
        persistent: bool = False,
    ) -> None:
        self._votes, self._scores, self._random = votes, scores, random
        self._persistent = persistent
        self._given: dict[Pair, int] = {}
        self.asked = self.filled = 0

    def prefer(self, pair: Pair) -> Preference:
        """Return the answer about ``pair``, two indices."""
        self.asked += 1
        first, second = sorted(pair)
        votes = self._votes.get((first, second), ())
        self.filled += not votes
        answer = self._given.get((first, second)) if self._persistent or not votes else None
        if answer is None:
            drawn = self._random.choice(votes) if votes else self._drawn(first, second)
            answer = self._given[first, second] = drawn
        return _preference(answer if pair[0] == first else -answer)

    def _drawn(self, first: ItemId, second: ItemId) -> int:
        apart = self._scores[first] - self._scores[second]
        return 1 if self._random.random() < 1 / (1 + exp(-apart)) else -1


def elections(votes: Iterable[tuple[str, Vote]]) -> tuple[Election, ...]:
    """Group votes, each with its query, by query."""
    by_query: dict[str, list[Vote]] = {}
    for query, vote in votes:
        by_query.setdefault(query, []).append(vote)
    return tuple(Election(query, tuple(found)) for query, found in sorted(by_query.items()))


def sessions(
    elections: Sequence[Election],
    *,
    n: int | None,
    runs: int,
    one_assessor: bool,
    persistent: bool,
    seed: str,
    start: int = 0,
    team: int = 1,
    lists: int = 1,
    queries: int = 0,
) -> Iterator[Session]:
    """Yield ``runs`` sessions from number ``start`` on, over the elections in turn.

    Every ``lists`` of them have the same items, truth and votes; only the drawn answers differ.

    With ``one_assessor`` one person's votes answer, every person in turn, and the others' are the
    truth; otherwise a random half of the votes answers, and the other half is the truth. A ``team``
    of two or more is drawn from the people of an election, and the others are the truth. ``n``
    items are drawn per session, all if None. People finish up to ``queries`` of the other elections
    that they voted in first.
    """
    tasks: list[tuple[Election, tuple[str, ...]]] = [
        (each, who)
        for each in elections
        for who in ([(one,) for one in each.assessors] if one_assessor else [()])
    ]
    for number in range(start, start + runs):
        query = number // lists
        election, who = tasks[query % len(tasks)]
        random = Random(f"{seed}/{query}")
        if team > 1:
            who = tuple(random.sample(election.assessors, team))
        answering = Random(f"{seed}/{query}/{number}") if number % lists else random
        drawn = _session(election, who, n, persistent, random, answering)
        if queries:
            others = [each for each in elections if each is not election]
            others = [each for each in others if set(who) <= set(each.assessors)]
            before = Random(f"{seed}/{query}/before")
            chosen = before.sample(others, min(queries, len(others)))
            earlier = (_session(each, who, n, persistent, before, before) for each in chosen)
            drawn = replace(drawn, earlier=tuple(earlier))
        yield drawn


def _session(
    election: Election,
    who: tuple[str, ...],
    n: int | None,
    persistent: bool,
    random: Random,
    answering: Random,
) -> Session:
    names = list(election.items)
    random.shuffle(names)
    index = {name: number for number, name in enumerate(names[:n])}
    answers: list[Vote] = []
    truths: list[Vote] = []
    for vote in election.votes:
        mine = vote.assessor in who if who else random.random() < 0.5
        if vote.first in index and vote.second in index:
            (answers if mine else truths).append(vote)
    scores, everybody = fitted_scores(answers, index), _by_pair(answers, index)
    people = tuple(
        VotesAssessor(
            {**everybody, **_by_pair((each for each in answers if each.assessor == one), index)}
            if len(who) > 1
            else everybody,
            scores,
            answering,
            persistent=persistent,
        )
        for one in who or ("",)
    )
    worth = _strict(net_wins(truths, index), random)
    return Session(worth, people, _strict(scores, random), tuple(index))


def _by_pair(votes: Iterable[Vote], index: Mapping[str, ItemId]) -> dict[Pair, list[int]]:
    """Return the answers about each pair, in the order of the indices."""
    by_pair: dict[Pair, list[int]] = {}
    for vote in votes:
        first, second = index[vote.first], index[vote.second]
        pair, answer = ((first, second), vote.answer)
        if first > second:
            pair, answer = (second, first), -vote.answer
        by_pair.setdefault(pair, []).append(answer)
    return by_pair


def net_wins(votes: Iterable[Vote], index: Mapping[str, ItemId]) -> list[float]:
    """Return wins minus losses of each item, per vote about it; ties count as neither."""
    net, count = [0] * len(index), [0] * len(index)
    for vote in votes:
        for name, answer in ((vote.first, vote.answer), (vote.second, -vote.answer)):
            net[index[name]] += answer
            count[index[name]] += 1
    return [total / max(1, size) for total, size in zip(net, count, strict=True)]


def fitted_scores(votes: Iterable[Vote], index: Mapping[str, ItemId]) -> list[float]:
    """Return Bradley-Terry scores of the items, by Hunter's (2004) minorization.

    Few votes say little about an item: its score is drawn to 0 as by a win and a loss against an
    item of average worth. A tie is half a win.
    """
    wins = [SHRINK] * len(index)
    met: list[Counter[ItemId]] = [Counter() for _ in index]
    for vote in votes:
        first, second = index[vote.first], index[vote.second]
        for item, other, answer in ((first, second, vote.answer), (second, first, -vote.answer)):
            wins[item] += (1 + answer) / 2
            met[item][other] += 1
    worth = [1.0] * len(index)
    for _ in range(ROUNDS):
        worth = [
            wins[item]
            / (
                2 * SHRINK / (mine + 1)
                + sum(count / (mine + worth[other]) for other, count in met[item].items())
            )
            for item, mine in enumerate(worth)
        ]
    return [log(each) for each in worth]


def _strict(worth: Sequence[float], random: Random) -> tuple[float, ...]:
    """Return ranks as worths, equal ones in random order."""
    order = sorted(range(len(worth)), key=lambda item: (worth[item], random.random()))
    ranks = {item: float(rank) for rank, item in enumerate(order)}
    return tuple(ranks[item] for item in range(len(worth)))


def _preference(answer: int) -> Preference:
    if answer == 0:
        return Preference.TIE
    return Preference.FIRST if answer > 0 else Preference.SECOND
