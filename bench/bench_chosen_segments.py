"""Segments chosen by probability and weighted: are differences unbiased, do intervals hold, and what is gained?

    python -m bench chosen_segments
    CHOSEN_RUNS=400 python -m bench chosen_segments

Simulated campaigns: systems differ the more, and vary the more, the larger the spread of a document; documents are
drawn by that spread. Released scores (ADJUDGE_DATA/wmt23): of all segments some are drawn, evenly or by the spread of a
metric's scores, and the differences of systems on these are compared with those on all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adjudge.campaigns.segment_selection import draw_groups, inclusion_probabilities
from adjudge.mixed.design import MODELS, MixedDesign, combine
from adjudge.mixed.fit import fit
from adjudge.table.judgments import renumber
from adjudge.table.maths import contrasts
from adjudge.table.participants import is_human
from adjudge.table.rng import generator

Floats = NDArray[np.float64]
RUNS = int(os.environ.get("CHOSEN_RUNS", "200"))
DRAWS = 2000
METRICS = ("chrF-refA", "COMET-refA", "MetricX-23-QE-b-src", "GEMBA-MQM-src")


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A campaign on some of the documents. `draw` is `even`, `probability` or `largest`."""

    draw: str = "probability"
    weighted: bool = True
    model: str = "mixed-points"
    documents: int = 200
    wanted: int = 40
    annotators: int = 8
    page: int = 4
    quality: tuple[float, ...] = (0.0, 2.0, 4.0, 6.0)
    taste_sd: float = 2.0


