"""Contrastive screens, people who do most of the work: false alarms, coverage and widths with and without the terms.

Campaigns of equal systems are drawn with known standard deviations (strictness 7, tastes 2.5, documents 3, segments
3.5, a system in a document 3, pages 2.5, residual 10). `before` leaves out annotator:document and annotator:segment and
counts people by heads. "any": share of campaigns in which some pair is called different after Holm; "cover": 95%
intervals of differences that hold the truth; "half": their mean half-width; "rmse": of the differences.

    python -m bench.bench_screens [campaigns] [part of a cell's name] [file for the results]
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
from adjudge.mixed.design import MODELS, MixedDesign, combine
from adjudge.mixed.effects import SCREENS, Work
from adjudge.mixed.fit import MixedFit, fit
from adjudge.ranking.lines import holm
from adjudge.table.judgments import renumber
from adjudge.table.maths import contrasts
from adjudge.table.rng import generator

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


CELLS = {
    **{f"screens of 3, sd {sd:g}": Cell(screen=sd) for sd in (0.0, 3.0, 5.0, 8.0)},
    "one system a screen": Cell(seen=1),
    "8 equal people": Cell(systems=5, pages=240, seen=1, work=(1.0,) * 8),
    "one of 8 does 60%": Cell(systems=5, pages=240, seen=1, work=(0.6, *(0.4 / 7,) * 7)),
    "one of 8 does 60%, taste 4": Cell(systems=5, pages=240, seen=1, work=(0.6, *(0.4 / 7,) * 7), taste=4.0),
    "one of 3 does 90%": Cell(systems=5, pages=240, seen=1, work=(0.9, 0.05, 0.05)),
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
    for of_row, sd in zip(codes, (7.0, cell.taste, 3.0, 3.5, 3.0, 2.5), strict=True):
        score += sd * rng.standard_normal(int(of_row.max()) + 1)[of_row]
    score += cell.screen * rng.standard_normal(screens)[screen]
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
def before() -> Iterator[None]:
    """The model without the terms."""
    candidates = vars(effects_module)["_candidates"]

    def fewer(design: MixedDesign) -> list[tuple[str, NDArray[np.int64] | None]]:
        return [candidate for candidate in candidates(design) if candidate[0] not in SCREENS]

    with patch.object(effects_module, "_candidates", fewer), patch.object(Work, "share", lambda *_: 1.0):
        yield


def measure(model: MixedFit) -> tuple[float, float, float, float]:
    """Whether any pair is called different, the share of intervals that hold 0, their half-width, squared error."""
    compared, upper = contrasts(model.effects, model.covariance, model.df), np.triu_indices(len(model.systems), 1)
    low, high = (side[upper] for side in compared.interval())
    called = bool((holm(compared.two_sided[upper]) < 0.05).any())
    held = ((low <= 0) & (high >= 0)).mean()
    return float(called), float(held), float((high - low).mean() / 2), float((compared.difference[upper] ** 2).mean())


def summary(rows: Floats) -> dict[str, float]:
    """Percentages with their Monte-Carlo standard errors."""
    count = len(rows)
    mean, error = rows.mean(axis=0), rows.std(axis=0) / np.sqrt(count)
    return {
        "any": 100 * mean[0], "any_se": 100 * max(error[0], np.sqrt(0.05 * 0.95 / count) if mean[0] == 0 else 0.0),
        "cover": 100 * mean[1], "cover_se": 100 * error[1], "half": mean[2], "rmse": float(np.sqrt(mean[3])),
    }  # fmt: skip


def main(campaigns: int = 200, part: str = "", file: str = "") -> None:
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name, cell in CELLS.items():
        if part not in name:
            continue
        rows: dict[str, list[tuple[float, ...]]] = {"before": [], "now": []}
        for number in range(campaigns):
            design = draw(cell, generator(_STREAM, number))
            rows["now"].append(measure(fit(design)))
            with before():
                rows["before"].append(measure(fit(design)))
        results[name] = {which: summary(np.array(found)) for which, found in rows.items()}
        for which, found in results[name].items():
            rates = "".join(f"  {rate} {found[rate]:5.1f} ± {found[f'{rate}_se']:.1f}" for rate in ("any", "cover"))
            print(f"{name:28}{which:8}{rates}  half {found['half']:6.3f}  rmse {found['rmse']:.3f}", flush=True)
    if file:
        written = {"script": "bench/bench_screens.py", "campaigns": campaigns, "cells": results}
        Path(file).write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, *sys.argv[2:4])
