"""How far the leads of a tournament can be trusted: cycles by chance, doubtful leads, and the order that remains.

Lopez (2012) finds cycles in most campaigns and asks what they mean. Here leads are compared with those of a campaign
in which the systems can be ordered: Bradley-Terry strengths say how each comparison should turn out, and what the
judgments deviate from it is noise. Noise is drawn again by reversing the deviations of whole annotators (or blocks) at
random, so that judgments by one person, and of one block, keep what they have in common. Estimated strengths are
further apart than the true ones, which would make cycles look rarer by chance, so they are shrunk first.

The confidence of a lead comes from the pair's own judgments: the probability that the leader is preferred more often,
with a uniform prior and with wins and losses divided by how much more annotators vary than single judgments would.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.ranking.bradley_terry import expectations, fit
from adjudge.ranking.optimal_order import first_order
from adjudge.ranking.tournament import components, net_wins, solve, spearman
from adjudge.table.results import Table, number, p_value, percent, tabulate, text
from adjudge.table.rng import generator
from adjudge.table.wording import counted
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.table.comparisons import Comparisons
    from adjudge.table.maths import Bools, Floats, Ints

LEAST_PEOPLE = 8
"""Deviations are reversed by annotator from so many people on; fewer have too few patterns of signs."""
UNIT = 20
"""Leads that are not whole numbers are counted in parts of a judgment, because costs are whole numbers."""
SECONDS = 2.0
"""CPU seconds for the order of one simulated tournament; the best order found counts if they are not enough."""
SPLITS = 20
STABLE = 0.9
"""Orders are called stable from this rank correlation between two disjoint parts on."""
LEVEL = 0.05


@dataclass(frozen=True)
class Edge:
    """A lead, by how many comparisons, and how sure it is that `better` is preferred to `worse` more often."""

    better: str
    worse: str
    weight: int
    comparisons: int
    confidence: float
    kept: bool
    """Whether the confidence reaches that of the partial order."""


@dataclass(frozen=True)
class ChanceCycles:
    """What the cheapest order contradicts, and how much it would by chance if the systems can be ordered."""

    observed: int
    expected: float
    low: float
    high: float
    """95 of 100 campaigns with an order behind them have costs between `low` and `high`."""
    p: float
    """The share of such campaigns that cost at least as much as observed."""
    units: str
    """Whose deviations were reversed: `annotators` or `blocks`."""
    draws: int

    @property
    def words(self) -> str:
        """What it means."""
        means = f"{self.observed} judgments contradict the best order; by chance alone {self.expected:.0f} would"
        band = f"{means} (95%: {self.low:.0f} to {self.high:.0f}, p = {max(self.p, 1 / self.draws):.2f})."
        if self.p < LEVEL:
            return f"{band} The contradictions are more than chance explains: no single scale orders these systems."
        return f"{band} The contradictions are no more than chance explains."


@dataclass(frozen=True)
class Link:
    """Two systems of the partial order with nothing in between."""

    better: str
    worse: str


@dataclass(frozen=True)
class PartialOrder:
    """What remains when doubtful leads are dropped."""

    confidence: float
    kept: int
    dropped: int
    """Leads with less confidence."""
    statements: int
    """Pairs that the remaining leads put in an order, directly or through other systems."""
    pairs: int
    links: tuple[Link, ...]
    levels: tuple[tuple[str, ...], ...]
    """Systems with nobody above them, then those with only these above them, and so on."""
    cycles: tuple[tuple[str, ...], ...]
    """Systems that even these leads put in a circle; they are taken as one place."""
    false_statements: float
    """How many of the kept leads are expected to be wrong."""


@dataclass(frozen=True)
class Weighting:
    """The best order if leads are weighted in another way."""

    weighting: str
    cost_share: float
    """The weight that the order contradicts, as a share of the weight of all leads."""
    first: str
    spearman: float
    """With the order by net wins."""
    order: tuple[str, ...]


@dataclass(frozen=True)
class PartStability:
    """How well the orders by two disjoint random parts of the judgments agree."""

    comparisons: int
    spearman: float


@dataclass(frozen=True)
class Cohort:
    """Two systems that are tied more often than their strengths predict: they vary together."""

    first: str
    second: str
    comparisons: int
    ties: int
    expected_ties: float
    p: float
    """One-sided, after Holm's correction for all pairs."""


