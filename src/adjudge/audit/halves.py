"""Random halves of the annotators.

Judgments that name no annotator are in neither half: nobody knows how many people they are of, or whether some of these
are among the annotators with a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.wording import agreeing, counted

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools


def random_halves(people: int, rng: np.random.Generator) -> tuple[Bools, Bools]:
    """Two halves of the annotators, drawn at random; of an odd number the first half is the smaller."""
    first = np.zeros(people, dtype=bool)
    first[rng.permutation(people)[: people // 2]] = True
    return first, ~first


def unnamed_note(unnamed: int, what: str) -> tuple[str, ...]:
    """Say what halves of the annotators leave out."""
    if not unnamed:
        return ()
    named = counted(unnamed, f"{what} names", f"{what}s name")
    return (f"{named} no annotator, and {agreeing(unnamed, 'is', 'are')} in no half of the annotators",)
