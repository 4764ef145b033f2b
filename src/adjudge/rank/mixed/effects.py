"""Which random effects the data can tell apart, and what becomes of the others.

An effect is left out, with the reason, where the data say nothing of it or where it cannot be told from the systems.
Two effects whose levels hold the same rows are *folded*: one variance stands for both. An effect with a level for
(nearly) every score is part of the residual. Folding instead of dropping matters when a model is refitted with known
variances to a part of the data: the variances of folded effects add up there, and none is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.integer_codes import renumber
from adjudge.rank.connected_groups import number_of_groups
from adjudge.rank.mixed.design import ALMOST_ALL, combine, levels_of
from adjudge.results.rank import TASTE, Cause, LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from adjudge.core.arrays import Codes
    from adjudge.rank.mixed.design import MixedDesign


MEANINGS = {
    "annotator": "how strict or generous each annotator is",
    TASTE: "how much more, or less, an annotator likes a system than others do",
    "task": "how an annotator's scores shift from one task to the next",
    "document": "how hard each document is for all systems",
    "segment": "how hard each segment is for all systems",
    "system:document": "how well a system does on one document beyond its general quality",
    "system:segment": "how well a system does on one segment beyond its general quality",
    "page": "the impression one annotator has of one system's translation of one document",
    "residual": "what is left: one score given to one segment",
}
ACROSS = ("annotator", TASTE, "task")
"""The effects that reach across documents."""
NO_CROSSING = "no two annotators share two systems, so tastes and strictness cannot be told apart"
SMALLEST_RATIO = 1e-8
"""A variance this small beside the residual's is reported as zero; the effect stays in the equations, pinned to 0."""


@dataclass(frozen=True, eq=False)
class Effect:
    """A random effect of the model: one variance for all its parts (more than one where they are folded)."""

    parts: tuple[str, ...]
    codes: Codes
    levels: int

    @property
    def name(self) -> str:
        """`page`, or `system:document + page` where the two are folded."""
        return " + ".join(self.parts)

    @property
    def narrowest(self) -> str:
        """The last part: to it the variance of folded effects belongs, should they come apart."""
        return self.parts[-1]

    @property
    def meaning(self) -> str:
        """In plain words."""
        return ", and ".join(MEANINGS[part] for part in self.parts)


@dataclass(frozen=True, eq=False)
class Effects:
    """The random effects of a model, what was left out or folded, and which effects the residual holds."""

    kept: tuple[Effect, ...]
    left_out: tuple[LeftOut, ...]
    in_residual: tuple[str, ...]

    def ratios(self, known: Mapping[str, float]) -> NDArray[np.float64]:
        """Known ratios of variance to residual variance by part of an effect (`Effect.narrowest`), for those kept here.

        The ratios of folded effects add up. What went into the residual makes the residual larger, and so every ratio
        smaller.
        """
        residual = 1 + sum(known.get(part, 0.0) for part in self.in_residual)
        sums = [sum(known.get(part, 0.0) for part in effect.parts) for effect in self.kept]
        return np.maximum(np.array(sums) / residual, SMALLEST_RATIO)

    def alike(self, part: Effects, rows: NDArray[np.bool_]) -> bool:
        """Whether a part of the data, these rows, has the very same effects."""
        return [effect.parts for effect in self.kept] == [effect.parts for effect in part.kept] and all(
            # Of folded effects the finer one stands for both, which need not be the same one everywhere.
            len(effect.parts) == 1 or (renumber(effect.codes[rows]) == renumber(other.codes)).all()
            for effect, other in zip(self.kept, part.kept, strict=True)
        )


