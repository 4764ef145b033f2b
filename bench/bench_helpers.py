"""Scores of metrics for all outputs as helpers: are differences unbiased, do intervals hold, and what is gained?

    python -m bench helpers
    HELPERS_RUNS=400 python -m bench helpers

Simulated campaigns: some documents of a test set are judged, and a helper scores the outputs of all of them. The truth
is the quality of the systems on texts of this kind, which the simulation knows. Released scores (ADJUDGE_DATA/wmt23):
documents are drawn at random, and the differences of systems on these, with and without helpers, are compared with
those on all documents.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from adjudge.campaigns.segment_selection import draw_groups, inclusion_probabilities
from adjudge.mixed.design import MODELS, MixedDesign, combine, design_from
from adjudge.mixed.fit import MixedFit
from adjudge.mixed.helpers import Matched, help_design, match
from adjudge.mixed.model import forget_models, model_of
from adjudge.ranking.decisions import holm
from adjudge.readers.metric_scores import MetricScore, read_metric_scores
from adjudge.readers.registry import read
from adjudge.table.judgments import Judgments, renumber
from adjudge.table.maths import contrasts
from adjudge.table.rng import generator

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
RUNS = int(os.environ.get("HELPERS_RUNS", "200"))
REPLAYS = int(os.environ.get("HELPERS_REPLAYS", "60"))
METRICS = (
    "MetricX-23-b-refA", "MetricX-23-QE-b-src", "XCOMET-Ensemble-refA", "COMET-refA", "GEMBA-MQM-src", "chrF-refA",
    "Random-sysname-src",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """A campaign with helpers. Standard deviations are in points."""

    helper: str = "good"
    """`good`, `useless`, `lover` (of the first system), `bent` (not linear), `contrary` (for the first system, worse is
    better), `several` (three that say nearly the same and five useless ones), `idle` (eight useless
    ones)."""
    quality: tuple[float, ...] = (0.0, 2.0, 4.0, 6.0)
    documents: int = 200
    judged: int = 40
    length: int = 4
    annotators: int = 8
    taste_sd: float = 2.0
    apart: bool = False
    """Whether every system is judged on documents of its own."""
    chosen: bool = False
    """Whether documents are drawn with unequal, known probabilities."""
    unscored: bool = False
    """Whether the last system has no scores by the helper."""
    model: str = "mixed-points"


def make_campaign(case: Campaign, rng: np.random.Generator) -> tuple[MixedDesign, Matched]:
    """The human scores of a campaign, and the helpers' scores of all outputs."""
    systems, segments = len(case.quality), case.documents * case.length
    document = np.repeat(np.arange(case.documents), case.length)
    telling = rng.lognormal(0, 0.5, case.documents) if case.chosen else np.ones(case.documents)
    own = rng.normal(0, 6, (systems, case.documents)) * telling
    own = own[:, document] + rng.normal(0, 8, (systems, segments))
    hard = rng.normal(0, 4, case.documents)[document] + rng.normal(0, 6, segments)
    output = np.array(case.quality)[:, None] + hard + own
    scores = make_helpers(case, hard, own, rng)
    design = judge(case, output, document, telling, rng)
    names = tuple(map(str, range(len(scores))))
    segment = design.row % segments
    return design, Matched(
        names, design.systems, design.human, scores, design.system, segment, document, "", ()
    )  # fmt: skip


def make_helpers(case: Campaign, hard: Floats, own: Floats, rng: np.random.Generator) -> Floats:
    """The helpers' scores: (helpers, systems, segments)."""
    good = hard + own + rng.normal(0, 8, own.shape)
    if case.helper == "idle":
        return rng.normal(0, 8, (8, *own.shape))
    if case.helper == "useless":
        good = rng.normal(0, 8, own.shape)
    elif case.helper == "lover":
        good[0] = 2 * good[0] + 30
    elif case.helper == "bent":
        good = np.exp(good / 10)
    elif case.helper == "contrary":
        good[0] = hard - own[0] + rng.normal(0, 8, own.shape[1])
    if case.unscored:
        good[-1] = np.nan
    if case.helper != "several":
        return good[None]
    alike = [good + rng.normal(0, 3, own.shape) for _ in range(3)]
    return np.array([*alike, *(rng.normal(0, 8, own.shape) for _ in range(5))])


