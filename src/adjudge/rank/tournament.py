"""Rankings as a tournament (Lopez 2012): cycles, the exact optimum, and what every ranking contradicts.

Human translations are left out: they lead over everyone, and change nothing. Rankings are made as the literature
defines them: `wins-or-ties` (Equation 1), `wins` and the block measures count comparisons with the reference and then
drop it from the order; `wins-no-reference` (Equation 2), `wins-no-ties` (Equation 3), `expected-wins` and `trueskill`
never see it. `bradley-terry` has the strengths of the ranking, whose model of tastes is fitted to all comparisons.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.comparisons import comparisons, not_compared, relative_judgments
from adjudge.core.errors import DataError
from adjudge.core.rng import generator
from adjudge.core.settings import option, seed_option
from adjudge.rank.methods import METHODS
from adjudge.rank.mfas import TIME_LIMIT, components, contradicted_wins, net_wins, solve
from adjudge.rank.ordering.optima import find_optima
from adjudge.rank.resampling_units import units_of
from adjudge.rank.strengths import scores_of
from adjudge.results.tournament import CheapestOrder, Movable, Tournament, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.counts import Tally
    from adjudge.rank.methods import Method
    from adjudge.rank.mfas import MfasSolution


@dataclass(frozen=True)
class TournamentSettings:
    """What a user can choose."""

    time_limit: float = option(
        TIME_LIMIT, "CPU seconds for proving that the order is optimal.", above=0, unit="seconds"
    )
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
    return Tournament(
        settings={"time_limit": time_limit, "seed": seed},
        data=judgments.fingerprint,
        set_aside=not_compared(judgments),
        notes=used.notes + _notes(compared, tally) + _left_out(chosen.values(), orders),
        systems=names,
        acyclic=not cycles,
        cycles=tuple(tuple(names[i] for i in members) for members in cycles),
        mfas=_cheapest(names, net, solution, time_limit if all_optima else None),
        orders={method: tuple(names[i] for i in order) for method, order in orders.items()},
        violations={method: contradicted_wins(net, order) for method, order in orders.items()},
        spearman={a: {b: spearman(orders[a], orders[b]) for b in orders if b != a} for a in orders},
    )


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
    even = int((np.triu(tally.wins == tally.losses, 1)).sum())
    if even:
        pairs = "1 pair of systems has" if even == 1 else f"{even} pairs of systems have"
        notes.append(f"{pairs} no lead (or never met), which costs nothing either way")
    groups = connected_components(tally.met > 0, directed=False)[0]
    if groups > 1:
        notes.append(
            f"the systems fall into {groups} groups that never met, so how these stand to each other means nothing"
        )
    return tuple(notes)


def _left_out(methods: Iterable[Method], orders: Mapping[str, NDArray[np.int64]]) -> tuple[str, ...]:
    lacking = [method.name for method in methods if method.judgments == "relative" and method.name not in orders]
    return (f"some systems have no score by {', '.join(lacking)}, so there is no such ranking",) if lacking else ()