@dataclass(frozen=True)
class AgainstOthers:
    """How often somebody prefers the system that the best order of all others puts lower."""

    annotator: str
    decisions: int
    against: float
    p: float
    """One-sided test that it is more than half, after Holm's correction: working against the others, not at random."""


@dataclass(frozen=True)
class Uncertainty:
    """Everything that `tournament --uncertainty` adds."""

    edges: tuple[Edge, ...]
    cycles_by_chance: ChanceCycles
    partial_order: PartialOrder
    weightings: tuple[Weighting, ...]
    stability: tuple[PartStability, ...]
    stable_from: int | None
    """The number of comparisons from which two campaigns are expected to agree on the order; None if never."""
    false_in_total_order: float
    """How many pairs of the best order are expected to stand the wrong way round."""
    block_worth: float
    """How many independent comparisons one comparison of a block is worth for the strengths of systems."""
    design_effect: float
    """How much more the leads vary between annotators (or blocks) than independent comparisons would."""
    cohort: tuple[Cohort, ...]
    against_others: tuple[AgainstOthers, ...]
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Every part under its own name."""
        from adjudge.table.results import to_plain

        return {name: to_plain(getattr(self, name)) for name in self.__dataclass_fields__ if name != "notes"}

    def tables(self) -> tuple[Table, ...]:
        """Leads with their confidence, the order that remains, and what else changes the order."""
        return (self._chance_table(), self._partial_table(), *self._further_tables())

    def _chance_table(self) -> Table:
        chance, order = self.cycles_by_chance, self.partial_order
        rows = (
            ("contradicted by the best order", chance.observed),
            ("expected by chance", chance.expected),
            ("pairs expected the wrong way round in the best order", self.false_in_total_order),
            ("leads dropped as doubtful", order.dropped),
            ("leads expected to be wrong among those kept", order.false_statements),
            ("comparisons until the order is stable", self.stable_from),
            ("independent comparisons that one of a block is worth", self.block_worth),
            ("variation between annotators, times that of single comparisons", self.design_effect),
        )
        return Table("Do the cycles mean anything?", (text("measure"), number("value", 1)), rows, chance.words)

    def _partial_table(self) -> Table:
        order = self.partial_order
        rows = tuple((i, ", ".join(level)) for i, level in enumerate(order.levels, start=1))
        said = f"Leads with a confidence of at least {order.confidence:.0%} order {order.statements} of {order.pairs} "
        words = f"{said}pairs; {counted(order.dropped, 'doubtful lead')} were dropped."
        if order.cycles:
            words += f" Even so there are circles: {'; '.join(', '.join(members) for members in order.cycles)}."
        return Table("The partial order that remains", (number("level", 0), text("systems")), rows, words)

    def _further_tables(self) -> tuple[Table, ...]:
        weightings = tabulate(
            "Other weights of the leads",
            self.weightings,
            {
                "weighting": text("weight"),
                "cost_share": percent("contradicted"),
                "spearman": number("Spearman with net wins", 2),
                "first": text("first system"),
            },
        )
        stability = tabulate(
            "Orders by two disjoint parts of the judgments",
            self.stability,
            {"comparisons": number("comparisons in each", 0), "spearman": number("Spearman", 2)},
            _stable_words(self.stable_from),
        )
        columns = {"first": text("first"), "second": text("second"), "ties": number("ties", 0)}
        cohort = tabulate(
            "Systems that vary together",
            self.cohort,
            {**columns, "expected_ties": number("expected", 1), "p": p_value("p (Holm)")},
            "Ties reward such systems in 'wins-or-ties'; use a method that ignores ties.",
        )
        against = tabulate(
            "Annotators who work against the others",
            self.against_others,
            {
                "annotator": text("annotator"),
                "decisions": number("decisions", 0),
                "against": percent("against"),
                "p": p_value("p (Holm)"),
            },
            "They prefer the worse system more often than chance would; look at their work before the ranking is used.",
        )
        edges = tabulate(
            "Confidence of every lead",
            self.edges,
            {
                "better": text("better"),
                "worse": text("worse"),
                "weight": number("lead", 0),
                "comparisons": number("comparisons", 0),
                "confidence": percent("confidence"),
                "kept": text("kept"),
            },
        )
        maybe = [table for table in (cohort, against) if table.rows]
        return (weightings, stability, *maybe, edges)


def _stable_words(stable_from: int | None) -> str:
    if stable_from is None:
        return f"The parts do not agree, so no number of judgments can be given for a correlation of {STABLE}."
    return f"Two campaigns of {stable_from:,} comparisons each are expected to agree with a correlation of {STABLE}."


class _Counted:
    """Counts of wins and ties, the strengths that explain them, and how each comparison deviates from these."""

    def __init__(self, compared: Comparisons) -> None:
        self.compared, self.n = compared, len(compared.systems)
        self.first, self.second = compared.first.astype(np.int64), compared.second.astype(np.int64)
        self.outcome = compared.outcome.astype(np.int64)
        self.wins, self.ties = count(self.first, self.second, self.outcome, self.n)
        self.met = self.wins + self.wins.T + self.ties
        people = np.unique(compared.annotator)
        self.units = "annotators" if len(people) >= LEAST_PEOPLE else "blocks"
        codes = compared.annotator if self.units == "annotators" else compared.block
        self.unit = np.unique(codes, return_inverse=True)[1]
        self.fitted = fit(self.wins, self.ties)
        self.tie = float(self.fitted.log_tie)
        self.covariance = self.covariance_by(self.unit)

    def expected_lead(self, strength: Floats) -> Floats:
        """The mean of a comparison that counts 1, 0 or -1."""
        return 2 * expectations(strength, self.tie)[0] - 1

    def covariance_by(self, unit: NDArray[np.int64]) -> Floats:
        """The covariance of the strengths if units, not comparisons, are independent."""
        mean, variance = expectations(self.fitted.strength, self.tie)
        inverse = self._inverse(variance)
        deviation = (self.outcome + 1) / 2 - mean[self.first, self.second]
        scores = np.zeros((int(unit.max()) + 1, self.n))
        np.add.at(scores, (unit, self.first), deviation)
        np.add.at(scores, (unit, self.second), -deviation)
        covariance: Floats = inverse @ (scores.T @ scores) @ inverse
        return covariance

    def _inverse(self, variance: Floats) -> Floats:
        information = -self.met * variance
        np.fill_diagonal(information, 0.0)
        np.fill_diagonal(information, -information.sum(1))
        return np.asarray(np.linalg.pinv(information, hermitian=True), dtype=np.float64)

    def shrunk(self) -> Floats:
        """Strengths with about the spread of the true ones."""
        strength = self.fitted.strength
        spread = float(strength.var(ddof=1))
        error = float(np.trace(self.covariance)) / max(self.n - 1, 1)
        share = 0.0 if spread <= 0 else max(0.0, 1 - error / spread)
        shrunk: Floats = strength * np.sqrt(share)
        return shrunk


def count(first: Ints, second: Ints, outcome: Ints, n: int) -> tuple[Floats, Floats]:
    """Wins (row over column) and ties (symmetric) of some comparisons."""
    winner, loser = np.where(outcome > 0, first, second), np.where(outcome > 0, second, first)
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    np.add.at(wins, (winner[outcome != 0], loser[outcome != 0]), 1)
    np.add.at(ties, (first[outcome == 0], second[outcome == 0]), 1)
    return wins, ties + ties.T


def judge_leads(
    compared: Comparisons,
    order: Ints,
    cost: int,
    *,
    draws: int,
    confidence: float,
    seed: int,
    lengths: Floats | None = None,
) -> Uncertainty:
    """Say how far the leads of a tournament can be trusted.

    Args:
        compared: comparisons of the systems that are not human.
        order: the best order.
        cost: what it contradicts.
        draws: simulated campaigns for the chance level of cycles.
        confidence: leads with less are dropped from the partial order.
        seed: random seed.
        lengths: the length of the source of each comparison, if it is known.
    """
    counted_ = _Counted(compared)
    effect = design_effect(counted_)
    edges = _edges(counted_, effect, confidence)
    stability, stable_from = _stability(counted_, seed)
    return Uncertainty(
        edges=edges,
        cycles_by_chance=chance_cycles(counted_, cost, draws, seed),
        partial_order=partial_order(compared.systems, edges, confidence),
        weightings=_weightings(counted_, order, lengths),
        stability=stability,
        stable_from=stable_from,
        false_in_total_order=_false_statements(counted_, order),
        block_worth=_block_worth(counted_),
        design_effect=effect,
        cohort=_cohort(counted_),
        against_others=_against_others(counted_, effect),
        notes=_notes(counted_),
    )


def _notes(counted_: _Counted) -> tuple[str, ...]:
    if counted_.units == "annotators":
        return ()
    people = counted(len(np.unique(counted_.compared.annotator)), "annotator")
    return (f"chance is that of blocks, because {people} are too few to resample; other people may differ more",)


def chance_cycles(counted_: _Counted, cost: int, draws: int, seed: int) -> ChanceCycles:
    """The cost of the best order in campaigns that an order underlies, with the noise of this one."""
    import scipy.sparse as sp

    n, expected = counted_.n, counted_.expected_lead(counted_.shrunk())
    deviation = counted_.outcome - expected[counted_.first, counted_.second]
    pair = counted_.first * n + counted_.second
    by_unit = sp.coo_array((deviation, (counted_.unit, pair)), shape=(int(counted_.unit.max()) + 1, n * n)).tocsr()
    signs = generator(seed, 30).choice([-1.0, 1.0], size=(draws, by_unit.shape[0]))
    leads = np.triu(expected * counted_.met, 1) + (signs @ by_unit).reshape(draws, n, n)
    costs = np.array(map_tasks(_cost_of_leads, list(leads), what="simulated tournaments")) / UNIT
    low, high = np.quantile(costs, [0.025, 0.975])
    p = float((costs >= cost - 1e-9).mean())
    return ChanceCycles(cost, float(costs.mean()), float(low), float(high), p, counted_.units, draws)


def _cost_of_leads(leads: Floats) -> int:
    return solve(_whole(leads - leads.T), time_limit=SECONDS).cost


def _whole(leads: Floats) -> NDArray[np.int64]:
    """Leads in whole parts of a judgment, 0 where there is none."""
    whole: NDArray[np.int64] = np.rint(UNIT * np.maximum(leads, 0)).astype(np.int64)
    return whole


def design_effect(counted_: _Counted) -> float:
    """How much more leads vary between units than independent comparisons would; at least 1."""
    expected = counted_.expected_lead(counted_.fitted.strength)
    deviation = counted_.outcome - expected[counted_.first, counted_.second]
    cell = (counted_.unit * counted_.n + counted_.first) * counted_.n + counted_.second
    sums = np.bincount(np.unique(cell, return_inverse=True)[1], deviation)
    return max(1.0, float((sums**2).sum() / max((deviation**2).sum(), 1e-12)))


def lead_confidence(wins: Floats, losses: Floats, effect: float = 1.0) -> Floats:
    """The probability that the true share of wins is above one half, with a uniform prior."""
    from scipy.special import betainc

    confidence: Floats = betainc(losses / effect + 1, wins / effect + 1, 0.5)
    return confidence


def _edges(counted_: _Counted, effect: float, confidence: float) -> tuple[Edge, ...]:
    wins, names = counted_.wins, counted_.compared.systems
    sure = lead_confidence(wins, wins.T, effect)
    net = net_wins(wins)
    found = [
        Edge(
            names[i],
            names[j],
            int(net[i, j]),
            int(counted_.met[i, j]),
            float(sure[i, j]),
            bool(sure[i, j] >= confidence),
        )
        for i, j in zip(*np.nonzero(net), strict=True)
    ]
    return tuple(sorted(found, key=lambda edge: (-edge.confidence, edge.better, edge.worse)))


def partial_order(names: tuple[str, ...], edges: tuple[Edge, ...], confidence: float) -> PartialOrder:
    """What the leads that are sure enough say, directly and through each other."""
    index = {name: i for i, name in enumerate(names)}
    kept = [edge for edge in edges if edge.kept]
    leads = np.zeros((len(names), len(names)), dtype=np.int64)
    for edge in kept:
        leads[index[edge.better], index[edge.worse]] = 1
    groups = components(leads)
    above = _closure(leads > 0)
    links = [
        Link(names[i], names[j])
        for i, j in zip(*np.nonzero(above & ~above.T), strict=True)
        if not any(above[i, k] and above[k, j] and not above[k, i] and not above[j, k] for k in range(len(names)))
    ]
    return PartialOrder(
        confidence=confidence,
        kept=len(kept),
        dropped=len(edges) - len(kept),
        statements=int((above & ~above.T).sum()),
        pairs=len(names) * (len(names) - 1) // 2,
        links=tuple(links),
        levels=_levels(names, above & ~above.T),
        cycles=tuple(tuple(names[i] for i in group) for group in groups if len(group) > 1),
        false_statements=float(sum(1 - edge.confidence for edge in kept)),
    )


def _closure(leads: Bools) -> Bools:
    above = leads.copy()
    for k in range(len(above)):
        above |= above[:, k, None] & above[None, k]
    np.fill_diagonal(above, val=False)
    return above


def _levels(names: tuple[str, ...], above: Bools) -> tuple[tuple[str, ...], ...]:
    """Systems by the length of the longest chain above them."""
    level = np.zeros(len(names), dtype=np.int64)
    for _ in names:
        level = np.array(
            [max((level[i] + 1 for i in np.flatnonzero(above[:, j])), default=0) for j in range(len(names))]
        )
    return tuple(
        tuple(name for name, its in zip(names, level, strict=True) if its == one) for one in range(int(level.max()) + 1)
    )


def _weightings(counted_: _Counted, order: Ints, lengths: Floats | None) -> tuple[Weighting, ...]:
    from adjudge.table.maths import divide

    wins, names = counted_.wins, counted_.compared.systems
    lead = wins - wins.T
    sure = lead_confidence(wins, wins.T)
    made: dict[str, Floats] = {
        "net wins": lead,
        "each lead counts 1": np.sign(lead),
        "share of the pair's judgments": divide(lead, counted_.met, otherwise=0.0),
        "confidence of the lead": np.where(lead > 0, sure - 0.5, np.where(lead < 0, sure - 0.5, 0.0)),
    }
    if lengths is not None:
        weight = 1 / np.maximum(lengths, 1)
        short = np.zeros_like(lead)
        np.add.at(short, (counted_.first, counted_.second), weight * counted_.outcome)
        made["shorter segments count more"] = (short - short.T) / weight.mean()
    found = []
    for name, leads in made.items():
        scale = 1000 / max(float(np.abs(leads).max()), 1e-12) if name != "net wins" else 1.0
        net = np.rint(np.maximum(leads, 0) * scale).astype(np.int64)
        best = solve(net, time_limit=SECONDS)
        # Where several orders are cheapest, that of the net wins is kept if it is one of them.
        own = order if _cost(net, order) == best.cost else best.order
        share = best.cost / max(int(net.sum()), 1)
        listed = tuple(names[i] for i in own)
        found.append(Weighting(name, share, listed[0], spearman(order, own), listed))
    return tuple(found)


def _cost(net: NDArray[np.int64], order: Ints) -> int:
    return int(np.tril(net[np.ix_(order, order)], -1).sum())


def _stability(counted_: _Counted, seed: int) -> tuple[tuple[PartStability, ...], int | None]:
    """Correlations of the orders by two disjoint parts of the blocks, and the number at which they reach `STABLE`."""
    block = np.unique(counted_.compared.block, return_inverse=True)[1]
    blocks = int(block.max()) + 1
    made: list[PartStability] = []
    for share in (1 / 16, 1 / 8, 1 / 4, 1 / 2):
        size = int(blocks * share)
        if size < 2:
            continue
        rhos = [_split(counted_, block, blocks, size, generator(seed, 31, size, split)) for split in range(SPLITS)]
        made.append(PartStability(round(len(counted_.outcome) * size / blocks), float(np.mean(rhos))))
    if not made or made[-1].spearman <= 0:
        return tuple(made), None
    # Spearman-Brown: n times the judgments take a reliability of r to n r / (1 + (n - 1) r).
    last = made[-1]
    rho = min(last.spearman, 1 - 1e-6)
    return tuple(made), max(1, round(last.comparisons * STABLE / (1 - STABLE) * (1 - rho) / rho))


def _split(counted_: _Counted, block: NDArray[np.int64], blocks: int, size: int, rng: np.random.Generator) -> float:
    part = np.full(blocks, -1)
    chosen = rng.permutation(blocks)
    part[chosen[:size]], part[chosen[size : 2 * size]] = 0, 1
    orders = []
    for half in (0, 1):
        rows = part[block] == half
        first, second, outcome = counted_.first[rows], counted_.second[rows], counted_.outcome[rows]
        net = net_wins(count(first, second, outcome, counted_.n)[0])
        orders.append(first_order(net.T.copy()))
    return spearman(*orders)


def _false_statements(counted_: _Counted, order: Ints) -> float:
    """The expected number of pairs that an order puts the wrong way round, by the strengths and their errors."""
    from scipy.special import ndtr

    from adjudge.table.maths import difference_variances

    strength = counted_.fitted.strength[order]
    errors = np.sqrt(np.maximum(difference_variances(counted_.covariance)[np.ix_(order, order)], 1e-12))
    wrong = ndtr(-(strength[:, None] - strength[None, :]) / errors)
    return float(np.triu(wrong, 1).sum())


def _block_worth(counted_: _Counted) -> float:
    """Independent comparisons over comparisons of blocks with the same information on differences of systems."""
    block = np.unique(counted_.compared.block, return_inverse=True)[1]
    alone = np.arange(len(block))
    return float(np.trace(counted_.covariance_by(alone)) / max(np.trace(counted_.covariance_by(block)), 1e-12))


def _cohort(counted_: _Counted) -> tuple[Cohort, ...]:
    from scipy.stats import binom

    from adjudge.ranking.decisions import holm

    if not counted_.ties.any():
        return ()
    half = (counted_.fitted.strength[:, None] - counted_.fitted.strength[None, :]) / 2
    tie = np.exp(counted_.tie)
    share = tie / (np.exp(half) + np.exp(-half) + tie)
    # Annotators differ in how often they tie, so each pair is expected to have the ties of those who judged it.
    habit = _habits(counted_, share)
    first, second = np.triu_indices(counted_.n, 1)
    met, ties, expected = (m[first, second] for m in (counted_.met, counted_.ties, habit))
    p = holm(binom.sf(ties - 1, met, np.clip(expected / np.maximum(met, 1), 0, 1)))
    names = counted_.compared.systems
    return tuple(
        Cohort(names[first[k]], names[second[k]], int(met[k]), int(ties[k]), float(expected[k]), float(p[k]))
        for k in np.argsort(p, kind="stable")
        if p[k] < LEVEL
    )


def _habits(counted_: _Counted, share: Floats) -> Floats:
    """Expected ties of every pair, given how much more or less each annotator ties than the strengths say."""
    expected = share[counted_.first, counted_.second]
    person = counted_.compared.annotator
    people = int(person.max()) + 1
    tied = np.bincount(person, counted_.outcome == 0, minlength=people)
    factor = tied / np.maximum(np.bincount(person, expected, minlength=people), 1e-12)
    table = np.zeros((counted_.n, counted_.n))
    np.add.at(table, (counted_.first, counted_.second), np.minimum(expected * factor[person], 1.0))
    return table + table.T


def _against_others(counted_: _Counted, effect: float) -> tuple[AgainstOthers, ...]:
    from adjudge.ranking.decisions import holm

    person = counted_.compared.annotator
    people = np.unique(person)
    if len(people) < 3:
        return ()
    decided = counted_.outcome != 0
    found: list[tuple[str, int, float]] = []
    for code in people:
        own = person == code
        rows = ~own
        net = net_wins(count(counted_.first[rows], counted_.second[rows], counted_.outcome[rows], counted_.n)[0])
        place = np.argsort(first_order(net.T.copy()))
        mine = own & decided
        upward = (place[counted_.first[mine]] > place[counted_.second[mine]]) == (counted_.outcome[mine] > 0)
        found.append((counted_.compared.annotators[code], int(mine.sum()), float(upward.mean()) if mine.any() else 0.0))
    against = np.array([number_ * share for _, number_, share in found])
    total = np.array([number_ for _, number_, _ in found], dtype=float)
    p = holm(lead_confidence(total - against, against, effect))
    rows_ = [AgainstOthers(*one, p=float(p_)) for one, p_ in zip(found, p, strict=True) if p_ < LEVEL]
    return tuple(sorted(rows_, key=lambda row: row.p))
