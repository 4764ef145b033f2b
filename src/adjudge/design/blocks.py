"""Which outputs are compared on which segment: blocks chosen by an optimiser, for rankings and for pairs.

The objective, to be made small: the sum over pairs of systems of (times met)^2 plus the sum over systems of
(times shown)^2, both of which are least when all are equal. Blocks are filled one by one with the output that adds
least; then outputs are exchanged against others of their segment while the objective falls, and after that also where
it stays the same, which leads out of dead ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.design.drafts import DraftOutput

PASSES = 4
# Exchanges that gain nothing by themselves: so many are tried in all, and so many per block in vain.
SIDEWAYS = 3_000
IN_VAIN = 8
_SMALL = 1e-9


class Blocks:
    """Blocks under construction: for each, which outputs of its segment it shows.

    Args:
        candidates: per block, the distinct outputs of its segment.
        fixed: per block, outputs that it must show besides (the reference), which count as met.
        sizes: per block, how many outputs it may show in all.
        siblings: per block, a number that blocks of one segment share, so that they show different outputs if possible.
    """

    def __init__(
        self,
        candidates: Sequence[Sequence[DraftOutput]],
        *,
        fixed: Sequence[Sequence[DraftOutput]],
        sizes: Sequence[int],
        siblings: Sequence[int],
    ) -> None:
        outputs = [output for group in (*candidates, *fixed) for output in group]
        self.code = {name: i for i, name in enumerate(sorted({s for output in outputs for s in output.systems}))}
        # Per block, one row per candidate with a 1 for every system that made it.
        self.makers = [self._rows(group) for group in candidates]
        self.fixed = [self._rows(group).sum(axis=0) for group in fixed]
        self.room = [size - len(group) for size, group in zip(sizes, fixed, strict=True)]
        self.siblings = siblings
        self.chosen: list[list[int]] = [[] for _ in candidates]
        self.shown = np.zeros(len(self.code))
        self.met = np.zeros((len(self.code), len(self.code)))
        self.used: dict[int, set[int]] = {}

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
        self._wander(rng)
        return [sorted(outputs) for outputs in self.chosen]

    def _wander(self, rng: np.random.Generator) -> None:
        """Exchange without loss until all is even, or nothing has been gained for long."""
        best, vain = np.inf, 0
        for _ in range(SIDEWAYS):
            now = float((self.met**2).sum() / 2 + (self.shown**2).sum())
            vain = 0 if now < best - _SMALL else vain + 1
            best = min(best, now)
            if vain > IN_VAIN * len(self.makers) or self._is_even():
                break
            self._exchange(int(rng.integers(len(self.makers))), rng, sideways=True)

    def _is_even(self) -> bool:
        pairs = self.met[np.triu_indices(len(self.code), 1)]
        return bool(np.ptp(self.shown) <= 1 and (len(pairs) == 0 or np.ptp(pairs) <= 1))

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
        # The company that stays when one of the chosen leaves; a row per leaving output.
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
