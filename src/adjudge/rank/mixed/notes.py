"""What must be said with a fit: for whom it holds, on whom it rests, and what its errors leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.mixed.degrees import outputs_unnamed, unknown_outputs
from adjudge.rank.mixed.design import levels_of
from adjudge.rank.mixed.rows import COPIES
from adjudge.rank.relative_notes import one_judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.effects import Effects

FEW_ANNOTATORS = 2
"""Up to so many people, nothing can be said of what others would say."""


def notes_on(design: MixedDesign, effects: Effects, *, converged: bool) -> tuple[str, ...]:
    """Everything that is to be said, people first."""
    notes = [*_notes_on_people(design), *_notes_on_systems(design), *_notes_on_outputs(design)]
    notes += [
        f"{effect.effect}: {effect.reason}; the errors do not include it"
        for effect in effects.left_out
        if effect.cause.confounded
    ]
    if design.linking is not None:
        notes += design.linking.notes(design)
    if not converged:
        notes.append("the search for the variances did not converge: read standard errors with caution")
    return tuple(notes)


def _notes_on_systems(design: MixedDesign) -> Iterator[str]:
    """Say which systems one of several annotators alone judged."""
    if design.annotator is None:
        return
    seen = np.zeros((levels_of(design.annotator), len(design.systems)), dtype=bool)
    seen[design.annotator, design.system] = True
    # Annotators that stand for scores without a name are numbered after the others.
    yield from one_judge(design.systems, seen[: design.people], seen[design.people :])


def _notes_on_outputs(design: MixedDesign) -> Iterator[str]:
    """Say what unnamed outputs are taken for."""
    if not outputs_unnamed(design):
        return
    if unknown_outputs(design).any():
        taken = "all annotators are assumed to have judged the same outputs, so errors are large; name the segments"
    else:
        taken = "everyone scored each system once, which is taken as a score of the whole system"
    yield f"segments are not named: {taken}"


def _notes_on_people(design: MixedDesign) -> Iterator[str]:
    """Say for whom the verdict holds."""
    annotators = design.people
    if annotators == 0:
        yield "annotators are not named: scores of one annotator or page count as independent, so errors are too small"
    elif any(aside.reason == COPIES for aside in design.set_aside):
        yield "everyone gave the same scores, so all annotators count as one person; others may judge differently"
    elif annotators == 1:
        yield "only one annotator: the verdict holds for this annotator only, others may judge differently"
    elif annotators == FEW_ANNOTATORS:
        yield "only two annotators: the verdict holds for these people only, others may judge differently"
    elif annotators == FEW_ANNOTATORS + 1:
        yield "only three annotators: how far tastes differ is hardly known, so errors are large"
    elif not design.model.taste:
        yield "tastes of annotators are not in this model: the verdict holds for these annotators, not for others"
