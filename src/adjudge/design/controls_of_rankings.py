"""Controls of rankings and pairs.

Ranking: a degraded copy or an unrelated text takes a place in a block beside the genuine output, so no judgment is
spent on it alone; a full block gives up the output whose system has been shown most. Pairs: a control is a pair of its
own, genuine against degraded, unrelated or reference. Repeats show a whole screen again in both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.protocols import PROTOCOLS
from adjudge.design.controls import ATTENTION, Amounts, choose_unrelated_text, degraded_text
from adjudge.design.drafts import DraftItem, DraftOutput, DraftScreen, Material, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np


@dataclass
class ComparedController:
    """Adds controls to one task after the other, and remembers whom it has checked and shown."""

    material: Material
    amounts: Amounts
    rng: np.random.Generator
    shown: Counter[str]
    checked: Counter[str] = field(default_factory=Counter)

    def add(self, runs: Sequence[Run], people: Sequence[str]) -> list[Run]:  # noqa: ARG002
        """The task with its controls."""
        repeats = self._repeats([screen for run in runs for screen in run])
        if PROTOCOLS[self.material.campaign.protocol].in_pairs:
            return [*runs, *self._control_pairs(runs, repeats), *((screen,) for screen in repeats)]
        busy = {screen.copy_of for screen in repeats}
        return [*self._with_slots(runs, busy), *((screen,) for screen in repeats)]

    def _repeats(self, screens: Sequence[DraftScreen]) -> list[DraftScreen]:
        if self.amounts.repeats > len(screens):
            raise _too_few_error("repeat", self.amounts.repeats, len(screens))
        chosen = self.rng.permutation(len(screens))[: self.amounts.repeats]
        return [self._repeated_screen(screens[i]) for i in chosen]

    def _repeated_screen(self, screen: DraftScreen) -> DraftScreen:
        items = [
            DraftItem(item.index, tuple(_repeat(output, screen.key, number) for output in item.outputs))
            for number, item in enumerate(screen.items)
        ]
        return self.material.screen(items, copy_of=screen.key)

    def _with_slots(self, runs: Sequence[Run], busy: set[int | None]) -> list[Run]:
        """Blocks with a degraded or unrelated output in one position."""
        screens = {screen.key: screen for run in runs for screen in run}
        free = [key for key in screens if key not in busy]
        free = [free[i] for i in self.rng.permutation(len(free))]
        # Blocks that have room lose nothing by a control.
        free.sort(key=lambda key: len(screens[key].items[0].outputs))
        for kind, count in (("degraded", self.amounts.degraded), (ATTENTION, self.amounts.attention)):
            left = count
            for key in list(free):
                if left and (changed := self._slot(screens[key], kind)) is not None:
                    screens[key] = changed
                    free.remove(key)
                    left -= 1
            if left:
                raise _too_few_error(kind, count, count - left)
        return [tuple(screens[screen.key] for screen in run) for run in runs]

    def _slot(self, screen: DraftScreen, kind: str) -> DraftScreen | None:
        """The block with one control, or None where none can be made."""
        item = screen.items[0]
        outputs = list(item.outputs)
        if len(outputs) >= self.material.campaign.design.outputs:
            spare = [output for output in outputs if output.kind == "system"]
            if len(spare) < 2:
                return None
            dropped = max(spare, key=lambda output: max(self.shown[system] for system in output.systems))
            outputs.remove(dropped)
        else:
            dropped = None
        control = self._degraded(screen, outputs) if kind == "degraded" else self._unrelated(item.index, len(outputs))
        if control is None:
            return None
        if dropped is not None:
            self.shown.subtract(dropped.systems)
        return replace(screen, items=(DraftItem(item.index, (*outputs, control)),))

    def _degraded(self, screen: DraftScreen, outputs: Sequence[DraftOutput]) -> DraftOutput | None:
        """A degraded copy of the output whose systems were checked least."""
        index = screen.items[0].index
        genuine = [output for output in outputs if output.kind == "system"]
        for output in sorted(genuine, key=lambda output: min(self.checked[system] for system in output.systems)):
            text = degraded_text(self.material, index, output.text, self.rng)
            if text is not None:
                self.checked.update(output.systems)
                return DraftOutput(output.systems, text, "degraded", (screen.key, 0, output.systems))
        return None

    def _unrelated(self, index: int, others: int) -> DraftOutput:
        """A text of another segment; it must not come first."""
        text = choose_unrelated_text(self.material, index, self.rng)
        return DraftOutput((ATTENTION,), text, ATTENTION, expected=(2, others + 1))

    def _control_pairs(self, runs: Sequence[Run], repeats: Sequence[DraftScreen]) -> list[Run]:
        """Pairs of a genuine output, already judged in another pair of the task, with something known about it."""
        busy = {screen.copy_of for screen in repeats}
        screens = [screen for run in runs for screen in run if screen.key not in busy]
        screens = [screens[i] for i in self.rng.permutation(len(screens))]
        plan: list[tuple[str, int, Callable[[DraftScreen, DraftOutput], DraftOutput | None]]] = [
            ("degraded", self.amounts.degraded, lambda screen, output: self._degraded(screen, [output])),
            (ATTENTION, self.amounts.attention, lambda screen, _: self._unrelated(screen.items[0].index, 1)),
            ("reference", self.amounts.references, self._reference),
        ]
        runs_added: list[Run] = []
        for kind, count, make in plan:
            pairs: list[Run] = []
            while len(pairs) < count and screens:
                pairs += self._control_pair(screens.pop(0), make)
            if len(pairs) < count:
                raise _too_few_error(kind, count, len(pairs))
            runs_added += pairs
        return runs_added

    def _control_pair(
        self, screen: DraftScreen, make: Callable[[DraftScreen, DraftOutput], DraftOutput | None]
    ) -> list[Run]:
        """One pair, with the output of the screen that was checked least; none where it cannot be made."""
        item = screen.items[0]
        genuine = min(item.outputs, key=lambda output: min(self.checked[system] for system in output.systems))
        control = make(screen, genuine)
        if control is None:
            return []
        pair = DraftItem(item.index, (_repeat(genuine, screen.key, 0), control))
        return [(self.material.screen([pair], copy_of=screen.key),)]

    def _reference(self, screen: DraftScreen, genuine: DraftOutput) -> DraftOutput | None:
        references = self.material.testset.references
        if not references:
            raise DataError("controls.references are wanted, but there is no reference; name one in files.references")
        name = min(references)
        text = references[name][screen.items[0].index]
        return None if text == genuine.text else DraftOutput((name,), text, "reference")


def _repeat(output: DraftOutput, key: int, number: int) -> DraftOutput:
    return replace(output, kind="repeat", of=(key, number, output.systems))


def _too_few_error(kind: str, wanted: int, possible: int) -> DataError:
    return DataError(
        f"a task has too few screens for its controls: {wanted} of kind '{kind}' are wanted, {possible} could be made; "
        "lower the controls or raise design.task_size"
    )
