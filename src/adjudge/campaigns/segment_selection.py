"""Which segments are judged: those set apart for calibration, and the sample that the campaign asks for.

Segments can be chosen with known probabilities: the likelier, the more the systems' outputs of a segment differ. Where
outputs hardly differ, judgments tell systems apart slowly. But who judges the most different segments alone, and ranks
on these, overstates the differences between systems. Here every segment can be chosen, with a probability that is
known, and each chosen segment stands for 1 / probability segments: weighted so, differences are those of all segments.

    probability = n ((1 - EVEN) x / sum(x) + EVEN / N),   at most 1

for n of N segments, where x says how much the outputs differ. The even part keeps weights below 1 / EVEN of the mean.
The draw is systematic, in random order, so that every probability is exact and the number drawn is fixed (W. G. Madow
1949: On the theory of systematic sampling, II. Annals of Mathematical Statistics 20, 333-354).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adjudge.campaigns.campaign_file import PAGES
from adjudge.campaigns.rankings import consecutive_runs
from adjudge.table.errors import DataError, InputError, shown
from adjudge.table.files import read_text
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.campaigns.tasks import Material
    from adjudge.table.maths import Floats

EVEN = 0.2
"""The share of the draw that does not look at outputs."""
_LETTERS = 3
_DIGITS = 9


class Selected(NamedTuple):
    """Indices of segments in the order of the text, and for those of work the probabilities they were chosen with."""

    calibration: list[int]
    work: list[int]
    inclusion: dict[int, float]
    """Empty where all segments were as likely."""


def select_segments(material: Material, rng: np.random.Generator) -> Selected:
    """The segments for calibration and for work."""
    campaign = material.campaign
    indices = [i for i in range(len(material.testset)) if can_be_judged(material, i)]
    if not indices:
        raise DataError("all systems agree on every segment, so there is nothing to compare; check the outputs")
    groups = _group_segments(material, indices)
    shuffled = [groups[i] for i in rng.permutation(len(groups))]
    calibration, left_over = _take_groups(shuffled, campaign.controls.calibration)
    if not left_over:
        raise DataError(f"controls.calibration = {campaign.controls.calibration} leaves no segment to judge; lower it")
    limit = campaign.design.segments
    # Pages without the same documents for all are sampled system by system, later.
    if limit is None or campaign.design.structure == "pages":
        return Selected(sorted(calibration), sorted(index for group in left_over for index in group), {})
    if limit > (have := sum(map(len, left_over))):
        raise DataError(f"design.segments = {limit}, but only {counted(have, 'segment')} can be judged; lower it")
    if campaign.design.select is None:
        return Selected(sorted(calibration), sorted(_take_groups(left_over, limit)[0]), {})
    # About `limit` segments, the likelier the more their outputs differ.
    spread = measure_differences(material)
    means = [sum(spread[index] for index in group) / len(group) for group in left_over]
    probability = inclusion_probabilities(means, [len(group) for group in left_over], limit)
    drawn = draw_groups(probability, rng)
    chosen = {index: float(probability[number]) for number in drawn for index in left_over[number]}
    return Selected(sorted(calibration), sorted(chosen), chosen)


def can_be_judged(material: Material, index: int) -> bool:
    """Comparisons need at least two different outputs; scores need one."""
    return not PROTOCOLS[material.campaign.protocol].relative or len(material.outputs(index)) > 1


def _group_segments(material: Material, indices: Sequence[int]) -> list[list[int]]:
    """What is drawn together: documents, consecutive segments, or single segments."""
    campaign = material.campaign
    if campaign.design.structure in PAGES:
        wanted = set(indices)
        return [[index for index in span if index in wanted] for _, span in material.testset.documents()]
    if not PROTOCOLS[campaign.protocol].relative:
        return [[index] for index in indices]
    return consecutive_runs(material, indices, campaign.design.consecutive)


def _take_groups(groups: Sequence[list[int]], count: int) -> tuple[list[int], list[list[int]]]:
    """The first groups that fit into `count` segments (at least one group, where any is wanted), and the others."""
    taken: list[int] = []
    left_over: list[list[int]] = []
    for group in groups:
        if len(taken) + len(group) <= count:
            taken += group
        else:
            left_over.append(group)
    if count and not taken:
        smallest = min(left_over, key=len)
        return list(smallest), [group for group in left_over if group is not smallest]
    return taken, left_over


def measure_differences(material: Material) -> Floats:
    """How much the outputs of every segment differ: by the texts themselves, or as the campaign's file says."""
    path, count = material.campaign.files.spread, len(material.testset)
    if path is not None:
        return read_spread(path, count)
    texts = list(material.systems.values())
    return np.array([measure_difference([outputs[index] for outputs in texts]) for index in range(count)])


