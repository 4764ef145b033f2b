"""The models of scores compared on released judgments: A/A over pages and over annotators, split halves, false alarms.

    python -m bench.bench_models FOLDER [splits] [campaigns]

FOLDER holds released files (see `docs/datasets.md`): every set that is found there is used. Three models are fitted to
each (`mixed`, `mixed-points`, `mixed-plain`). Shown are

- the pairs of systems that each model tells apart after Holm,
- how often a system is called different from itself when its pages, or its annotators, are divided at random,
- Kendall's tau between the orders by two halves of the annotators,
- how often any pair is called different when scores are drawn for the real design with equal systems and the fitted
  variances: tastes, annotators' own use of the scale, and ends of the scale included.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

import adjudge
from adjudge.core.arrays import Bools, Codes, Floats
from adjudge.core.errors import AdjudgeError
from adjudge.core.judgments import Judgments
from adjudge.core.rng import generator
from adjudge.formats.options import ReadOptions
from adjudge.rank.contrasts import contrasts
from adjudge.rank.lines import holm
from adjudge.rank.mixed import MixedDesign, MixedFit, design_from, fit, prepare
from adjudge.rank.mixed.design import combine, levels_of
from adjudge.rank.mixed.effects import identify

MODELS = ("mixed", "mixed-points", "mixed-plain")
FEWEST_PEOPLE = 4
SCALE = 0.25
"""How differently simulated annotators spread their scores: standard deviation of the logarithm."""


@dataclass
class Counts:
    """Of one model on one set."""

    told_apart: int = 0
    pages: list[float] = field(default_factory=list)
    annotators: list[float] = field(default_factory=list)
    tau: list[float] = field(default_factory=list)
    alarms: list[float] = field(default_factory=list)


def sets(folder: Path) -> Iterator[tuple[str, Judgments]]:
    """The sets at hand, people instead of accounts where a map was released."""
    found: list[tuple[str, Path, str, Path | None]] = [
        ("news 2021", folder / "wmt21" / "newstest2021-toen", "wmt-da", None),
        ("wikipedia 2021", folder / "wmt21" / "facebook-wikipedia-2021", "wmt-da", None),
        ("ESA 2024", folder / "wmt24esa" / "esa_generalMT2024_wave3.csv", "appraise",
         folder / "wmt24esa" / "annotator_mapping.json"),
        ("ESA study, first", folder / "esa-study" / "240520rc6ESA.scores.csv", "appraise",
         folder / "esa-study" / "Annotators_mapping.csv"),
        ("ESA study, later", folder / "esa-study" / "240520rc6GEMBA.scores.csv", "appraise",
         folder / "esa-study" / "Annotators_mapping.csv"),
        ("Livonian 2022", folder / "wmt22sqm" / "WMT22.Appraise.SegLvlLivSrc.20221031.filtered.csv", "appraise", None),
        ("MQM of talks", folder / "mqm" / "mqm_ted_ende.tsv", "mqm", None),
    ]  # fmt: skip
    for name, path, reader, people in found:
        if path.exists():
            judgments = adjudge.read([path], format=reader, options=ReadOptions(annotators=people))
            for pair in judgments.pairs:
                yield f"{name} {pair}", judgments.for_pair(pair)


def main(folder: Path, splits: int = 10, campaigns: int = 100) -> None:
    totals = {name: Counts() for name in MODELS}
    for label, judgments in sets(folder):
        try:
            designs = {name: design_from(judgments, model=name) for name in MODELS}
            fits = {name: fit(design) for name, design in designs.items()}
        except AdjudgeError as fault:
            print(f"{label}: {fault}")
            continue
        people = fits["mixed"].annotators
        if people < FEWEST_PEOPLE:
            print(f"{label:28} {people} people: too few to divide")
            continue
        print(
            f"{label:28} {len(designs['mixed']):6,} scores, {people:3} people, {len(fits['mixed'].systems):2} systems"
        )
        drawn = [alarms(designs, fits["mixed-points"], number) for number in range(campaigns if people <= 20 else 0)]
        for name in MODELS:
            counts = counted(designs[name], fits[name], splits)
            counts.alarms = [draw[name] for draw in drawn]
            print_counts(name, counts)
            totals[name].told_apart += counts.told_apart
            for part in ("pages", "annotators", "tau", "alarms"):
                getattr(totals[name], part).extend(getattr(counts, part))
    print("all sets")
    for name, counts in totals.items():
        print_counts(name, counts)


def counted(design: MixedDesign, model: MixedFit, splits: int) -> Counts:
    counts = Counts(told_apart(model))
    assert design.annotator is not None
    page = design.page if design.document is None else combine(design.annotator, design.system, design.document)
    for split in range(splits):
        rng = generator(41, split)
        half = random_half(design.annotator, np.zeros_like(design.annotator), rng)
        assert design.annotator_system is not None
        # Every system is divided for itself: what an annotator gives in general cancels out, and tastes stay.
        counts.annotators += differences(design, model, random_half(design.annotator_system, design.system, rng))
        if page is not None:
            counts.pages += differences(design, model, random_half(page, design.system, rng))
        orders = [order(design, model, rows) for rows in (half == 0, half == 1)]
        both = ~np.isnan(orders[0]) & ~np.isnan(orders[1])
        if both.sum() > 1:
            counts.tau.append(float(kendalltau(orders[0][both], orders[1][both]).statistic))
    return counts


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


def differences(design: MixedDesign, model: MixedFit, half: Codes) -> list[float]:
    """Whether each system's halves are called different at .05."""
    sides, system = np.unique(2 * design.system + half, return_inverse=True)
    names = tuple(f"{design.systems[side // 2]} {side % 2}" for side in sides)
    halved = design.with_systems(system, names, design.human[sides // 2])
    refitted = prepare(halved).refit(None, model.ratios)
    p = contrasts(refitted.effects, refitted.covariance, refitted.df).two_sided
    first = np.flatnonzero(sides[:-1] // 2 == sides[1:] // 2)
    return [float(p[i, i + 1] < 0.05) for i in first]


def order(design: MixedDesign, model: MixedFit, rows: Bools) -> Floats:
    part = design.subset(rows)
    effects = np.full(len(design.systems), np.nan)
    effects[[design.systems.index(name) for name in part.systems]] = prepare(part).effects_at(None, model.ratios)
    return effects


def alarms(designs: dict[str, MixedDesign], known: MixedFit, number: int) -> dict[str, float]:
    """Whether each model calls any pair different when all systems are equal and the rest is as fitted."""
    rng = generator(42, number)
    design = designs["mixed-points"]
    sd = {component.effect: component.sd for component in known.components}
    noise = sd["residual"] * rng.standard_normal(len(design))
    for effect in identify(design).kept:
        noise += sd[effect.name] * rng.standard_normal(effect.levels)[effect.codes]
    assert design.annotator is not None
    spread = np.exp(SCALE * rng.standard_normal(levels_of(design.annotator)))[design.annotator]
    given = np.clip(np.round(design.as_given.mean() + spread * noise), design.as_given.min(), design.as_given.max())
    return {name: float(told_apart(fit(own.with_scores(given))) > 0) for name, own in designs.items()}


def print_counts(name: str, counts: Counts) -> None:
    def share(hits: list[float]) -> str:
        if not hits:
            return f"{'':18}"
        mean = float(np.mean(hits))
        return f"{100 * mean:5.1f}% of {len(hits):5}   "

    tau = f"{np.mean(counts.tau):.3f}" if counts.tau else ""
    print(f"   {name:13} told apart {counts.told_apart:4}  pages {share(counts.pages)} annotators "
          f"{share(counts.annotators)} tau {tau:6} false alarms {share(counts.alarms)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), *(int(number) for number in sys.argv[2:4]))
