"""Relative ranking and pairs: blocks of outputs of one segment, consecutive segments together, balanced meetings.

A pair is a block of two. The reference is shown in as many blocks as its own rate says, and counts as a system when
meetings are balanced. (The task of the workshops from 2010 to 2016: five outputs, three consecutive segments.)
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.design.blocks import Blocks
from adjudge.design.drafts import DraftItem, DraftOutput, DraftScreen, Material, Run
from adjudge.design.spread import Unit, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np


def make_ranking(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of blocks; consecutive segments of a document stand together."""
    design = material.campaign.design
    runs = consecutive_runs(material, indices, min(design.consecutive, capacity))
    blocks = [(run, index) for run in range(len(runs) * design.screens_per_segment) for index in runs[run % len(runs)]]
    screens = _screens(material, [index for _, index in blocks], rng)
    grouped: dict[int, list[DraftScreen]] = {}
    for (run, _), screen in zip(blocks, screens, strict=True):
        grouped.setdefault(run, []).append(screen)
    units = [_unit(material, group) for group in grouped.values()]
    made = [tuple(group) for group in grouped.values()]
    return [[made[i] for i in group] for group in spread(units, capacity=capacity, rng=rng)]


def consecutive_runs(material: Material, indices: Sequence[int], length: int) -> list[list[int]]:
    """The segments in runs of at most this length, none across the border of a document or a gap."""
    runs: list[list[int]] = []
    source = material.testset.source
    for index in sorted(indices):
        last = runs[-1] if runs else []
        follows = bool(last) and last[-1] == index - 1 and source[last[-1]].document == source[index].document
        if follows and len(last) < length:
            last.append(index)
        else:
            runs.append([index])
    return runs


def _screens(material: Material, indices: Sequence[int], rng: np.random.Generator) -> list[DraftScreen]:
    """One block per index."""
    size = 2 if material.campaign.protocol == "pairwise" else material.campaign.design.outputs
    candidates = [material.outputs(index) for index in indices]
    fixed = _references(material, indices, candidates, rng)
    alone = [i for i, outputs in enumerate(candidates) if len(outputs) + len(fixed[i]) > 1]
    if not alone:
        raise DataError("all systems agree on every segment, so there is nothing to compare; check the outputs")
    chosen = Blocks(candidates, fixed=fixed, sizes=[size] * len(indices), siblings=indices).choose(rng)
    return [
        material.screen([DraftItem(index, (*(candidates[i][candidate] for candidate in chosen[i]), *fixed[i]))])
        for i, index in enumerate(indices)
    ]


def _references(
    material: Material, indices: Sequence[int], candidates: Sequence[Sequence[DraftOutput]], rng: np.random.Generator
) -> list[tuple[DraftOutput, ...]]:
    """The reference for as many blocks as its rate says, evenly over the text, references in turn.

    Where a system's output is the reference itself, showing both would compare a text with itself: no reference there.
    """
    rate, references = material.campaign.design.reference_rate, material.testset.references
    if not rate:
        return [()] * len(indices)
    if not references:
        raise DataError("design.reference_rate is set, but there is no reference; name one under files.references")
    names = sorted(references)
    start, given = float(rng.random()), 0
    fixed: list[tuple[DraftOutput, ...]] = []
    for i, index in enumerate(indices):
        due = int((i + 1) * rate + start) - given
        name = names[given % len(names)]
        text = references[name][index]
        if due >= 1 and all(output.text != text for output in candidates[i]):
            fixed.append((DraftOutput((name,), text, "reference"),))
            given += 1
        else:
            fixed.append(())
    return fixed


def _unit(material: Material, screens: Sequence[DraftScreen]) -> Unit:
    counts = Counter(
        system for screen in screens for system in material.judged_as(screen.items[0].index, screen.systems)
    )
    return Unit(len(screens), dict(counts), str(screens[0].items[0].index))
