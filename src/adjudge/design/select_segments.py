"""Which segments are judged: those set apart for calibration, and the sample that the campaign asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from adjudge.core.errors import DataError
from adjudge.core.protocols import PROTOCOLS
from adjudge.design.campaign import PAGES
from adjudge.design.inclusion import draw_groups, inclusion_probabilities, sizes
from adjudge.design.ranking import consecutive_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from adjudge.design.drafts import Material


class Selected(NamedTuple):
    """Indices of segments in the order of the text, and for those of work the probabilities they were chosen with."""

    calibration: list[int]
    work: list[int]
    inclusion: dict[int, float]
    """Empty where all segments were as likely."""


def select_segments(material: Material, rng: np.random.Generator) -> Selected:
    """The segments for calibration and for work."""
    campaign = material.campaign
    indices = [i for i in range(len(material.testset)) if _can_be_judged(material, i)]
    if not indices:
        raise DataError("all systems agree on every segment, so there is nothing to compare; check the outputs")
    groups = _groups(material, indices)
    shuffled = [groups[i] for i in rng.permutation(len(groups))]
    calibration, rest = _take(shuffled, campaign.controls.calibration)
    if not rest:
        raise DataError(f"controls.calibration = {campaign.controls.calibration} leaves no segment to judge; lower it")
    limit = campaign.design.segments
    # Pages without the same documents for all are sampled system by system, later.
    if limit is None or campaign.design.structure == "pages":
        return Selected(sorted(calibration), sorted(index for group in rest for index in group), {})
    if limit > sum(map(len, rest)):
        have = sum(map(len, rest))
        raise DataError(f"design.segments = {limit}, but only {have} segments can be judged; lower it")
    if campaign.design.select is not None:
        return Selected(sorted(calibration), *_chosen(material, rest, limit, rng))
    return Selected(sorted(calibration), sorted(_take(rest, limit)[0]), {})


def _chosen(
    material: Material, groups: Sequence[list[int]], limit: int, rng: np.random.Generator
) -> tuple[list[int], dict[int, float]]:
    """About `limit` segments, the likelier the more their outputs differ."""
    spread = sizes(material)
    means = [sum(spread[index] for index in group) / len(group) for group in groups]
    probability = inclusion_probabilities(means, [len(group) for group in groups], limit)
    drawn = draw_groups(probability, rng)
    chosen = {index: float(probability[number]) for number in drawn for index in groups[number]}
    return sorted(chosen), chosen


def _can_be_judged(material: Material, index: int) -> bool:
    """Comparisons need at least two different outputs; scores need one."""
    return not PROTOCOLS[material.campaign.protocol].relative or len(material.outputs(index)) > 1


def _groups(material: Material, indices: Sequence[int]) -> list[list[int]]:
    """What is drawn together: documents, consecutive segments, or single segments."""
    campaign = material.campaign
    if campaign.design.structure in PAGES:
        wanted = set(indices)
        return [[index for index in span if index in wanted] for _, span in material.testset.documents()]
    if not PROTOCOLS[campaign.protocol].relative:
        return [[index] for index in indices]
    return consecutive_runs(material, indices, campaign.design.consecutive)


def _take(groups: Sequence[list[int]], count: int) -> tuple[list[int], list[list[int]]]:
    """The first groups that fit into `count` segments (at least one group, where any is wanted), and the others."""
    taken: list[int] = []
    rest: list[list[int]] = []
    for group in groups:
        if len(taken) + len(group) <= count:
            taken += group
        else:
            rest.append(group)
    if count and not taken:
        smallest = min(rest, key=len)
        return list(smallest), [group for group in rest if group is not smallest]
    return taken, rest
