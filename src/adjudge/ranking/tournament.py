"""Rankings as a tournament (Lopez 2012): cycles, the exact optimum, and what every ranking contradicts.

Human translations are left out: they lead over everyone, and change nothing. Rankings are made as the literature
defines them: `wins-or-ties` (Equation 1), `wins` and the block measures count comparisons with the reference and then
drop it from the order; `wins-no-reference` (Equation 2), `wins-no-ties` (Equation 3), `expected-wins` and `trueskill`
never see it. `bradley-terry` has the strengths of the ranking, whose model of tastes is fitted to all comparisons.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge.ranking.counts import Tally, units_of
from adjudge.ranking.methods import METHODS, Method
from adjudge.ranking.optimal_order import cheapest_order, descend, find_optima
from adjudge.ranking.tastes import scores_of
from adjudge.table.comparisons import Comparisons, block_rows, comparisons, not_compared, relative_judgments
from adjudge.table.errors import DataError
from adjudge.table.results import UNWRITTEN, Result, Span, Table, number, span, tabulate, text, to_plain
from adjudge.table.rng import generator
from adjudge.table.settings import option, seed_option
from adjudge.table.wording import counted
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from adjudge.ranking.tournament_uncertainty import Uncertainty
    from adjudge.table.judgments import Judgments


# `mfas`: the order that contradicts the fewest judgments, a minimum feedback arc set (Lopez 2012).
#
# Two systems are joined by an edge from the one that won more of their comparisons, weighted by how many more; a pair
# without a lead has no edge. The cost of an order is the weight of the edges that point upward. The order is proved
# to be cheapest, unless time runs out; then the best one found comes with a proved lower bound. Where several orders
# are cheapest, the one given has been moved towards the order by net wins as far as single moves that cost nothing
# lead; `tournament` says how many there are and who can move.


TIME_LIMIT = 60.0


@dataclass(frozen=True, eq=False)
class MfasSolution:
    """An order (system indices, the best first), its cost, and the proved lower bound of any order's cost."""

    order: NDArray[np.int64]
    cost: int
    lower_bound: int

    @property
    def optimal(self) -> bool:
        """Whether no order is cheaper."""
        return self.cost == self.lower_bound


def net_wins(wins: NDArray[np.float64]) -> NDArray[np.int64]:
    """`net[i, j]`: how many more comparisons i won against j than it lost, 0 where it did not lead."""
    return np.maximum(np.rint(wins - wins.T), 0).astype(np.int64)


def contradicted_wins(net: NDArray[np.int64], order: NDArray[np.int64]) -> int:
    """The weight of the edges that an order contradicts: later systems that lead over earlier ones."""
    return int(np.tril(net[np.ix_(order, order)], -1).sum())


def solve(net: NDArray[np.int64], *, time_limit: float = TIME_LIMIT) -> MfasSolution:
    """The cheapest order of a tournament, component by component.

    Args:
        net: net wins, as `net_wins` gives them.
        time_limit: seconds of CPU after which the best order found is returned.
    """
    deadline = time.process_time() + time_limit
    order: list[int] = []
    cost = bound = 0
    for component in components(net):
        part = np.array(component, dtype=np.int64)
        inner = net[np.ix_(part, part)]
        # Placing i before j costs what j leads by.
        cheapest = cheapest_order(inner.T.copy(), deadline=deadline) if len(part) > 1 else None
        order += part.tolist() if cheapest is None else part[cheapest.order].tolist()
        cost += cheapest.cost if cheapest else 0
        bound += cheapest.lower_bound if cheapest else 0
    return MfasSolution(_towards_net_wins(net, np.array(order, dtype=np.int64)), cost, bound)


