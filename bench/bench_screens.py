"""Contrastive screens, uneven work, systems over which people part: false alarms, coverage and widths, before and now.

Campaigns of equal systems are drawn with known standard deviations (strictness 7, tastes 2.5, documents 3, segments
3.5, a system in a document 3, pages 2.5, residual 10). `before` leaves out annotator:document and annotator:segment and
counts people by heads; in the cells of tastes it has one variance of tastes for all systems. There the first system
has its own; a bad one is 25 points worse, and the others meet the end of the scale, so that its own pairs have no truth
of 0 and are left out. "own": pairs with the first system; "parted": campaigns in which some system was parted. "any":
share of campaigns in which some pair is called different after Holm; "cover": 95% intervals of differences that hold
the truth; "half": their mean half-width; "rmse": of the differences.

    python -m bench.bench_screens [campaigns] [part of a cell's name] [file for the results]
    python -m bench.bench_screens 200 tastes bench/results/tastes.json
    python -m bench.bench_screens released bench/results/tastes.json    # adds decided pairs of the sets in ADJUDGE_DATA
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from adjudge.mixed import effects as effects_module
from adjudge.mixed import fit as fit_module
from adjudge.mixed.design import MODELS, MixedDesign, combine, design_from
from adjudge.mixed.effects import SCREENS, TASTE, Work
from adjudge.mixed.fit import MixedFit, fit, fit_parting, prepare
from adjudge.ranking.decisions import holm
from adjudge.table.judgments import renumber
from adjudge.table.maths import contrasts
from adjudge.table.rng import generator
from bench.bench_released import score_sets

Floats = NDArray[np.float64]
_STREAM = 83


@dataclass(frozen=True)
class Cell:
    """A kind of campaign."""

    systems: int = 12
    pages: int = 600
    segments: int = 4
    seen: int = 3
    """Systems on a screen, all of one document and by one person."""
    screen: float = 0.0
    """Standard deviation of what a screen shares."""
    taste: float = 2.5
    work: tuple[float, ...] = (1.0,) * 12
    """How much each person does."""
    own_taste: float | None = None
    """Standard deviation of tastes for the first system, if another."""
    worse: float = 0.0
    """By how many points the first system is worse than the others; scores then end at 100."""


CELLS = {
    **{f"screens of 3, sd {sd:g}": Cell(screen=sd) for sd in (0.0, 3.0, 5.0, 8.0)},
    "one system a screen": Cell(seen=1),
    "8 equal people": Cell(systems=5, pages=240, seen=1, work=(1.0,) * 8),
    "one of 8 does 60%": Cell(systems=5, pages=240, seen=1, work=(0.6, *(0.4 / 7,) * 7)),
    "one of 8 does 60%, taste 4": Cell(systems=5, pages=240, seen=1, work=(0.6, *(0.4 / 7,) * 7), taste=4.0),
    "one of 3 does 90%": Cell(systems=5, pages=240, seen=1, work=(0.9, 0.05, 0.05)),
    **{
        f"tastes, {people} people, {systems} systems, {kind}": Cell(
            systems=systems, pages=40 * systems, seen=1, work=(1.0,) * people, taste=taste, own_taste=own, worse=worse
        )
        for people in (5, 10, 20)
        for systems in (4, 8)
        for kind, taste, own, worse in (("equal", 2.5, 2.5, 0), ("polarising", 2.0, 6.0, 0), ("bad", 2.0, 6.0, 25))
    },
}


def draw(cell: Cell, rng: np.random.Generator) -> MixedDesign:
    """A campaign of equal systems."""
    people, screens = len(cell.work), cell.pages // cell.seen
    # Every system comes up equally often; every document is on about four screens.
    deck = np.concatenate([rng.permutation(cell.systems) for _ in range(2 + cell.pages // cell.systems)])
    shown = np.array([_distinct(deck, number * cell.seen, cell.seen) for number in range(screens)])
    of_screen = np.arange(screens) % max(screens // 4, 1)
    who = rng.choice(people, screens, p=np.array(cell.work) / sum(cell.work))
    page = np.repeat(np.arange(cell.pages), cell.segments)
    screen, system = page // cell.seen, shown.ravel()[page]
    document, person = of_screen[screen], who[screen]
    segment = document * cell.segments + np.tile(np.arange(cell.segments), cell.pages)
    score = 70 + rng.normal(0, 10, len(page))
    codes = (person, combine(person, system), document, segment, combine(system, document), page)
    tastes = np.where(system == 0, cell.taste if cell.own_taste is None else cell.own_taste, cell.taste)
    for of_row, sd in zip(codes, (7.0, tastes, 3.0, 3.5, 3.0, 2.5), strict=True):
        score += sd * rng.standard_normal(int(of_row.max()) + 1)[of_row]
    score += cell.screen * rng.standard_normal(screens)[screen]
    if cell.worse:
        score = np.clip(score + 15 - cell.worse * (system == 0), 0, 100)
    return MixedDesign(
        score=score,
        systems=tuple(f"s{number:02}" for number in range(cell.systems)),
        human=np.zeros(cell.systems, dtype=bool),
        system=system,
        annotator=renumber(person),
        task=None,
        document=document,
        segment=segment,
        page=page,
        row=np.arange(len(page)),
        annotator_system=combine(person, system),
        model=MODELS["mixed-points"],
    )


def _distinct(deck: NDArray[np.int64], start: int, count: int) -> NDArray[np.int64]:
    """The next so many different systems."""
    return np.array(list(dict.fromkeys(deck[start:].tolist()))[:count])


@contextmanager
def before(cell: Cell) -> Iterator[None]:
    """The model without the terms; in the cells of tastes with one variance of tastes for all systems alone."""
    if cell.own_taste is not None:
        with patch.object(fit_module, "_parted", lambda *_: None):
            yield
        return
    candidates = vars(effects_module)["_candidates"]

    def fewer(design: MixedDesign) -> list[tuple[str, NDArray[np.int64] | None]]:
        return [candidate for candidate in candidates(design) if candidate[0] not in SCREENS]

    with patch.object(effects_module, "_candidates", fewer), patch.object(Work, "share", lambda *_: 1.0):
        yield


def measure(model: MixedFit, cell: Cell) -> tuple[float, ...]:
    """Whether any pair is called different, the share of intervals that hold 0, their half-width, squared error.

    Where the first system has tastes of its own: the same shares and half-widths of its own pairs and of others, too,
    and whether a system was parted.
    """
    compared, upper = contrasts(model.effects, model.covariance, model.df), np.triu_indices(len(model.systems), 1)
    low, high = (side[upper] for side in compared.interval())
    different, held, half = holm(compared.two_sided[upper]) < 0.05, (low <= 0) & (high >= 0), (high - low) / 2
    own, squared = upper[0] == 0, compared.difference[upper] ** 2
    true = ~own if cell.worse else np.ones(len(own), dtype=bool)
    overall = float(different[true].any()), held[true].mean(), half[true].mean(), squared[true].mean()
    if cell.own_taste is None:
        return overall
    parted = any(component.effect.startswith(f"{TASTE} (") for component in model.components)
    of_own = (np.nan if cell.worse else held[own].mean(), half[own].mean())
    return (*overall, *of_own, held[~own].mean(), half[~own].mean(), float(parted))


def summary(rows: Floats) -> dict[str, float]:
    """Percentages with their Monte-Carlo standard errors."""
    count = len(rows)
    mean, error = rows.mean(axis=0), rows.std(axis=0) / np.sqrt(count)
    found = {
        "any": 100 * mean[0], "any_se": 100 * max(error[0], np.sqrt(0.05 * 0.95 / count) if mean[0] == 0 else 0.0),
        "cover": 100 * mean[1], "cover_se": 100 * error[1], "half": mean[2], "rmse": float(np.sqrt(mean[3])),
    }  # fmt: skip
    if len(mean) > 4:
        found |= {"own_cover": 100 * mean[4], "own_cover_se": 100 * error[4], "own_half": mean[5]}
        found |= {"other_cover": 100 * mean[6], "other_half": mean[7], "parted": 100 * mean[8]}
    return {name: float(value) for name, value in found.items() if not np.isnan(value)}


def main(campaigns: int = 200, part: str = "", file: str = "") -> None:
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name, cell in CELLS.items():
        if part not in name:
            continue
        rows: dict[str, list[tuple[float, ...]]] = {"before": [], "now": []}
        for number in range(campaigns):
            design = draw(cell, generator(_STREAM, number))
            rows["now"].append(measure(fit(design), cell))
            with before(cell):
                rows["before"].append(measure(fit(design), cell))
        results[name] = {which: summary(np.array(found)) for which, found in rows.items()}
        for which, found in results[name].items():
            rates = "".join(f"  {rate} {found[rate]:5.1f} ± {found[f'{rate}_se']:.1f}" for rate in ("any", "cover"))
            rates += f"  half {found['half']:6.3f}  rmse {found['rmse']:.3f}"
            rates += "".join(f"  {key} {value:.2f}" for key, value in list(found.items())[6:])
            print(f"{name:40}{which:8}{rates}", flush=True)
    if file:
        written = {"script": "bench/bench_screens.py", "campaigns": campaigns, "cells": results}
        Path(file).write_text(json.dumps(written, indent=1) + "\n")


def released(file: str) -> None:
    """Pairs told apart after Holm in released scores, by one variance of tastes and now, and the systems parted."""
    rows = []
    for name, judgments in score_sets():
        for model in ("mixed", "mixed-points"):
            design = design_from(judgments, model=model)
            prepared = prepare(design)
            parted, now = fit_parting(prepared)
            decided = [_told_apart(prepared.fit()), _told_apart(now)]
            rows.append({"set": name, "model": model, "decided": decided, "parted": list(parted.design.parted)})
            print(*rows[-1].values(), flush=True)
    Path(file).write_text(json.dumps({**json.loads(Path(file).read_text()), "released": rows}, indent=1) + "\n")


def _told_apart(model: MixedFit) -> int:
    compared = contrasts(model.effects, model.covariance, model.df)
    return int((holm(compared.two_sided[np.triu_indices(len(model.systems), 1)]) < 0.05).sum())


if __name__ == "__main__" and sys.argv[1:2] == ["released"]:
    released(sys.argv[2])
elif __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, *sys.argv[2:4])
