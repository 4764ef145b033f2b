"""Calibration items in the mixed model: what several annotators judged tells how strict each of them is.

They say nothing of the systems' quality, because someone chose them: in the equations their outputs are those of
further systems, one for each system shown, whose effects nobody asks for. Annotators and their tastes are the same as
elsewhere, so that two people who never judged the same system can still be compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.core.integer_codes import renumber
from adjudge.core.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.design import MixedDesign


FACTORS = ("annotator", "task", "document", "segment", "page", "annotator_system")
"""The codes of a design beside that of the system."""
OTHER_MIX = 0.2
"""Calibration items whose shares of systems differ from the rest by so much in sum are another mix."""


@dataclass(frozen=True, eq=False)
class Linking:
    """The scores of calibration items. Codes are those of the design; levels found here only follow its own."""

    score: Floats
    given: Floats
    systems: tuple[str, ...]
    system: Codes
    factors: Mapping[str, Codes | None]

    def __len__(self) -> int:
        return len(self.score)

    def part(self, kept: Bools, codes: Mapping[str, Codes | None], rows: Bools) -> Linking | None:
        """The kept items beside a part of the design: its codes before, and its rows that stay."""
        if not kept.any():
            return None
        shown, system = np.unique(self.system[kept], return_inverse=True)
        return Linking(
            score=self.score[kept],
            given=self.given[kept],
            systems=tuple(self.systems[i] for i in shown),
            system=system,
            factors={
                name: None if ranked is None or linked is None else _continued(ranked, rows, linked[kept])
                for (name, linked), ranked in zip(self.factors.items(), codes.values(), strict=True)
            },
        )

    def below(self, design: MixedDesign) -> MixedDesign:
        """One design of all rows, calibration items after the others."""
        codes: dict[str, Any] = {
            name: None if linked is None else np.append(getattr(design, name), linked)
            for name, linked in self.factors.items()
        }
        return replace(
            design,
            score=np.concatenate([design.score, self.score]),
            given=np.concatenate([design.as_given, self.given]),
            systems=(*design.systems, *(f"{name} (calibration)" for name in self.systems)),
            human=np.append(design.human, np.zeros(len(self.systems), dtype=bool)),
            system=np.append(design.system, self.system + len(design.systems)),
            row=np.append(design.row, np.full(len(self), -1)),
            linking=None,
            weight=None if design.weight is None else np.append(design.weight, np.ones(len(self))),
            **codes,
        )

    def notes(self, design: MixedDesign) -> tuple[str, ...]:
        """What is to be known of the link."""
        linked = counted(len(self), "score of calibration items links", "scores of calibration items link")
        used = f"{linked} the annotators; {agreeing(len(self), 'it counts', 'they count')} for no system"
        return used, *self._other_mix(design)

    def _other_mix(self, design: MixedDesign) -> tuple[str, ...]:
        names = tuple(dict.fromkeys((*design.systems, *self.systems)))
        others, calibration = np.zeros(len(names)), np.zeros(len(names))
        others[: len(design.systems)] = np.bincount(design.system) / len(design)
        for name, count in zip(self.systems, np.bincount(self.system), strict=True):
            calibration[names.index(name)] = count / len(self)
        if np.abs(others - calibration).sum() / 2 <= OTHER_MIX:
            return ()
        most = int(np.argmax(np.abs(others - calibration)))
        share = f"{names[most]}: {calibration[most]:.0%} of them, {others[most]:.0%} of the rest"
        what = f"the calibration items hold another mix of systems than the rest ({share})"
        return (f"{what}: a taste for those systems passes for strictness",)


def link(design: MixedDesign, rows: int) -> MixedDesign:
    """Set the rows after the first ones, calibration items, apart from a design that holds both."""
    if len(design) == rows:
        return design
    first = np.arange(len(design)) < rows
    ranked, system = np.unique(design.system[first], return_inverse=True)
    shown, linked_system = np.unique(design.system[~first], return_inverse=True)
    codes: dict[str, Codes | None] = {name: getattr(design, name) for name in FACTORS}
    codes["task"] = _one_task_each(codes["task"], codes["annotator"], first)
    linking = Linking(
        score=design.score[~first],
        given=design.as_given[~first],
        systems=tuple(design.systems[i] for i in shown),
        system=linked_system,
        factors={name: None if code is None else _continued(code, first, code[~first]) for name, code in codes.items()},
    )
    renumbered: dict[str, Any] = {name: None if code is None else renumber(code[first]) for name, code in codes.items()}
    return replace(
        design,
        score=design.score[first],
        given=design.as_given[first],
        systems=tuple(design.systems[i] for i in ranked),
        human=design.human[ranked],
        system=system,
        row=design.row[first],
        linking=linking,
        **renumbered,
    )


def _one_task_each(task: Codes | None, annotator: Codes | None, first: Bools) -> Codes | None:
    """Where each annotator has one task beside the calibration, the two are one: strictness is not the task's."""
    if task is None or annotator is None:
        return task
    only_task = np.full(int(annotator.max()) + 1, -1)
    only_task[annotator[first]] = task[first]
    return only_task[annotator] if (only_task[annotator[first]] == task[first]).all() else task


def linked_rows(design: MixedDesign, rows: Bools) -> Bools:
    """Which calibration items stay with a part of the rows: those of annotators who are still there."""
    linking = design.linking
    if linking is None or design.annotator is None or linking.factors["annotator"] is None:
        return np.zeros(0 if linking is None else len(linking), dtype=bool)
    return np.isin(linking.factors["annotator"], design.annotator[rows])


def _continued(codes: Codes, rows: Bools, linked: Codes) -> Codes:
    """Codes of calibration items, once those of the design are numbered anew; levels found here only come last."""
    left = codes[rows]
    renumbered = renumber(left)
    number = np.full(max(int(codes.max()), int(linked.max())) + 1, -1)
    number[left] = renumbered
    continued: Codes = number[linked]
    new = continued < 0
    continued[new] = renumber(linked[new]) + int(renumbered.max()) + 1
    return continued
