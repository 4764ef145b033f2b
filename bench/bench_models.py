"""The models of scores compared on released judgments: A/A over pages and over annotators, split halves, false alarms.

    python -m bench.bench_models FOLDER [splits] [campaigns] [part of a set's name]

FOLDER holds released files (see `docs/datasets.md`): every set that is found there is used. The models of the package
are fitted to each (`mixed`, `mixed-points`, `mixed-plain`) and the candidates of `score_candidates`. Shown are

- the pairs of systems that each model tells apart after Holm,
- how often a system is called different from itself when its pages, or its annotators, are divided at random,
- Kendall's tau between the orders by two halves of the annotators,
- how often any pair is called different when scores are drawn for the real design with equal systems and the fitted
  variances: tastes, annotators' own use of the scale, and ends of the scale included.

A/A rates are shown by the model's degrees of freedom and by the normal distribution, with Monte-Carlo standard errors
over splits; variances are those of all data, so that a split tests a difference against errors that are nearly known.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from adjudge.mixed.design import MixedDesign, combine, design_from, levels_of
from adjudge.mixed.effects import identify
from adjudge.mixed.fit import MixedFit, fit, prepare
from adjudge.ranking.decisions import holm
from adjudge.table.errors import AdjudgeError
from adjudge.table.maths import Bools, Codes, Floats, contrasts
from adjudge.table.rng import generator
from bench.bench_released import score_sets
from bench.score_candidates import CANDIDATES, as_candidate

MODELS = ("mixed", "mixed-points", "mixed-plain")
ALL = (*MODELS, *CANDIDATES)
FEWEST_PEOPLE = 4
SCALE = 0.25
"""How differently simulated annotators spread their scores: standard deviation of the logarithm."""


@dataclass
class Counts:
    """Of one model on one set."""

    told_apart: int = 0
    pages: list[list[float]] = field(default_factory=list)
    """For each split the p-values of all systems."""
    annotators: list[list[float]] = field(default_factory=list)
    pages_normal: list[list[float]] = field(default_factory=list)
    annotators_normal: list[list[float]] = field(default_factory=list)
    tau: list[float] = field(default_factory=list)
    alarms: list[float] = field(default_factory=list)


def main(folder: Path, splits: int = 10, campaigns: int = 100, part: str = "") -> None:
    totals = {name: Counts() for name in ALL}
    for label, judgments in score_sets(folder):
        if part not in label:
            continue
        try:
            designs = all_designs(design_from(judgments, model="mixed-points"))
            fits = {name: fit(design) for name, design in designs.items()}
        except AdjudgeError as fault:
            print(f"{label}: {fault}")
            continue
        people = fits["mixed"].annotators
        taste = next((part.sd for part in fits["mixed"].components if part.effect == "annotator:system"), 0.0)
        size = f"{len(designs['mixed']):6,} scores, {people:3} people, {len(fits['mixed'].systems):2} systems"
        apart = [told_apart(fits[name]) for name in ALL]
        print(f"{label:28} {size}, taste {taste:.2f} points, told apart {apart}", flush=True)
        if people < FEWEST_PEOPLE:
            continue
        known, own = fits["mixed-points"], designs["mixed-points"]
        drawn = [alarms(own, known, number) for number in range(campaigns if people <= 20 else 0)]
        for name in ALL:
            counts = counted(designs[name], fits[name], splits)
            counts.alarms = [draw[name] for draw in drawn]
            print_counts(name, counts)
            totals[name].told_apart += counts.told_apart
            for column in list(vars(counts))[1:]:
                getattr(totals[name], column).extend(getattr(counts, column))
    print("all sets")
    for name, counts in totals.items():
        print_counts(name, counts)


def all_designs(points: MixedDesign, models: tuple[str, ...] = ALL) -> dict[str, MixedDesign]:
    """The same judgments for every model and candidate."""
    return {name: as_candidate(points, name) if name in CANDIDATES else points.with_model(name) for name in models}


def counted(design: MixedDesign, model: MixedFit, splits: int) -> Counts:
    counts = Counts(told_apart(model))
    assert design.annotator is not None
    page = design.page if design.document is None else combine(design.annotator, design.system, design.document)
    for split in range(splits):
        rng = generator(41, split)
        half = random_half(design.annotator, np.zeros_like(design.annotator), rng)
        assert design.annotator_system is not None
        # Every system is divided for itself: what an annotator gives in general cancels out, and tastes stay.
        by_people = random_half(design.annotator_system, design.system, rng)
        collect(counts.annotators, counts.annotators_normal, p_values(design, model, by_people))
        if page is not None:
            by_page = random_half(page, design.system, rng)
            collect(counts.pages, counts.pages_normal, p_values(design, model, by_page))
        orders = [order(design, model, rows) for rows in (half == 0, half == 1)]
        both = ~np.isnan(orders[0]) & ~np.isnan(orders[1])
        if both.sum() > 1:
            counts.tau.append(float(kendalltau(orders[0][both], orders[1][both]).statistic))
    return counts


def collect(own: list[list[float]], normal: list[list[float]], p: tuple[list[float], list[float]]) -> None:
    own.append(p[0])
    normal.append(p[1])


def told_apart(model: MixedFit) -> int:
    compared = contrasts(model.effects, model.covariance, model.df)
    return int((holm(compared.two_sided[np.triu_indices(len(model.systems), 1)]) < 0.05).sum())


def random_half(unit: Codes, group: Codes, rng: np.random.Generator) -> Codes:
    """For every row 0 or 1: half of the units of each group, drawn at random."""
    owner = np.empty(levels_of(unit), dtype=np.int64)
    owner[unit] = group
    side = np.zeros(levels_of(unit), dtype=np.int64)
    for owner_code in np.unique(owner):
        mine = rng.permutation(np.flatnonzero(owner == owner_code))
        side[mine[: len(mine) // 2]] = 1
    return side[unit]


def p_values(design: MixedDesign, model: MixedFit, half: Codes) -> tuple[list[float], list[float]]:
    """P of each system's halves, by the model's degrees of freedom and by the normal distribution."""
    sides, system = np.unique(2 * design.system + half, return_inverse=True)
    names = tuple(f"{design.systems[side // 2]} {side % 2}" for side in sides)
    halved = design.with_systems(system, names, design.human[sides // 2])
    refitted = prepare(halved).refit(None, model.ratios)
    first = np.flatnonzero(sides[:-1] // 2 == sides[1:] // 2)
    by_t, by_normal = (
        contrasts(refitted.effects, refitted.covariance, df).two_sided[first, first + 1] for df in (refitted.df, np.inf)
    )
    return by_t.tolist(), by_normal.tolist()


def order(design: MixedDesign, model: MixedFit, rows: Bools) -> Floats:
    part = design.subset(rows)
    effects = np.full(len(design.systems), np.nan)
    effects[[design.systems.index(name) for name in part.systems]] = prepare(part).effects_at(None, model.ratios)
    return effects


def alarms(design: MixedDesign, known: MixedFit, number: int, models: tuple[str, ...] = ALL) -> dict[str, float]:
    """Whether each model calls any pair different when all systems are equal and the rest is as fitted.

    Args:
        design: of `mixed-points`.
        known: that model, fitted.
        number: of the simulated campaign.
        models: names of models and candidates.
    """
    rng = generator(42, number)
    sd = {component.effect: component.sd for component in known.components}
    noise = sd["residual"] * rng.standard_normal(len(design))
    for effect in identify(design).kept:
        noise += sd[effect.name] * rng.standard_normal(effect.levels)[effect.codes]
    assert design.annotator is not None
    spread = np.exp(SCALE * rng.standard_normal(levels_of(design.annotator)))[design.annotator]
    given = np.clip(np.round(design.as_given.mean() + spread * noise), design.as_given.min(), design.as_given.max())
    drawn = design.with_scores(given)
    return {name: float(told_apart(fit(own)) > 0) for name, own in all_designs(drawn, models).items()}


def in_percent(values: list[float]) -> str:
    """The mean with its Monte-Carlo standard error."""
    return f"{100 * np.mean(values):.1f} ±{100 * np.std(values, ddof=1) / np.sqrt(len(values)):.1f}"


def print_counts(name: str, counts: Counts) -> None:
    def rate(p: list[list[float]]) -> str:
        shares = [float((np.array(split) < 0.05).mean()) for split in p if split]
        return f"{in_percent(shares):>10}" if shares else ""

    tests = (sum(map(len, counts.pages)), sum(map(len, counts.annotators)))
    tau = f"{np.mean(counts.tau):.3f} ±{np.std(counts.tau) / np.sqrt(len(counts.tau)):.3f}" if counts.tau else ""
    alarm = in_percent(counts.alarms) if counts.alarms else ""
    print(f"   {name:14} told apart {counts.told_apart:4}  pages {rate(counts.pages)} (normal "
          f"{rate(counts.pages_normal)}, {tests[0]} tests)  annotators {rate(counts.annotators)} (normal "
          f"{rate(counts.annotators_normal)}, {tests[1]} tests)  tau {tau}  false alarms {alarm} of "
          f"{len(counts.alarms)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    wanted = [int(number) for number in sys.argv[2:4]] + [10, 100][len(sys.argv[2:4]) :]
    main(Path(sys.argv[1]), wanted[0], wanted[1], sys.argv[4] if len(sys.argv) > 4 else "")