def judge(case: Campaign, output: Floats, document: Codes, telling: Floats, rng: np.random.Generator) -> MixedDesign:
    """Human scores of the documents that are drawn."""
    systems, segments = output.shape
    drawn = [draw_documents(case, telling, rng) for _ in range(systems if case.apart else 1)]
    chosen, weight = zip(*(drawn if case.apart else drawn * systems), strict=True)
    page_document, page_weight = np.concatenate(chosen), np.concatenate(weight)
    page_system = np.repeat(np.arange(systems), [len(part) for part in chosen])
    pages = len(page_document)
    who = rng.integers(case.annotators, size=pages)
    impression = rng.normal(0, 6, case.annotators)[who] + rng.normal(0, 5, pages)
    impression += rng.normal(0, case.taste_sd, (case.annotators, systems))[who, page_system]
    each = np.repeat(np.arange(pages), case.length)
    segment = page_document[each] * case.length + np.tile(np.arange(case.length), pages)
    system, annotator, share = page_system[each], who[each], page_weight[each]
    given = 70 + output[system, segment] + impression[each] + rng.normal(0, 12, len(each))
    model = MODELS[case.model]
    return MixedDesign(
        score=model.fitted_scores(given), given=given, model=model,
        systems=tuple(map(str, range(systems))), human=np.zeros(systems, dtype=bool),
        system=system, annotator=renumber(annotator), task=None, document=renumber(document[segment]),
        segment=renumber(segment), page=each, row=system * segments + segment,
        annotator_system=combine(annotator, system),
        weight=share / share.mean() if case.chosen else None,
    )  # fmt: skip


def draw_documents(case: Campaign, telling: Floats, rng: np.random.Generator) -> tuple[Codes, Floats]:
    """The documents that are judged, and 1 / probability."""
    if not case.chosen:
        return rng.permutation(case.documents)[: case.judged], np.ones(case.judged)
    wanted = case.judged * case.length
    probability = inclusion_probabilities(telling.tolist(), [case.length] * case.documents, wanted)
    chosen = np.array(draw_groups(probability, rng))
    return chosen, 1 / probability[chosen]


@dataclass(frozen=True)
class Outcome:
    """What became of one campaign, without helpers and with them."""

    error: tuple[Floats, Floats]
    """Estimated less true differences of all pairs."""
    covered: tuple[float, float]
    """The share of 95% intervals that hold the true difference."""
    alarm: tuple[bool, bool]
    """Whether any two systems are called different after Holm's correction."""
    gain: float
    """As printed: 1 where its interval includes 1."""
    interval: tuple[float, float]


def outcome(case: Campaign, number: int) -> Outcome:
    """Simulate one campaign and rank it without helpers and with them."""
    design, matched = make_campaign(case, generator(31, number))
    forget_models()
    helped = help_design(design, matched, seed=number, alone=False)
    quality = np.array(case.quality)
    upper = np.triu_indices(len(quality), 1)
    true = (quality[:, None] - quality[None, :])[upper]

    def judged(fitted: MixedFit) -> tuple[Floats, float, bool]:
        compared = contrasts(fitted.effects, fitted.covariance, fitted.df)
        low, high = (bound[upper] for bound in compared.interval())
        called = bool((holm(compared.two_sided[upper]) <= 0.05).any())
        return compared.difference[upper] - true, float(((low <= true) & (true <= high)).mean()), called

    plain, better = judged(model_of(design).fitted), judged(helped.fit)
    return Outcome((plain[0], better[0]), (plain[1], better[1]), (plain[2], better[2]), helped.gain,
                   (helped.gain_low or 0.0, helped.gain_high or np.inf))  # fmt: skip


def print_case(label: str, case: Campaign, runs: int = RUNS) -> None:
    """Bias of the difference of the first and the last system, coverage, false alarms of equal systems, and gains."""
    found = [outcome(case, number) for number in range(runs)]
    errors = [np.array([each.error[i] for each in found]) for i in (0, 1)]
    first_and_last = len(case.quality) - 2
    bias, moved = (each[:, first_and_last] for each in (errors[1], errors[1] - errors[0]))
    covered = [np.array([each.covered[i] for each in found]) for i in (0, 1)]
    equal = [outcome(replace(case, quality=(0.0,) * len(case.quality)), number) for number in range(runs)]
    alarms = [100 * np.mean([each.alarm[i] for each in equal]) for i in (0, 1)]
    plain, better = ((each**2).mean(axis=1) for each in errors)
    achieved = plain.mean() / better.mean()
    print(
        f"| {label} | "
        + " | ".join(f"{each.mean():+.2f} ± {each.std() / np.sqrt(runs):.2f}" for each in (bias, moved))
        + " | "
        + " | ".join(f"{100 * each.mean():.1f} ± {100 * each.std() / np.sqrt(runs):.1f}" for each in covered)
        + " | "
        + " | ".join(f"{alarm:.1f} ± {np.sqrt(alarm * (100 - alarm) / runs):.1f}" for alarm in alarms)
        + f" | {achieved:.2f} ± {jackknife(plain, better):.2f}"
        + f" | {np.mean([each.gain for each in found]):.2f}"
        + f" | {np.mean([each.gain > 1 for each in found]):.0%}"
        + f" | {np.mean([each.interval[0] <= achieved <= each.interval[1] for each in found]):.0%} |",
        flush=True,
    )


def jackknife(plain: Floats, better: Floats) -> float:
    """The standard error of the ratio of two means."""
    left_out = (plain.sum() - plain) / (better.sum() - better)
    return float(np.sqrt((len(plain) - 1) * left_out.var()))