def drawn_documents(case: Chosen, spread: Floats, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """The documents that are judged, and their weights."""
    if case.draw == "probability":
        probability = inclusion_probabilities(spread.tolist(), [case.page] * case.documents, case.wanted * case.page)
        chosen = np.array(draw_groups(probability, rng))
        return chosen, 1 / probability[chosen]
    order = np.argsort(-spread) if case.draw == "largest" else rng.permutation(case.documents)
    return order[: case.wanted], np.ones(case.wanted)


def draw_design(case: Chosen, rng: np.random.Generator) -> MixedDesign:
    """The table of the mixed model of one simulated campaign."""
    systems, people = len(case.quality), case.annotators
    spread = rng.lognormal(0, 0.7, case.documents)
    telling = spread / np.exp(0.7**2 / 2)
    chosen, weight = drawn_documents(case, spread, rng)
    document = np.repeat(chosen, systems)
    system = np.tile(np.arange(systems), len(chosen))
    annotator = rng.integers(people, size=len(document))
    strictness, taste = rng.normal(0, 6, people), rng.normal(0, case.taste_sd, (people, systems))
    page = 70 + np.array(case.quality)[system] * telling[document] + strictness[annotator] + taste[annotator, system]
    page += rng.normal(0, 4, case.documents)[document] + rng.normal(0, 6, len(page)) * telling[document]
    page += rng.normal(0, 5, len(page))
    each = np.repeat(np.arange(len(page)), case.page)
    segment = document[each] * case.page + np.tile(np.arange(case.page), len(page))
    given = page[each] + rng.normal(0, 6, case.documents * case.page)[segment] + rng.normal(0, 13.5, len(each))
    model = MODELS[case.model]
    share = np.repeat(weight, systems)[each]
    return MixedDesign(
        score=model.fitted_scores(given), given=given, model=model,
        systems=tuple(map(str, range(systems))), human=np.zeros(systems, dtype=bool),
        system=system[each], annotator=renumber(annotator[each]), task=None, document=renumber(document[each]),
        segment=renumber(segment), page=each, row=np.arange(len(each)),
        annotator_system=combine(annotator[each], system[each]),
        weight=share / share.mean() if case.weighted and np.ptp(share) > 0 else None,
    )  # fmt: skip


def print_case(label: str, case: Chosen) -> None:
    """Mean difference of the best and the worst system, its spread beside its standard error, and coverage."""
    quality = np.array(case.quality)
    true, upper = quality[:, None] - quality[None, :], np.triu_indices(len(quality), 1)
    differences, errors, covered = [], [], []
    for number in range(RUNS):
        model = fit(draw_design(case, generator(23, number)))
        compared = contrasts(model.effects, model.covariance, model.df)
        low, high = compared.interval()
        differences.append(compared.difference[-1, 0])
        errors.append(compared.se[-1, 0] ** 2)
        covered.append(((low <= true) & (true <= high))[upper].mean())
    spread = float(np.std(differences))
    print(
        f"  {label:44s} {np.mean(differences):6.2f} ({spread / np.sqrt(RUNS):.2f})   {spread:5.2f} "
        f"{np.sqrt(np.mean(errors)):5.2f}   {np.mean(covered):.3f} ({np.std(covered) / np.sqrt(RUNS):.3f})",
        flush=True,
    )


def print_simulated() -> None:
    """The table of docs/rank.md."""
    print(f"{RUNS} campaigns each: difference (se), of 6; its sd and mean standard error; coverage (se)")
    print_case("drawn evenly", Chosen(draw="even"))
    print_case("by probability, weighted", Chosen())
    print_case("the same, model 'mixed'", Chosen(model="mixed"))
    print_case("by probability, not weighted", Chosen(weighted=False))
    print_case("the most different", Chosen(draw="largest"))
    print_case("weighted, 20 of 100 documents", Chosen(documents=100, wanted=20))
    print_case("weighted, 100 of 500, 20 annotators", Chosen(documents=500, wanted=100, annotators=20))
    print_case("weighted, 4 annotators, tastes of 4", Chosen(annotators=4, taste_sd=4.0))
    print_case("weighted, equal systems", Chosen(quality=(0.0, 0.0, 0.0, 0.0)))


def read_columns(path: Path) -> dict[str, Floats]:
    """Lines of system and score, segment after segment."""
    rows: dict[str, list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, _, value = line.partition("\t")
        rows.setdefault(system, []).append(float("nan") if value == "None" else float(value))
    return {system: np.array(values) for system, values in rows.items()}


def print_replay(kind: str) -> None:
    """How far differences of systems on a fifth of the segments are from those on all, by each draw."""
    folder = Path(os.environ.get("ADJUDGE_DATA", "../shared/data")) / "wmt23"
    path = folder / "human-scores" / f"en-de.{kind}.seg.score"
    if not path.exists():
        print(f"no replay: {path} is missing")
        return
    human = {name: score for name, score in read_columns(path).items() if not is_human(name)}
    human = {name: score for name, score in human.items() if not np.isnan(score).all()}
    names = tuple(human)
    table = np.array([human[name] for name in names])
    whole = ~np.isnan(table).any(axis=0)
    table = table[:, whole]
    count = table.shape[1]
    wanted = count // 5
    print(
        f"{kind}: {len(names)} systems, {wanted} of {count} segments; error of differences (rms over pairs and draws),"
    )
    print("  as judgments that an even draw would take, and slope of these differences on those of all segments")
    print_draws("even", table, np.ones(count), wanted, largest=False)
    for metric in METRICS:
        scores = read_columns(folder / "metric-scores" / "en-de" / f"{metric}.seg.score")
        spread = np.array([scores[name] for name in names])[:, whole].std(axis=0)
        print_draws(metric, table, spread, wanted, largest=False)
        print_draws(f"{metric}, most different", table, spread, wanted, largest=True)


def print_draws(label: str, table: Floats, spread: Floats, wanted: int, *, largest: bool) -> None:
    """One line: the error of weighted differences."""
    count = table.shape[1]
    probability = inclusion_probabilities(spread.tolist(), [1] * count, wanted)
    first, second = np.triu_indices(len(table), 1)
    true = (table[first] - table[second]).mean(axis=1)
    estimates = []
    for number in range(1 if largest else DRAWS):
        if largest:
            chosen, weight = np.argsort(-spread)[:wanted], np.ones(wanted)
        else:
            chosen = np.array(draw_groups(probability, generator(29, number)))
            weight = 1 / probability[chosen]
        means = table[:, chosen] @ (weight / weight.sum())
        estimates.append(means[first] - means[second])
    error = float(np.sqrt(np.mean((np.array(estimates) - true) ** 2)))
    random = float(np.sqrt(np.mean((table[first] - table[second]).var(axis=1)) * (1 / wanted - 1 / count)))
    slope = float(np.mean(estimates, axis=0) @ true / (true @ true))
    print(f"  {label:36s} {error:.3f}   {(random / error) ** 2:.2f}   {slope:.2f}", flush=True)


def run() -> None:
    """Print all tables."""
    for kind in ("mqm", "da-sqm"):
        print_replay(kind)
    print_simulated()
