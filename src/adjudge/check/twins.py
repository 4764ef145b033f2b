"""Twins: stretches of items on which two annotators' answers are the same, or each other's mirror.

Answers copied from somebody else, or a file whose columns were read the wrong way round, show as a long run of items
on which all preferences agree (or all are reversed). Items on which both see only ties fit either. A run is reported
when chance, at the rate with which single items agree (or mirror) among all pairs of annotators, hardly explains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.checked import Twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments

FEWEST_ITEMS = 8
SURPRISING = 1e-4
# However rarely items mirror each other elsewhere, this rate is allowed for, so that few data do not cry wolf.
LEAST_RATE = 0.1


@dataclass(frozen=True, eq=False)
class _Shared:
    """The items that two annotators share, in order; per item whether answers fit each pattern, and how many."""

    annotators: tuple[str, str]
    items: list[str]
    copied: NDArray[np.bool_]
    mirrored: NDArray[np.bool_]
    decided: NDArray[np.int64]
    """Preferences of either annotator that are no tie."""
    preferences: NDArray[np.int64]


def find_twins(judgments: Judgments) -> tuple[Twins, ...]:
    """The runs that chance does not explain, the least likely first. Needs several systems judged per item."""
    shared = list(_shared_items(judgments))
    found: list[Twins] = []
    for kind in ("copied", "mirrored"):
        fits = [getattr(one, kind)[one.decided > 0] for one in shared]
        everywhere = np.concatenate(fits) if fits else np.empty(0, dtype=bool)
        for one, own in zip(shared, fits, strict=True):
            # The rate among the others: a pair that copied throughout must not excuse itself.
            others = len(everywhere) - len(own)
            rate = (everywhere.sum() - own.sum()) / others if others >= FEWEST_ITEMS else 0.0
            twins = _longest_run(one, kind, max(float(rate), LEAST_RATE))
            if twins is not None:
                found.append(twins)
    return tuple(sorted(found, key=lambda one: one.p))


def _shared_items(judgments: Judgments) -> Iterator[_Shared]:
    """Every two annotators who judged at least some items both."""
    by_annotator = _answers(judgments)
    for a, b in combinations(sorted(by_annotator), 2):
        common = [item for item in by_annotator[a] if item in by_annotator[b]]
        if len(common) < FEWEST_ITEMS:
            continue
        pairs = [_preferences(by_annotator[a][item], by_annotator[b][item]) for item in common]
        yield _Shared(
            (a, b),
            common,
            np.array([bool(len(x)) and np.array_equal(x, y) for x, y in pairs]),
            np.array([bool(len(x)) and np.array_equal(x, -y) for x, y in pairs]),
            np.array([int((x != 0).sum() + (y != 0).sum()) for x, y in pairs]),
            np.array([len(x) for x, _ in pairs]),
        )


def _answers(judgments: Judgments) -> dict[str, dict[str, dict[str, float]]]:
    """How good each system was said to be, by annotator and item (the first showing counts)."""
    good = pl.coalesce(pl.col("score"), -pl.col("rank").cast(pl.Float64))
    table = (
        judgments.final()
        .table.with_columns(good=good)
        .filter(
            pl.col("good").is_not_null()
            & pl.col("annotator").is_not_null()
            & pl.col("kind").is_in(["system", "reference"])
        )
    )
    name = pl.concat_str(
        [pl.col("document").fill_null(""), pl.col("segment").fill_null("")], separator=" "
    ).str.strip_chars()
    answers: dict[str, dict[str, dict[str, float]]] = {}
    for annotator, item, system, value in table.select("annotator", name.alias("item"), "system", "good").iter_rows():
        answers.setdefault(annotator, {}).setdefault(item, {}).setdefault(system, value)
    return answers


def _preferences(a: dict[str, float], b: dict[str, float]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    systems = sorted(set(a) & set(b))
    pairs = list(combinations(systems, 2))
    first = np.array([np.sign(a[x] - a[y]) for x, y in pairs], dtype=np.int64)
    second = np.array([np.sign(b[x] - b[y]) for x, y in pairs], dtype=np.int64)
    return first, second


def _longest_run(shared: _Shared, kind: str, rate: float) -> Twins | None:
    fits = getattr(shared, kind)
    start, best = 0, (0, 0)
    for place, fit in enumerate([*fits, False]):
        if not fit:
            if place - start > best[1] - best[0]:
                best = (start, place)
            start = place + 1
    run = slice(*best)
    informative = int((shared.decided[run] > 0).sum())
    p = min(1.0, len(fits) * rate**informative)
    if informative < FEWEST_ITEMS or p > SURPRISING:
        return None
    return Twins(
        annotators=shared.annotators,
        kind=kind,
        first=shared.items[best[0]],
        last=shared.items[best[1] - 1],
        items=best[1] - best[0],
        preferences=int(shared.preferences[run].sum()),
        p=p,
    )
