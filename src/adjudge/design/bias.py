"""What the design alone adds to the difference of two systems.

A z-score subtracts the mean of a task (or of an annotator). If tasks hold different systems, that mean depends on the
systems beside which one is judged, its company. With N[t, s] judgments of system s in task t, the company of s is row

    C[s, r] = sum over t of  N[t, s] / N[., s]  *  N[t, r] / N[t, .]

and the difference of systems s and r moves by (C[s] - C[r]) m, m being the true means. If true means have the standard
deviation S, this movement has the standard deviation S |C[s] - C[r]|: exact, so nothing needs to be simulated. The same
form says what uneven texts and uneven leniency add, with shares of segments, documents and annotators instead of C.

The reason for these numbers: Knowles (2021), On the stability of system rankings at WMT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import divide
from adjudge.core.protocols import PROTOCOLS
from adjudge.design.result import DesignBias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.design.counts import Counts
    from adjudge.design.tasks import TaskSet

# Standard deviations on a scale of 100 points, of the size found in released judgments: of the systems of a language
# pair, and of the components of a mixed model.
SYSTEMS, DOCUMENTS, SEGMENTS, ANNOTATORS = 5.0, 2.0, 6.0, 11.0

SPREAD = "spread of systems"


def mean_company(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row s: the mean composition of the rows of `table` in which system s (a column) is judged."""
    rows = divide(table, table.sum(axis=1, keepdims=True), otherwise=0.0)
    mixed: NDArray[np.float64] = shares(table).T @ rows
    return mixed


def shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """How each system's judgments (a column) are spread over the rows; columns sum to 1."""
    return divide(table, table.sum(axis=0, keepdims=True), otherwise=0.0)


def opponents(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row s: how the opponents of system s on its screens differ from all others in equal parts; rows sum to 0."""
    present = (table > 0).astype(float)
    met = present.T @ present
    np.fill_diagonal(met, 0)
    even = (1 - np.eye(len(met))) / max(len(met) - 1, 1)
    mix = divide(met, met.sum(axis=1, keepdims=True), otherwise=0.0)
    return np.where(met.any(axis=1, keepdims=True), mix - even, 0)


def distances(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euclidean distance of every two rows."""
    distances: NDArray[np.float64] = np.sqrt(((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2))
    return distances


def measure_bias(counts: Counts, tasks: TaskSet, *, points: float = 100.0) -> tuple[DesignBias, ...]:
    """All sources of bias; `points` is the length of the scale."""
    judged = counts.columns(tasks.systems)
    names = [counts.names[i] for i in judged]
    if len(names) < 2:
        return ()
    if PROTOCOLS[tasks.protocol].relative:
        mix = distances(opponents(counts.by_screen[:, judged]))
        return (_make_bias("opponents (win ratios)", "systems", mix, spread=1.0, unit=SPREAD, names=names),)
    # Without a scale there are no points: everything is said in terms of how much systems differ.
    on_scale = PROTOCOLS[tasks.protocol].on_scale
    unit, scale = (f"points of {points:g}", points / 100) if on_scale else (SPREAD, 1 / SYSTEMS)
    of_tasks, of_people = distances(mean_company(counts.by_task)), distances(mean_company(counts.by_person))
    documents, segments = distances(shares(counts.by_document).T), distances(shares(counts.by_segment).T)
    texts = np.hypot(segments, documents * DOCUMENTS / SEGMENTS)
    leniency = distances(shares(counts.by_person).T)
    sources = (
        ("company in tasks (z-score by task)", "systems", of_tasks, SYSTEMS),
        ("company by annotator (z-score by annotator)", "systems", of_people, SYSTEMS),
        ("different texts", "segments", texts, SEGMENTS),
        ("leniency of annotators (raw scores)", "annotators", leniency, ANNOTATORS),
    )
    return tuple(
        _make_bias(source, varies, distance[np.ix_(judged, judged)], spread=spread * scale, unit=unit, names=names)
        for source, varies, distance, spread in sources
    )


def _make_bias(
    source: str, varies: str, distance: NDArray[np.float64], *, spread: float, unit: str, names: Sequence[str]
) -> DesignBias:
    first, second = np.triu_indices(len(names), 1)
    moved = spread * distance[first, second]
    # Differences of rounding size are none.
    moved[moved < 1e-12] = 0
    worst = int(np.argmax(moved))
    pair = (names[first[worst]], names[second[worst]]) if moved[worst] > 0 else None
    return DesignBias(source, varies, spread, unit, float(np.sqrt((moved**2).mean())), float(moved[worst]), pair)