def _towards_net_wins(net: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move systems, where that costs nothing, so that those with more net wins come first."""
    total = (net - net.T).sum(1)
    out_of_turn = (total[:, None] < total[None, :]).astype(np.int64)
    # A contradicted judgment outweighs all pairs that are out of turn together.
    return descend(net.T * len(net) ** 2 + out_of_turn, order)


def components(net: NDArray[np.int64]) -> list[list[int]]:
    """Strongly connected components, each before those that it leads over."""
    from scipy.sparse.csgraph import connected_components

    number, label = connected_components(net > 0, directed=True, connection="strong")
    members = [np.flatnonzero(label == component).tolist() for component in range(number)]
    leads = np.zeros((number, number), dtype=bool)
    first, second = np.nonzero(net)
    leads[label[first], label[second]] = True
    np.fill_diagonal(leads, val=False)
    ordered: list[list[int]] = []
    left = set(range(number))
    while left:
        unbeaten = [component for component in left if not any(leads[other, component] for other in left)]
        ready = min(unbeaten, key=lambda component: members[component][0])
        ordered.append(members[ready])
        left.remove(ready)
    return ordered


def score_by_mfas(tally: Tally) -> NDArray[np.float64]:
    """Minus the rank of every system in the cheapest order; for each tally of a batch.

    Where several orders are cheapest, the middle of a system's ranks among them is taken, if ordering by it is cheapest
    too: systems that nothing separates then share a rank. Resamples take one cheapest order each.
    """
    if tally.wins.ndim > 2:
        # Hard tournaments take up to a minute each, so that resamples are shared among processes.
        orders = map_tasks(_cheapest_order, list(tally.wins), what="resampled tournaments")
        return np.stack([-_ranks(order) for order in orders])
    net = net_wins(tally.wins)
    solution = solve(net)
    ranks = _ranks(solution.order)
    if solution.optimal:
        deadline = time.process_time() + TIME_LIMIT
        optima = find_optima(net.T.copy(), solution.order, solution.cost, deadline=deadline)
        middle = 1 + (optima.first + optima.last) / 2
        if optima.complete and contradicted_wins(net, np.argsort(middle, kind="stable")) == solution.cost:
            ranks = middle
    return -ranks


def _cheapest_order(wins: NDArray[np.float64]) -> NDArray[np.int64]:
    return solve(net_wins(wins)).order


def _ranks(order: NDArray[np.int64]) -> NDArray[np.float64]:
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


# The result of looking at rankings as a tournament: cycles, the cheapest order, and what every ranking contradicts.


@dataclass(frozen=True)
class Violation:
    """A lead that an order contradicts: `better` won so many more of their comparisons, but stands below `worse`."""

    better: str
    worse: str
    weight: int


@dataclass(frozen=True)
class Movable:
    """A system that has different ranks in different cheapest orders."""

    system: str
    highest: int
    lowest: int


@dataclass(frozen=True)
class CheapestOrder:
    """The order that contradicts the fewest judgments."""

    order: tuple[str, ...]
    cost: int
    optimal: bool
    lower_bound: int
    violated: tuple[Violation, ...]
    optima: int
    """How many orders are cheapest; at least so many where `optima_complete` is false."""
    optima_complete: bool
    movable: tuple[Movable, ...]
    movable_complete: bool = True
    """False where systems may take more ranks than those listed; every rank listed is taken in some cheapest order."""


@dataclass(frozen=True, kw_only=True)
class Tournament(Result):
    """Is there an order that contradicts no pair, and what does each ranking contradict?"""

    verb: ClassVar[str] = "tournament"

    systems: tuple[str, ...]
    acyclic: bool
    cycles: tuple[tuple[str, ...], ...]
    """Groups of systems in which leads run in circles."""
    mfas: CheapestOrder
    orders: Mapping[str, tuple[str, ...]]
    violations: Mapping[str, int]
    spearman: Mapping[str, Mapping[str, float]]
    uncertainty: Uncertainty | None = field(default=None, metadata=UNWRITTEN)
    """How far the leads can be trusted, if that was asked for; its parts are keys of the JSON."""

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: cycles as their number and members."""
        plain = {**super().to_dict(), **(self.uncertainty.to_dict() if self.uncertainty else {})}
        return {**plain, "cycles": {"number": len(self.cycles), "members": to_plain(self.cycles)}}

    def tables(self) -> tuple[Table, ...]:
        """The cheapest order, what it contradicts, and the cost of every ranking."""
        movable = {system.system: Span(system.highest, system.lowest) for system in self.mfas.movable}
        words = "The tournament has no cycle." if self.acyclic else f"Systems in cycles: {self._cycle_words()}."
        order = Table(
            "The order that contradicts the fewest judgments",
            (number("rank", 0), text("system"), span("ranks in optimal orders")),
            tuple((i, name, movable.get(name, Span(i, i))) for i, name in enumerate(self.mfas.order, start=1)),
            f"{self._proof_words()} {words}",
        )
        columns = {"better": text("better"), "worse": text("worse"), "weight": number("weight", 0)}
        violated = tabulate("Leads that it contradicts", self.mfas.violated, columns)
        costs = Table(
            "What every ranking contradicts",
            (text("ranking"), number("cost", 0), number("Spearman with the optimal order", 2)),
            tuple((name, cost, self.spearman["mfas"].get(name)) for name, cost in self.violations.items()),
        )
        tables = (order, violated, costs) if self.mfas.violated else (order, costs)
        return (*tables, *(self.uncertainty.tables() if self.uncertainty else ()))

    def _proof_words(self) -> str:
        mfas = self.mfas
        if not mfas.optimal:
            return f"It costs {mfas.cost}; the proved lower bound is {mfas.lower_bound}."
        cheapest = f"It costs {mfas.cost}, which is proved to be the minimum"
        if mfas.optima_complete and mfas.optima == 1:
            return f"{cheapest}; no other order costs as little."
        at_least = "" if mfas.optima_complete else "at least "
        movable = f"{counted(len(mfas.movable), 'system')} can move" + ("" if mfas.movable_complete else " or more")
        return f"{cheapest}; {at_least}{mfas.optima:,} orders have this cost, and {movable} between them."

    def _cycle_words(self) -> str:
        return "; ".join(", ".join(members) for members in self.cycles)


@dataclass(frozen=True)
class TournamentSettings:
    """What a user can choose."""

    time_limit: float = option(
        TIME_LIMIT, "CPU seconds for proving that the order is optimal.", above=0, unit="seconds"
    )
    uncertainty: bool = option(
        False,
        "Also show how certain each lead is, how many contradictions arise by chance, and the partial order that "
        "remains.",
        "--uncertainty",
    )
    confidence: float = option(
        0.95,
        "Partial order: keep only the leads that are at least this certain.",
        least=0.5,
        most=1,
        after="uncertainty",
    )
    resamples: int = option(200, "Simulated campaigns for the chance level of contradictions.", least=20)
    seed: int = seed_option()


def tournament(
    judgments: Judgments,
    *,
    methods: Iterable[str] | None = None,
    all_optima: bool = True,
    settings: TournamentSettings | None = None,
) -> Tournament:
    """Look at the judgments of one language pair as a tournament.

    Args:
        judgments: relative judgments.
        methods: the rankings whose cost is told; default: all for relative judgments.
        all_optima: count the cheapest orders and find who can move among them.
        settings: how long to look for the cheapest order, and the seed of methods that play matches in random order.
    """
    settings = settings or TournamentSettings()
    time_limit, seed = settings.time_limit, settings.seed
    compared = comparisons(judgments)
    machines = compared.without(compared.human)
    if len(machines.systems) < 2:
        named = ", ".join(machines.systems) or "no system"
        raise DataError(f"a tournament needs at least two systems that are not human, the data hold {named}")
    if len(machines) == 0:
        raise DataError("no two systems were ranked in the same block, so there is no tournament; check the columns")
    tally = units_of(machines).total()
    net = net_wins(tally.wins)
    solution = solve(net, time_limit=time_limit)
    chosen = METHODS if methods is None else {name: METHODS[name] for name in methods}
    orders = {"mfas": solution.order, **_rankings(chosen.values(), compared, machines, seed)}
    cycles = [members for members in components(net) if len(members) > 1]
    names = machines.systems
    used = relative_judgments(judgments)
    doubts = _judge_leads(judgments, machines, solution, settings) if settings.uncertainty else None
    return Tournament(
        settings={"time_limit": time_limit, **_doubt_settings(settings), "seed": seed},
        data=judgments.fingerprint,
        set_aside=not_compared(judgments),
        notes=used.notes
        + _notes(compared, tally)
        + _left_out(chosen.values(), orders)
        + (doubts.notes if doubts else ()),
        systems=names,
        acyclic=not cycles,
        cycles=tuple(tuple(names[i] for i in members) for members in cycles),
        mfas=_cheapest(names, net, solution, time_limit if all_optima else None),
        orders={method: tuple(names[i] for i in order) for method, order in orders.items()},
        violations={method: contradicted_wins(net, order) for method, order in orders.items()},
        spearman={a: {b: spearman(orders[a], orders[b]) for b in orders if b != a} for a in orders},
        uncertainty=doubts,
    )


def _doubt_settings(settings: TournamentSettings) -> dict[str, Any]:
    if not settings.uncertainty:
        return {}
    return {"uncertainty": True, "confidence": settings.confidence, "resamples": settings.resamples}


def _judge_leads(
    judgments: Judgments, machines: Comparisons, solution: MfasSolution, settings: TournamentSettings
) -> Uncertainty:
    from adjudge.ranking.tournament_uncertainty import judge_leads

    return judge_leads(
        machines,
        solution.order,
        solution.cost,
        draws=settings.resamples,
        confidence=settings.confidence,
        seed=settings.seed,
        lengths=_source_lengths(judgments, machines),
    )


def _source_lengths(judgments: Judgments, machines: Comparisons) -> NDArray[np.float64] | None:
    """The words of the source of each comparison, None if any is not known."""
    rows = block_rows(judgments)
    if "source_length" in rows.columns and rows["source_length"].dtype.is_numeric():
        lengths = rows["source_length"].to_numpy().astype(float)
    elif "source_text" in rows.columns:
        lengths = rows["source_text"].str.split(" ").list.len().to_numpy().astype(float)
    else:
        return None
    return None if np.isnan(lengths).any() else lengths[machines.block]


def _cheapest(
    names: tuple[str, ...], net: NDArray[np.int64], solution: MfasSolution, time_limit: float | None
) -> CheapestOrder:
    optima = None
    if solution.optimal and time_limit is not None:
        deadline = time.process_time() + time_limit
        optima = find_optima(net.T.copy(), solution.order, solution.cost, deadline=deadline)
    order = solution.order
    violated = [(int(order[low]), int(order[high])) for low in range(len(order)) for high in range(low)]
    return CheapestOrder(
        order=tuple(names[i] for i in order),
        cost=solution.cost,
        optimal=solution.optimal,
        lower_bound=solution.lower_bound,
        violated=tuple(Violation(names[b], names[w], int(net[b, w])) for b, w in violated if net[b, w] > 0),
        optima=optima.number if optima else 1,
        optima_complete=bool(optima and optima.complete),
        movable_complete=bool(optima and optima.places_complete),
        movable=tuple(
            Movable(names[i], int(optima.first[i]) + 1, int(optima.last[i]) + 1)
            for i in order
            if optima is not None and optima.first[i] != optima.last[i]
        ),
    )


def _rankings(
    methods: Iterable[Method], compared: Comparisons, machines: Comparisons, seed: int
) -> dict[str, NDArray[np.int64]]:
    """The order of every other method, over the systems that are not human."""
    index = {name: i for i, name in enumerate(machines.systems)}
    orders: dict[str, NDArray[np.int64]] = {}
    for method in methods:
        if method.judgments != "relative" or method.name == "mfas":
            continue
        counted = compared if method.counts_reference else machines
        score = dict(zip(counted.systems, scores_of(method, counted, generator(seed)), strict=True))
        known = [name for name in index if not np.isnan(score[name])]
        if len(known) == len(index):
            orders[method.name] = np.array([index[name] for name in sorted(known, key=lambda n: (-score[n], n))])
    return orders


def spearman(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Spearman's rho of two orders without ties."""
    n = len(first)
    ranks = np.empty((2, n))
    ranks[0, first] = ranks[1, second] = np.arange(n)
    difference = ranks[0] - ranks[1]
    return float(1 - 6 * (difference**2).sum() / (n * (n**2 - 1)))


def _notes(compared: Comparisons, tally: Tally) -> tuple[str, ...]:
    from scipy.sparse.csgraph import connected_components

    notes: list[str] = []
    human = [name for name, is_human in zip(compared.systems, compared.human, strict=True) if is_human]
    if human:
        notes.append(f"human translations are left out: {', '.join(human)}")
    no_lead = np.triu(tally.wins == tally.losses, 1)
    even = int(no_lead.sum())
    if even:
        pairs = "1 pair of systems has" if even == 1 else f"{even} pairs of systems have"
        unmet = " (or never met)" if (no_lead & (tally.met == 0)).any() else ""
        notes.append(f"{pairs} no lead{unmet}, which costs nothing either way")
    groups = connected_components(tally.met > 0, directed=False)[0]
    if groups > 1:
        notes.append(
            f"the systems fall into {groups} groups that never met, so how these stand to each other means nothing"
        )
    return tuple(notes)


def _left_out(methods: Iterable[Method], orders: Mapping[str, NDArray[np.int64]]) -> tuple[str, ...]:
    lacking = [method.name for method in methods if method.judgments == "relative" and method.name not in orders]
    return (f"some systems have no score by {', '.join(lacking)}, so there is no such ranking",) if lacking else ()
