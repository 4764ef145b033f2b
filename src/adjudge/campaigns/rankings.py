"""Relative ranking and pairs: blocks of outputs of one segment, consecutive segments together, balanced meetings.

A pair is a block of two. The reference is shown in as many blocks as its own rate says, and counts as a system when
meetings are balanced. (The task of the workshops from 2010 to 2016: five outputs, three consecutive segments.)

Which outputs a block shows is chosen by an optimiser. The objective, to be made small: the sum over pairs of systems of
(times met)^2 plus the sum over systems of (times shown)^2, both of which are least when all are equal. Blocks are
filled one by one with the output that adds least; then outputs are exchanged against others of their segment while the
objective falls, and after that also where it stays the same, which leads out of dead ends.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from adjudge.campaigns.allocation import Unit, spread_units
from adjudge.campaigns.tasks import DraftItem, DraftOutput, DraftScreen, Material, Run
from adjudge.table.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

PASSES = 4
# Exchanges that gain nothing by themselves lead out of dead ends: how many are tried in all, and how many per block
# without any gain.
SIDEWAYS = 3_000
IN_VAIN = 8
# Exchanges between the blocks of one segment: rounds at most, and pairs of blocks tried in each.
SWAP_PASSES = 6
MOST_SWAPS = 4_000
_SMALL = 1e-9


def make_ranking(
    material: Material, indices: Sequence[int], *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of blocks; consecutive segments of a document stand together."""
    design = material.campaign.design
    runs = consecutive_runs(material, indices, min(design.consecutive, capacity))
    return make_blocks(material, runs * (design.screens_per_segment or 1), capacity=capacity, rng=rng)


def make_blocks(
    material: Material,
    runs: Sequence[Sequence[int]],
    *,
    capacity: int,
    rng: np.random.Generator,
    before: Mapping[tuple[str, str], float] | None = None,
) -> list[list[Run]]:
    """Tasks of one block per segment of each run.

    `before` says how often two systems have met in earlier tasks; of a system with itself, how often it was shown.
    """
    screens = iter(_make_screens(material, [index for run in runs for index in run], rng, before or {}))
    grouped = [tuple(islice(screens, len(run))) for run in runs]
    units: list[Unit] = []
    for group in grouped:
        shown = (material.judged_as(screen.items[0].index, screen.systems) for screen in group)
        counts = Counter(system for systems in shown for system in systems)
        units.append(Unit(len(group), dict(counts), str(group[0].items[0].index)))
    return [[grouped[i] for i in task] for task in spread_units(units, capacity=capacity, rng=rng)]


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


def _make_screens(
    material: Material, indices: Sequence[int], rng: np.random.Generator, before: Mapping[tuple[str, str], float]
) -> list[DraftScreen]:
    """One block per index."""
    candidates = [material.outputs(index) for index in indices]
    fixed = _choose_references(material, indices, candidates, rng)
    alone = [i for i, outputs in enumerate(candidates) if len(outputs) + len(fixed[i]) > 1]
    if not alone:
        raise DataError("all systems agree on every segment, so there is nothing to compare; check the outputs")
    sizes = [material.campaign.outputs_beside(len(material.testset.source[index].text)) for index in indices]
    blocks = Blocks(candidates, fixed=fixed, sizes=sizes, siblings=indices)
    blocks.remember(before)
    chosen = blocks.choose(rng)
    return [
        material.screen([DraftItem(index, (*(candidates[i][candidate] for candidate in chosen[i]), *fixed[i]))])
        for i, index in enumerate(indices)
    ]


