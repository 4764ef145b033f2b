"""The verdict on two campaigns in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.compare import Flip, FlipCount, ScoreCorrelation

LEVEL = 0.05


def verdict_on(names: tuple[str, str], scores: ScoreCorrelation, flips: Sequence[Flip], count: FlipCount) -> str:
    """Whether the two give the same order of systems, and how far what differs is more than chance."""
    both = " and ".join(names)
    certain = [flip for flip in flips if flip.certain]
    if certain:
        pair = f"{certain[0].better} and {certain[0].worse}"
        more = f" and {len(certain) - 1} more" if len(certain) > 1 else ""
        contradict = f"{both} contradict each other by more than chance on {len(certain)} of {count.pairs} pairs"
        return f"{contradict}: {pair}{more}{_r(scores)}."
    if not flips:
        return f"{both} put the {scores.n} systems into the same order{_r(scores)}."
    flipped = f"{len(flips)} of {count.pairs} pairs of systems flip"
    if count.p is None:
        return f"Between {both} {flipped}, and nothing is known of chance{_r(scores)}."
    if count.p < LEVEL:
        return f"Between {both} {flipped}, more than chance explains, though no single pair is certain{_r(scores)}."
    return f"Between {both} {flipped}, which is no more than chance explains{_r(scores)}."


def agreement_on(names: tuple[str, str], scores: ScoreCorrelation, count: FlipCount, unit: str) -> str:
    """How well the two agree on documents or segments."""
    share = 1 - count.flips / max(count.pairs, 1)
    return f"{' and '.join(names)} agree on {100 * share:.0f}% of all pairs of {unit}{_r(scores)}."


def _r(scores: ScoreCorrelation) -> str:
    if np.isnan(scores.pearson):
        return ""
    if scores.interval is None:
        return f" (r = {scores.pearson:.3f})"
    low, high = scores.interval
    return f" (r = {scores.pearson:.3f}, 95% interval {low:.3f} to {high:.3f})"
