"""Two campaigns side by side: correlation of scores and orders, pairs that flip, agreement, the verdict in a sentence.

Intervals come from the resampled scores of both campaigns: Pearson's and Spearman's r by Fisher's z, Kendall's tau as
it is, each plus or minus 1.96 standard deviations over the resamples.

A pair of systems flips where the two campaigns order it differently. It flips by more than chance where each campaign
finds its own order with confidence: the p of a flip is the larger of the two one-sided p-values, which is the test of
Gail and Simon for a qualitative interaction of two groups (1985, Biometrics 41, 361-372). Holm corrects it for all
pairs. How many flips chance alone would bring is simulated: both campaigns get the mean of their standardised scores as
the truth, drawn together to the spread that its errors leave, and each its own resampled errors. The mean itself has
errors, so that systems lie further apart in it than they truly do, and too few pairs would flip.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import NORMAL_95, kendall, pearson, spearman
from adjudge.evidence.verdict import say_same_order, show_correlation
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.results.compare import Flip, FlipCount, ItemAgreement, ScoreCorrelation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.compare.campaign import Campaign
    from adjudge.compare.single_judgments import Preference
    from adjudge.core.arrays import Floats

    Coefficient = Callable[[Floats, Floats], float]

FEWEST_FOR_R = 3
LEVEL = 0.05


def score_correlation(first: Campaign, second: Campaign, systems: Sequence[str]) -> ScoreCorrelation:
    """Correlate the scores of two campaigns over the systems that both have."""
    x, y = (np.array([campaign.scores[name] for name in systems]) for campaign in (first, second))
    if len(systems) < FEWEST_FOR_R:
        return ScoreCorrelation(len(systems), float("nan"), float("nan"), float("nan"), None)
    drawn = [_resampled(campaign, systems) for campaign in (first, second)]
    coefficients: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    values = {name: coefficient(x, y) for name, coefficient in coefficients.items()}
    # A correlation of 1 has no finite z; it is replaced by the value halfway to the next lower one that ranks allow.
    limits = {"pearson": 0.9999, "spearman": 1 - 6 / (len(systems) * (len(systems) ** 2 - 1)), "kendall": None}
    intervals = [
        _interval(values[name], coefficient, drawn[0], drawn[1], limit=limits[name])
        for name, coefficient in coefficients.items()
    ]
    return ScoreCorrelation(len(systems), values["pearson"], values["spearman"], values["kendall"], *intervals)


def _resampled(campaign: Campaign, systems: Sequence[str]) -> Floats | None:
    """(resamples, systems), or None where nothing can be drawn again."""
    return np.stack([campaign.resampled[name] for name in systems], axis=1) if campaign.resampled else None


def _interval(
    value: float, coefficient: Coefficient, first: Floats | None, second: Floats | None, *, limit: float | None
) -> tuple[float, float] | None:
    """The spread over resamples, by Fisher's z where a limit is given: correlations beyond it count as the limit."""
    if first is None or second is None or np.isnan(value):
        return None
    known = np.isfinite(first).all(1) & np.isfinite(second).all(1)
    drawn = np.array([coefficient(x, y) for x, y in zip(first[known], second[known], strict=True)])
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < 20:
        return None
    if limit is None:
        reach = NORMAL_95 * drawn.std(ddof=1)
        return (max(-1.0, float(value - reach)), min(1.0, float(value + reach)))
    z, middle = np.arctanh(np.clip(drawn, -limit, limit)), np.arctanh(np.clip(value, -limit, limit))
    reach = NORMAL_95 * z.std(ddof=1)
    return (float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))


def flips(first: Campaign, second: Campaign, systems: Sequence[str]) -> tuple[Flip, ...]:
    """Every pair that the second campaign orders otherwise than the first, the most certain first."""
    pairs = _ordered_pairs(first, systems)
    flipped = [second.scores[better] < second.scores[worse] for better, worse in pairs]
    p = [_flip_p(first, second, pair) if flip else 1.0 for pair, flip in zip(pairs, flipped, strict=True)]
    corrected = holm(np.array([1.0 if value is None else value for value in p]))
    reversed_pairs = [
        Flip(better, worse, value, None if value is None else float(p_holm))
        for (better, worse), flip, value, p_holm in zip(pairs, flipped, p, corrected, strict=True)
        if flip
    ]
    return tuple(sorted(reversed_pairs, key=lambda flip: (2.0 if flip.p is None else flip.p, flip.better, flip.worse)))


