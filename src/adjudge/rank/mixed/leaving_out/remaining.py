"""What a model can say once an annotator or a document is left out, told from counts alone, for all of them at once.

To make the design of what is left, and to identify its effects, takes longer than the fit itself. Nearly always counts
suffice: if every effect keeps many more, or many fewer, levels than any other, it stays an effect of its own.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.connected_groups import number_of_groups
from adjudge.rank.mixed.degrees import SYSTEM_ON_TEXT, eased
from adjudge.rank.mixed.design import ALMOST_ALL, combine, levels_of
from adjudge.rank.mixed.effects import Effect
from adjudge.rank.mixed.solver.blocks import inside_blocks
from adjudge.results.rank import TASTE, Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.effects import Effects

_SYSTEM, _PERSON, _SEGMENT = "system", "annotator", "segment"


def most_degrees_without_each(design: MixedDesign, effects: Effects, unit: Codes) -> Floats:
    """The bound on degrees of freedom in the fit without each unit (see `degrees.most_degrees`).

    NaN where counts do not tell that such a fit is possible and has the systems and the effects of the whole.

    Args:
        design: without calibration items.
        effects: of the design.
        unit: of each row.
    """
    units, systems = levels_of(unit), len(design.systems)
    text = next((effect.parts[0] for effect in effects.kept if effect.parts[0] in SYSTEM_ON_TEXT), None)
    if text is None or not _all_apart(effects) or not design.model.taste:
        return np.full(units, np.nan)
    codes = {_SYSTEM: design.system, **{effect.parts[0]: effect.codes for effect in effects.kept}}
    left = {name: _levels_left(of_rows, unit) for name, of_rows in codes.items()}
    surely = (left.pop(_SYSTEM) == systems) & _scores_differ(design.as_given, unit)
    surely &= _surely_apart(codes, left, np.bincount(unit))
    surely &= left.get(_SEGMENT, np.full(units, systems + 1)) > systems
    # Where several levels link all systems, some system has two of them, and so it has of whatever is finer.
    degrees = {}
    for crossed, own in ((TASTE, _PERSON), (text, SYSTEM_ON_TEXT[text])):
        degrees[crossed] = left[crossed] - left[own] - systems + 1
        surely &= (degrees[crossed] >= 1) & _still_linked(design.system, codes[own], unit, systems)
    most = np.array([min(tastes, eased(texts)) for tastes, texts in zip(degrees[TASTE], degrees[text], strict=True)])
    return np.where(surely, most, np.nan)


def _all_apart(effects: Effects) -> bool:
    """Whether all effects of the model are there, each by itself, but for those that the data do not name."""
    named = all(left_out.cause == Cause.NOT_NAMED for left_out in effects.left_out)
    alone = all(len(effect.parts) == 1 for effect in effects.kept)
    parts = {effect.parts[0] for effect in effects.kept}
    own = {SYSTEM_ON_TEXT[part] for part in parts & set(SYSTEM_ON_TEXT)}
    return named and alone and {_PERSON, TASTE, *own} <= parts


def _levels_left(codes: Codes, unit: Codes) -> Codes:
    """How many levels are left without each unit: all but those whose rows are all of this unit."""
    levels = levels_of(codes)
    owner = np.empty(levels, dtype=np.int64)
    owner[codes] = unit
    inside = inside_blocks(Effect((), codes, levels), unit)
    return levels - np.bincount(owner[inside], minlength=levels_of(unit))


def _scores_differ(score: Floats, unit: Codes) -> Bools:
    """Whether what is left without each unit has different scores."""
    lowest, highest = (_without_each(sign * score, unit) * sign for sign in (1, -1))
    differ: Bools = lowest < highest
    return differ


def _without_each(score: Floats, unit: Codes) -> Floats:
    """The lowest score of all rows but those of each unit."""
    low = np.full(levels_of(unit), np.inf)
    np.minimum.at(low, unit, score)
    first = int(np.argmin(low))
    others = np.full(len(low), low[first])
    others[first] = np.delete(low, first).min(initial=np.inf)
    return others


def _surely_apart(codes: Mapping[str, Codes], left: Mapping[str, Codes], gone: Codes) -> Bools:
    """Whether without each unit all effects can be told from each other, and from the residual.

    Args:
        codes: of each effect.
        left: how many of its levels are left without each unit.
        gone: the rows of each unit.
    """
    every = np.stack(list(left.values()))
    surely: Bools = (every.min(axis=0) > 1) & (every.max(axis=0) < ALMOST_ALL * (gone.sum() - gone))
    for first, second in combinations(left, 2):
        fewer, more = np.minimum(left[first], left[second]), np.maximum(left[first], left[second])
        near = fewer >= ALMOST_ALL * more
        if near.any():
            # A row that is left out takes one level of the two together with it at most.
            together = levels_of(combine(codes[first], codes[second])) - gone
            surely &= ~(near & (fewer >= ALMOST_ALL * together))
    return surely


def _still_linked(system: Codes, own: Codes, unit: Codes, systems: int) -> Bools:
    """Whether all systems share levels, directly or through others, without each unit."""
    first = np.unique(combine(system, own, unit), return_index=True)[1]
    system, own, unit = system[first], own[first], unit[first]
    linked = [
        number_of_groups(system[unit != code], own[unit != code], systems) == 1 for code in range(levels_of(unit))
    ]
    return np.array(linked)