CASES = {
    "good helper, 40 of 200 documents": Campaign(),
    "the same, model `mixed`": Campaign(model="mixed"),
    "useless helper": Campaign(helper="useless"),
    "loves one system": Campaign(helper="lover"),
    "loves one system, model `mixed`": Campaign(helper="lover", model="mixed"),
    "not linear": Campaign(helper="bent"),
    "prefers bad outputs of one system": Campaign(helper="contrary"),
    "three alike, five useless": Campaign(helper="several"),
    "every system on other documents": Campaign(apart=True),
    "one system without scores": Campaign(unscored=True),
    "4 annotators, tastes of 4": Campaign(annotators=4, taste_sd=4.0),
    "5 of 50 documents, 10 segments each": Campaign(documents=50, judged=5, length=10),
    "3 of 30 documents, 10 segments each": Campaign(documents=30, judged=3, length=10),
    "all of 40 documents": Campaign(documents=40, judged=40),
    "eight useless helpers, 5 of 50 documents": Campaign(helper="idle", documents=50, judged=5, length=10),
    "drawn with unequal probabilities": Campaign(chosen=True),
}


def print_simulated() -> None:
    """The first table of docs/helpers.md."""
    print(f"{RUNS} campaigns each, and as many with equal systems")
    print(
        "| campaign | bias | of which by helpers | covers, without | with helpers | any pair of equal systems, without "
        "| with helpers | gain | as printed | printed above 1 | its interval covers |"
    )
    for label, case in CASES.items():
        print_case(label, case)


def print_moves(label: str, runs: int = 500) -> None:
    """By how much helpers move the difference of every pair, in campaigns other than those of the table."""
    found = [outcome(CASES[label], 1000 + number) for number in range(runs)]
    moved = np.array([each.error[1] - each.error[0] for each in found])
    pairs = zip(moved.mean(axis=0), moved.std(axis=0) / np.sqrt(runs), strict=True)
    print(f"{label}, {runs} campaigns: moved by", ", ".join(f"{mean:+.2f} ± {error:.2f}" for mean, error in pairs))


@cache
def released(kind: str) -> tuple[Judgments, tuple[MetricScore, ...]] | None:
    """Human scores of all segments, and all metric scores; None where the data are missing."""
    folder = Path(os.environ.get("ADJUDGE_DATA", "../shared/data")) / "wmt23"
    human = folder / "human-scores" / f"en-de.{kind}.seg.score"
    if not human.exists():
        return None
    files = sorted((folder / "metric-scores" / "en-de").glob("*.seg.score"))
    return read([human], format="metric-scores"), tuple(read_metric_scores(files))


def replayed(
    judgments: Judgments, scores: Sequence[Sequence[MetricScore]], model: str, share: float, number: int
) -> tuple[list[float], list[float]]:
    """Mean squared errors of differences without helpers and with each set of them, and the gains as estimated."""
    truth = model_of(design_from(judgments, model=model)).fitted.effects
    documents = judgments.table["document"].unique().sort().to_list()
    drawn = generator(37, number).choice(documents, int(share * len(documents)), replace=False)
    part = Judgments(judgments.table.filter(pl.col("document").is_in(drawn.tolist())))
    design = design_from(part, model=model)
    helped = [help_design(design, match(part, design, each), seed=number, alone=False) for each in scores]
    upper = np.triu_indices(len(truth), 1)

    def error(effects: Floats) -> float:
        off = effects - truth
        return float(((off[:, None] - off[None, :])[upper] ** 2).mean())

    errors = [error(model_of(design).fitted.effects), *(error(each.fit.effects) for each in helped)]
    return errors, [each.gain for each in helped]


def print_replay(kind: str, model: str, share: float, runs: int = REPLAYS) -> None:
    """The second table of docs/helpers.md: what helpers are worth on released scores."""
    found = released(kind)
    if found is None:
        print(f"no replay of {kind}: the released scores are missing")
        return
    judgments, scores = found
    sets = {"all 13": list(scores), **{name: [score for score in scores if score.metric == name] for name in METRICS}}
    runs_of = [replayed(judgments, list(sets.values()), model, share, number) for number in range(runs)]
    errors, gains = np.array([each[0] for each in runs_of]), np.array([each[1] for each in runs_of])
    print(f"{kind}, {model}, {share:.0%} of the documents, {runs} draws: achieved (se), as estimated")
    for i, name in enumerate(sets):
        plain, better = errors[:, 0], errors[:, i + 1]
        achieved = plain.mean() / better.mean()
        print(f"| {name} | {achieved:.2f} ± {jackknife(plain, better):.2f} | {gains[:, i].mean():.2f} |", flush=True)


def run() -> None:
    print_simulated()
    for label in ("loves one system", "not linear"):
        print_moves(label)
    for kind in ("mqm", "da-sqm"):
        for model in ("mixed", "mixed-points"):
            print_replay(kind, model, 0.2)


if __name__ == "__main__":
    run()