def _ordered_pairs(first: Campaign, systems: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of systems that the first campaign does not tie, the better first."""
    order = sorted(systems, key=lambda name: (-first.scores[name], name))
    return [(a, b) for a, b in combinations(order, 2) if first.scores[a] > first.scores[b]]


def _flip_p(first: Campaign, second: Campaign, pair: tuple[str, str]) -> float | None:
    forth, back = first.p_better.get(pair), second.p_better.get(pair[::-1])
    return None if forth is None or back is None else max(forth, back)


def flip_count(first: Campaign, second: Campaign, systems: Sequence[str], number: int) -> FlipCount:
    """Count the pairs that flip, and simulate how many would if both campaigns measured the same truth."""
    pairs = len(systems) * (len(systems) - 1) // 2
    drawn = [_resampled(campaign, systems) for campaign in (first, second)]
    if len(systems) < FEWEST_FOR_R or drawn[0] is None or drawn[1] is None:
        return FlipCount(number, pairs, None, None)
    standard = [
        _standardised(campaign, resampled, systems) for campaign, resampled in ((first, drawn[0]), (second, drawn[1]))
    ]
    truth = _without_noise((standard[0][0] + standard[1][0]) / 2, (standard[0][1] + standard[1][1]) / 2)
    upper = np.triu_indices(len(systems), 1)
    signs = [np.sign((truth + error)[:, upper[0]] - (truth + error)[:, upper[1]]) for _, error in standard]
    simulated = (signs[0] * signs[1] < 0).sum(1)
    return FlipCount(
        number, pairs, float(simulated.mean()), float((1 + (simulated >= number).sum()) / (1 + len(simulated)))
    )


def _standardised(campaign: Campaign, drawn: Floats, systems: Sequence[str]) -> tuple[Floats, Floats]:
    """The scores of a campaign with mean 0 and standard deviation 1, and its resampled errors in the same unit."""
    scores = np.array([campaign.scores[name] for name in systems])
    spread = float(scores.std()) or 1.0
    return (scores - scores.mean()) / spread, np.nan_to_num((drawn - np.nanmean(drawn, axis=0)) / spread)


def _without_noise(mean: Floats, errors: Floats) -> Floats:
    """The mean (systems,) drawn together to the spread that is left without its errors (resamples, systems)."""
    spread, noise = float(mean.var()), float(errors.var(axis=1).mean())
    drawn: Floats = mean * np.sqrt(max(0.0, 1 - noise / spread)) if spread > 0 else mean
    return drawn


def item_agreement(first: Campaign, second: Campaign, systems: Sequence[str]) -> ItemAgreement | None:
    """Measure agreement on single translations that both judged; None if they share none.

    Where one of them is relative, on which of two translations of a segment is preferred, and by how much.
    """
    if first.preferences or second.preferences:
        return _preference_agreement(first, second, set(systems))
    shared = [item for item in first.items if item in second.items and item[2] in set(systems)]
    if len(shared) < FEWEST_FOR_R:
        return None
    x, y = (np.array([campaign.items[item] for item in shared]) for campaign in (first, second))
    return ItemAgreement(len(shared), pearson(x, y), kendall(x, y))


def _preference_agreement(first: Campaign, second: Campaign, systems: set[str]) -> ItemAgreement | None:
    one, other = (campaign.preferences or _preferences_of_scores(campaign, systems) for campaign in (first, second))
    shared = [item for item in one if item in other and item[2] in systems and item[3] in systems]
    if len(shared) < FEWEST_FOR_R:
        return None
    x, y = (np.array([preferences[item] for item in shared]) for preferences in (one, other))
    decided = (x != 0) & (y != 0)
    same = float((np.sign(x) == np.sign(y))[decided].mean()) if decided.any() else None
    # Each preference counts in both directions, so that the order of names does not matter.
    both_x, both_y = np.append(x, -x), np.append(y, -y)
    return ItemAgreement(
        len(shared), pearson(both_x, both_y), kendall(both_x, both_y), "preferences", int(decided.sum()), same
    )


def _preferences_of_scores(campaign: Campaign, systems: set[str]) -> dict[Preference, float]:
    """Differences of scores of two systems on one segment."""
    by_segment: dict[tuple[str | None, str | None], dict[str, float]] = {}
    for (document, segment, system), score in campaign.items.items():
        if system in systems:
            by_segment.setdefault((document, segment), {})[system] = score
    return {
        (*key, a, b): scores[a] - scores[b]
        for key, scores in by_segment.items()
        for a, b in combinations(sorted(scores), 2)
    }


def verdict_on(names: tuple[str, str], scores: ScoreCorrelation, flips: Sequence[Flip], count: FlipCount) -> str:
    """Whether the two give the same order of systems, and how far what differs is more than chance."""
    return say_same_order(
        names,
        [(flip.better, flip.worse) for flip in flips if flip.certain],
        flips=len(flips),
        pairs=count.pairs,
        systems=scores.n,
        more_than_chance=None if count.p is None else count.p < LEVEL,
        r=show_correlation(scores.pearson, scores.interval),
    )
