"""Our sorters as rivals: plain ones, the same weighed by the model of `robust`, and `robust`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from bench.rivals.procedures import MODELS, PLAYS, actively
from bench.rivals.questions import Contest, Questions
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.conclusion import Conclusion
from topkapi.app.domain.pairs.robust.error_prior import GENERAL
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.simulation.runs import judge

PLAIN = ("heap", "heap-bottom-up", "insertion", "tournament")
WEIGHED = "-weighed"
SORTERS = (*PLAIN, *(f"{name}{WEIGHED}" for name in PLAIN))
GOALS = {"robust": Goal.ORDER, "robust-members": Goal.MEMBERS}


@dataclass(frozen=True, slots=True)
class Listed:
    """A rival's questions and list, and what `robust` states about its list."""

    asked: int
    ranking: tuple[int, ...]
    stated: tuple[float, float] | None = None


def rules_of(contest: Contest, budget: int, goal: Goal) -> Rules:
    """Return the rules of `robust` for the people of a contest."""
    team = len(contest.people)
    return Rules(budget, None, contest.limit, goal, (GENERAL,) * team, contest.prior)


def play_robust(contest: Contest, counts: Sequence[int], goal: Goal, seed: str) -> Iterator[Listed]:
    """Yield the list of `robust` after each of the ``counts``, which rise, of questions."""
    sorter = RobustSorter(contest.n, contest.k, rules_of(contest, counts[-1], goal), seed)
    turns = [0] * len(contest.people)
    for count in counts:
        while sum(turns) < count:
            person = min(sorter.worth_asking(), key=turns.__getitem__)
            pair = sorter.ask(person)
            if pair is None:
                break
            if len(turns) > 1 and turns[person] % 2:
                pair = pair[::-1]
            sorter.take(Answered(pair, contest.people[person].prefer(pair), person))
            turns[person] += 1
        yield _listed(sum(turns), sorter.conclude())


def play_sorter(contest: Contest, name: str, seed: str) -> Listed:
    """Return the list of a plain sorter, or that of its answers weighed by `robust`."""
    n, k = contest.n, contest.k
    ask = Questions(contest.people, 10**6)
    plan = Plan(tuple(range(n)), k, name.removesuffix(WEIGHED), seed=seed)
    ranking = judge(plan, [ask]).ranking
    if not name.endswith(WEIGHED):
        return Listed(len(ask.answers), ranking)
    sorter = RobustSorter(n, k, rules_of(contest, 1, Goal.ORDER), seed)
    for pair, answer, person in ask.answers:
        sorter.take(Answered(pair, answer, person))
    return _listed(len(ask.answers), sorter.conclude())


def _listed(asked: int, found: Conclusion) -> Listed:
    return Listed(asked, found.ranking, (found.kappa_ndcg().mean, found.overlap().mean))


def played(contest: Contest, name: str, counts: Sequence[int], seed: int) -> list[Listed]:
    """Run one session of a rival.

    There is a list of `robust`, or of a model that chooses its questions, after each of the
    ``counts``, of another rival after the only one.
    """
    if name in GOALS:
        return list(play_robust(contest, counts, GOALS[name], f"rival/{seed}"))
    if name in SORTERS:
        return [play_sorter(contest, name, f"rival/{seed}")]
    random, ask = Random(f"rival/{name}/{seed}"), Questions(contest.people, counts[-1])
    if name not in MODELS:
        found = PLAYS[name](contest, ask, random)
        return [Listed(len(ask.answers), tuple(found[: contest.k]))]
    model = MODELS[name](contest, random)
    orders = actively(model, contest.n, ask, contest.limit, counts)
    return [Listed(len(ask.answers), tuple(order[: contest.k])) for order in orders]
