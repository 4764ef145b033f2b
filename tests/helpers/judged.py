"""Simulated campaigns with a machine judge: people with tastes, scales and pages of their own, and a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.table.judgments import Judgments
from adjudge.table.participants import set_judges_apart

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Who = Literal["peer", "random", "constant", "skewed"]
NOISE = 13.5


def campaign(
    rng: np.random.Generator,
    *,
    who: Who = "peer",
    people: int = 5,
    documents: int = 30,
    segments: int = 4,
    systems: int = 5,
    careless: int = 0,
    judge_noise: float = NOISE,
    change: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> Judgments:
    """Scores of people and of `judge:model` on the same outputs; the variances are those of real campaigns.

    Standard deviations: annotator 6, document 4, segment 6, system and document 7, output 6, page 5, noise 13.5; people
    use scales that differ by a fifth, and have tastes for systems. `change` alters the judge's scores by
    (document, segment, system).
    """
    shape = (documents, segments, systems)
    truth = (
        rng.normal(0, 4, systems)
        + rng.normal(0, 4, (documents, 1, 1))
        + rng.normal(0, 6, (documents, segments, 1))
        + rng.normal(0, 7, (documents, 1, systems))
        + rng.normal(0, 6, shape)
    )
    names = [*(f"p{number}" for number in range(people)), "judge:model"]
    frames = []
    for number, name in enumerate(names):
        machine = name.startswith("judge:")
        noise = rng.normal(0, judge_noise if machine else NOISE, shape)
        seen = truth + rng.normal(0, 3, systems) + rng.normal(0, 5, (documents, 1, systems)) + noise
        score = 70 + rng.normal(0, 6) + np.exp(rng.normal(0, 0.2)) * seen
        if number < careless or (machine and who == "random"):
            score = rng.uniform(0, 100, shape)
        if machine and who == "constant":
            score = np.full(shape, 70.0)
        if machine and who == "skewed":
            score = 100 - rng.exponential(3, shape) ** 2
        if machine and change is not None:
            score = change(score)
        frames.append(_frame(name, np.clip(np.round(score), 0, 100)))
    return set_judges_apart(Judgments.from_columns(pl.concat(frames)))


def _frame(annotator: str, score: NDArray[np.float64]) -> pl.DataFrame:
    document, segment, system = (index.ravel() for index in np.indices(score.shape))
    return pl.DataFrame(
        {
            "annotator": annotator,
            "document": [f"d{number}" for number in document],
            "segment": [f"d{first}-{second}" for first, second in zip(document, segment, strict=True)],
            "system": [f"s{number}" for number in system],
            "protocol": "da",
            "score": score.ravel(),
        }
    )