def identify(design: MixedDesign) -> Effects:
    """The effects that the design can tell apart, over all its rows."""
    design = design.stacked()
    kept: list[Effect] = []
    left_out: list[LeftOut] = []
    in_residual: list[str] = []
    for name, codes in _candidates(design):
        if codes is None:
            unnamed = name.replace("system:", "").replace(":system", "")
            left_out.append(LeftOut(name, f"the data do not name the {unnamed}", Cause.NOT_NAMED))
        elif unknown := _not_identified(name, codes, design):
            left_out.append(unknown)
        elif levels_of(codes) >= ALMOST_ALL * len(design):
            left_out.append(LeftOut(name, "nearly every score has its own: part of the residual", Cause.RESIDUAL))
            in_residual.append(name)
        elif (index := _same_as(codes, kept)) is not None:
            reason = f"holds the same scores together as {kept[index].name}: one variance for both"
            left_out.append(LeftOut(name, reason, Cause.FOLDED))
            kept[index] = _folded(kept[index], name, codes)
        else:
            kept.append(Effect((name,), codes, levels_of(codes)))
    return Effects(tuple(kept), tuple(left_out), tuple(in_residual))


def _candidates(design: MixedDesign) -> Iterable[tuple[str, Codes | None]]:
    yield "annotator", design.annotator
    if design.model.taste:
        yield TASTE, design.annotator_system
    yield "task", design.task
    yield "document", design.document
    yield "segment", design.segment
    yield "system:document", None if design.document is None else combine(design.system, design.document)
    if design.segment is not None and (design.document is None or levels_of(design.document) == 1):
        # Annotators of one output share its luck. Within documents system:document takes that up; where there are no
        # documents, each segment is one.
        yield "system:segment", combine(design.system, design.segment)
    yield "page", design.page


def _not_identified(name: str, codes: Codes, design: MixedDesign) -> LeftOut | None:
    levels = name.removesuffix(":system").removeprefix("system:")
    alone = design.annotator is not None and levels_of(design.annotator) == 1
    if levels_of(codes) == 1 or (name == TASTE and alone):
        return LeftOut(name, f"there is one {levels} only", Cause.ONE_LEVEL)
    if name == TASTE and _tastes_are_strictness(design):
        return LeftOut(name, NO_CROSSING, Cause.STRICTNESS)
    one_of_each = np.empty(len(design.systems), dtype=np.int64)
    one_of_each[design.system] = codes
    if (one_of_each[design.system] == codes).all():
        reason = f"each system has one {levels} only, so the two cannot be told apart"
        return LeftOut(name, reason, Cause.SYSTEMS)
    return None


def _tastes_are_strictness(design: MixedDesign) -> bool:
    """Whether annotators judged several systems, but nothing is left of tastes once strictness is known."""
    if design.annotator is None or design.annotator_system is None:
        return False
    several = levels_of(design.annotator_system) > levels_of(design.annotator)
    return several and taste_degrees(design, strictness=True) == 0


def taste_degrees(design: MixedDesign, *, strictness: bool) -> int:
    """Degrees of freedom of annotator:system beyond the systems and, if asked for, beyond annotators."""
    if design.annotator is None or design.annotator_system is None:
        return 0
    beyond = design.annotator if strictness else None
    return crossed_degrees(design.system, len(design.systems), design.annotator_system, beyond)


def crossed_degrees(system: Codes, systems: int, crossed: Codes, own: Codes | None) -> int:
    """Degrees of freedom of an effect that is crossed with systems, beyond the systems and the other one's own effect.

    The rank of two partitions together is the number of their levels less the number of groups that they connect, so
    this is the difference of two ranks: systems with the crossed effect, and systems with the other's own (or alone).
    """
    whole = levels_of(crossed) - number_of_groups(system, crossed, systems)
    if own is None:
        return whole
    return whole - levels_of(own) + number_of_groups(system, own, systems)


def _same_as(codes: Codes, kept: list[Effect]) -> int | None:
    levels = levels_of(codes)
    for index, other in enumerate(kept):
        fewer, more = sorted((levels, other.levels))
        if fewer >= ALMOST_ALL * more and fewer >= ALMOST_ALL * levels_of(combine(codes, other.codes)):
            return index
    return None


def _folded(effect: Effect, name: str, codes: Codes) -> Effect:
    finer = codes if levels_of(codes) > effect.levels else effect.codes
    return Effect((*effect.parts, name), finer, levels_of(finer))