def read_spread(path: Path, count: int | None = None) -> Floats:
    """A number per segment, one on each line: how far a metric's scores of the outputs lie apart, for example."""
    lines = [line.strip() for line in read_text(path).splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if count is not None and len(lines) != count:
        there = f"there {agreeing(count, 'is', 'are')} {counted(count, 'segment')}"
        raise InputError(f"holds {counted(len(lines), 'number')} where {there}; give one per segment", file=path)
    values = []
    for number, line in enumerate(lines, start=1):
        try:
            value = float(line)
        except ValueError:
            value = float("nan")
        if not 0 <= value < float("inf"):
            raise InputError(f"'{shown(line)}' is no spread; a number of 0 or more is needed", file=path, line=number)
        values.append(value)
    return np.array(values)


def measure_difference(outputs: Sequence[str]) -> float:
    """The mean over all pairs of systems of 1 - Dice: the share of three-letter sequences that two outputs differ in.

    L. R. Dice (1945): Measures of the amount of ecologic association between species. Ecology 26, 297-302.
    """
    times = Counter(outputs)
    pairs = len(outputs) * (len(outputs) - 1) / 2
    if pairs == 0:
        return 0.0
    parts: dict[str, Counter[str]] = {}
    for text in times:
        padded = f" {text.strip()} "
        parts[text] = Counter(padded[i : i + _LETTERS] for i in range(max(len(padded) - _LETTERS + 1, 1)))
    total = sum(
        times[a] * times[b] * (1 - 2 * (parts[a] & parts[b]).total() / (parts[a].total() + parts[b].total()))
        for a, b in combinations(parts, 2)
    )
    return total / pairs


def inclusion_probabilities(spread: Sequence[float], lengths: Sequence[int], wanted: int) -> Floats:
    """The probability of every group of segments, so that `wanted` segments are expected.

    Args:
        spread: how much the outputs of each group differ, on average over its segments.
        lengths: segments of each group: 1, or those of a document.
        wanted: segments to be drawn.
    """
    x, length = np.asarray(spread, dtype=float), np.asarray(lengths, dtype=float)
    total = float(x @ length)
    if total <= 0:
        raise DataError("the outputs differ on no segment, so nothing can be chosen by it; leave out design.select")
    share = (1 - EVEN) * x / total + EVEN / length.sum()
    sure = np.zeros(len(x), dtype=bool)
    while True:
        left = wanted - length[sure].sum()
        probability = np.where(sure, 1.0, left * share / max(float(share[~sure] @ length[~sure]), 1e-300))
        beyond = ~sure & (probability >= 1)
        if not beyond.any():
            return np.asarray(np.round(probability, _DIGITS))
        sure |= beyond


def draw_groups(probability: Floats, rng: np.random.Generator) -> list[int]:
    """Draw groups, each with its own probability: every whole step along their sums, in random order."""
    if probability.sum() < 1:
        raise DataError("design.segments asks for less than one document; raise it, so that at least one is chosen")
    order = rng.permutation(len(probability))
    return draw_by_steps(probability, order.tolist(), float(rng.random()))


def draw_by_steps(probability: Floats, order: Sequence[int], start: float) -> list[int]:
    """Draw the groups in whose interval of the cumulated probabilities, shifted by `start`, a whole number lies."""
    ends = np.cumsum(probability[list(order)])
    before = np.floor(np.append(0.0, ends[:-1]) + 1 - start)
    drawn = np.flatnonzero(np.floor(ends + 1 - start) > before)
    return sorted(order[int(number)] for number in drawn)