def _choose_references(
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
        name = names[given % len(names)]
        text = references[name][index]
        due = int((i + 1) * rate + start) > given and all(output.text != text for output in candidates[i])
        fixed.append((DraftOutput((name,), text, "reference"),) if due else ())
        given += due
    return fixed


class Blocks:
    """Blocks under construction: for each, which outputs of its segment it shows.

    Args:
        candidates: per block, the distinct outputs of its segment.
        fixed: per block, outputs that it must show besides (the reference), which count as met.
        sizes: per block, how many outputs it may show in all.
        siblings: per block, a number that blocks of one segment share, so that they show different outputs if possible.
        scored: whether blocks of one segment also exchange outputs with each other, which matters where they show all.
    """

    def __init__(
        self,
        candidates: Sequence[Sequence[DraftOutput]],
        *,
        fixed: Sequence[Sequence[DraftOutput]],
        sizes: Sequence[int],
        siblings: Sequence[int],
        scored: bool = False,
    ) -> None:
        outputs = [output for group in (*candidates, *fixed) for output in group]
        self.code = {name: i for i, name in enumerate(sorted({s for output in outputs for s in output.systems}))}
        # Per block, one row per candidate with a 1 for every system that made it.
        self.makers = [self._rows(group) for group in candidates]
        self.fixed = [self._rows(group).sum(axis=0) for group in fixed]
        self.room = [size - len(group) for size, group in zip(sizes, fixed, strict=True)]
        self.siblings = siblings
        self.scored = scored
        self.chosen: list[list[int]] = [[] for _ in candidates]
        self.shown = np.zeros(len(self.code))
        self.met = np.zeros((len(self.code), len(self.code)))
        self.used: dict[int, set[int]] = {}

    def remember(self, before: Mapping[tuple[str, str], float]) -> None:
        """Count meetings of earlier tasks as well, so that systems that met least meet first."""
        for (first, second), times in before.items():
            if first in self.code and second in self.code:
                a, b = self.code[first], self.code[second]
                if a == b:
                    self.shown[a] += times
                else:
                    self.met[[a, b], [b, a]] += times

    def _rows(self, outputs: Sequence[DraftOutput]) -> NDArray[np.float64]:
        rows = np.zeros((len(outputs), len(self.code)))
        for i, output in enumerate(outputs):
            rows[i, [self.code[system] for system in output.systems]] = 1
        return rows

    def choose(self, rng: np.random.Generator) -> list[list[int]]:
        """Per block, the places of the outputs chosen among its candidates."""
        for block in rng.permutation(len(self.makers)):
            self._fill(int(block), rng)
        for _ in range(PASSES):
            improved = [self._exchange(int(block), rng) for block in rng.permutation(len(self.makers))]
            if not any(improved):
                break
        self._exchange_sideways(rng)
        if self.scored:
            self._swap_siblings(rng)
        return [sorted(outputs) for outputs in self.chosen]

    def _exchange_sideways(self, rng: np.random.Generator) -> None:
        """Exchange without loss until all is even, or nothing has been gained for long."""
        best, vain = np.inf, 0
        for _ in range(SIDEWAYS):
            now = float((self.met**2).sum() / 2 + (self.shown**2).sum())
            vain = 0 if now < best - _SMALL else vain + 1
            best = min(best, now)
            pairs = self.met[np.triu_indices(len(self.code), 1)]
            even = np.ptp(self.shown) <= 1 and (len(pairs) == 0 or np.ptp(pairs) <= 1)
            if even or vain > IN_VAIN * len(self.makers):
                break
            self._exchange(int(rng.integers(len(self.makers))), rng, sideways=True)

    def _swap_siblings(self, rng: np.random.Generator) -> None:
        """Exchange outputs between two blocks of one segment while the objective falls."""
        families: dict[int, list[int]] = {}
        for block, family in enumerate(self.siblings):
            families.setdefault(family, []).append(block)
        pairs = [pair for blocks in families.values() for pair in combinations(blocks, 2)]
        for _ in range(SWAP_PASSES):
            swapped = [self._swap(*pairs[i]) for i in rng.permutation(len(pairs))[:MOST_SWAPS]]
            if not any(swapped):
                break

    def _swap(self, first: int, second: int) -> bool:
        """Make the exchange of two outputs between two blocks that lowers the sum of squared meetings most."""
        best, least = None, -_SMALL
        ours, theirs = self._company(first), self._company(second)
        for going in self.chosen[first]:
            for coming in self.chosen[second]:
                if going in self.chosen[second] or coming in self.chosen[first]:
                    continue
                a, b = self.makers[first][going], self.makers[second][coming]
                # Meetings change by d r' + r d': what comes in place of what goes, beside who stays here, not there.
                d, r = b - a, (ours - a) - (theirs - b)
                change = 2 * d @ self.met @ r + (d @ d) * (r @ r)
                if change < least:
                    best, least = (going, coming), float(change)
        if best is None:
            return False
        self._change(first, best[0], -1)
        self._change(second, best[1], -1)
        self._change(first, best[1], 1)
        self._change(second, best[0], 1)
        return True

    def _fill(self, block: int, rng: np.random.Generator) -> None:
        used = self.used.setdefault(self.siblings[block], set())
        self.shown += self.fixed[block]
        count = len(self.makers[block])
        while len(self.chosen[block]) < min(self.room[block], count):
            open_ones = [i for i in range(count) if i not in self.chosen[block]]
            fresh = [i for i in open_ones if i not in used] or open_ones
            price = 2 * self.shown + 1 + (2 * self.met + 1) @ self._company(block)
            costs = self.makers[block][fresh] @ price
            best = np.flatnonzero(costs <= costs.min() + _SMALL)
            self._change(block, fresh[int(best[rng.integers(len(best))])], 1)
        used.update(self.chosen[block])

    def _company(self, block: int) -> NDArray[np.float64]:
        """The systems that a block shows, as a row of ones and zeros."""
        shown: NDArray[np.float64] = self.makers[block][self.chosen[block]].sum(axis=0) + self.fixed[block]
        return shown

    def _change(self, block: int, output: int, sign: int) -> None:
        """Show an output (sign 1), or no longer (-1)."""
        maker = self.makers[block][output]
        if sign < 0:
            self.chosen[block].remove(output)
        meeting = sign * np.outer(maker, self._company(block))
        self.met += meeting + meeting.T
        self.shown += sign * maker
        if sign > 0:
            self.chosen[block].append(output)

    def _exchange(self, block: int, rng: np.random.Generator, *, sideways: bool = False) -> bool:
        """Exchange one output of the block against another of its segment, where that lowers the objective most."""
        taken = self.used[self.siblings[block]] | set(self.chosen[block])
        spare = [i for i in range(len(self.makers[block])) if i not in taken]
        chosen = self.chosen[block]
        if not spare or not chosen:
            return False
        outgoing = self.makers[block][chosen]
        # The outputs that remain when one of the chosen is taken out; a row per output taken out.
        staying = self._company(block) - outgoing
        price = (2 * self.shown + 1)[:, None] + (2 * self.met + 1) @ staying.T
        saved = ((2 * self.shown - 1)[:, None] + (2 * self.met - 1) @ staying.T).T
        gain = self.makers[block][spare] @ price - (outgoing * saved).sum(axis=1)
        least = float(gain.min())
        if least > (_SMALL if sideways else -_SMALL):
            return False
        ties = np.argwhere(gain <= least + _SMALL)
        come, leave = ties[int(rng.integers(len(ties)))]
        old, new = chosen[int(leave)], spare[int(come)]
        self._change(block, old, -1)
        self._change(block, new, 1)
        used = self.used[self.siblings[block]]
        used.discard(old)
        used.add(new)
        return True
