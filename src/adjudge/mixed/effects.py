"""Which random effects the data can tell apart, and what becomes of the others.

An effect is left out, with the reason, where the data say nothing of it or where it cannot be told from the systems.
Two effects whose levels hold the same rows are *folded*: one variance stands for both. An effect with a level for
(nearly) every score is part of the residual. Folding instead of dropping matters when a model is refitted with known
variances to a part of the data: the variances of folded effects add up there, and none is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.design import ALMOST_ALL, MixedDesign, combine, levels_of
from adjudge.table.judgments import number_of_groups, renumber
from adjudge.table.maths import Bools, Codes, Floats, difference_variances
from adjudge.table.results import UNWRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from adjudge.mixed.fit import Evaluation


TASTE = "annotator:system"
"""The effect of annotators' tastes."""


def taste_for(system: str) -> str:
    """The effect of what annotators' tastes for one system vary more than those for others."""
    return f"{TASTE} ({system})"


MEANINGS = {
    "annotator": "how strict or generous each annotator is",
    TASTE: "how much more, or less, an annotator likes a system than others do",
    "task": "how an annotator's scores shift from one task to the next",
    "document": "how hard each document is for all systems",
    "segment": "how hard each segment is for all systems",
    "system:document": "how well a system does on one document beyond its general quality",
    "system:segment": "how well a system does on one segment beyond its general quality",
    "annotator:document": "what one annotator thinks of a document, whichever system translated it",
    "annotator:segment": "what one annotator thinks of a segment, whichever system translated it",
    "page": "the impression one annotator has of one system's translation of one document",
    "residual": "what is left: one score given to one segment",
}
ACROSS = ("annotator", TASTE, "task")
"""The effects that reach across documents."""
SCREENS = ("annotator:document", "annotator:segment")
"""What the outputs share that one person judged side by side, of a document and of a segment."""
NO_CROSSING = "no two annotators share two systems, so tastes and strictness cannot be told apart"
SMALLEST_RATIO = 1e-8
"""A variance this small beside the residual's is reported as zero; the effect stays in the equations, pinned to 0."""


@dataclass(frozen=True)
class VarianceComponent:
    """One source of variation: its standard deviation in the unit of the scores, with an optional interval."""

    effect: str
    sd: float
    low: float | None
    high: float | None
    levels: int
    meaning: str
    at_zero: bool = False
    """Whether the estimate is at its lower limit: the data show no such variation."""
    folded: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)
    """The merged effects, if there are several."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The merged effects, the narrowest last."""
        return self.folded or (self.effect,)

    @property
    def of_tastes(self) -> bool:
        """Whether the tastes of annotators for systems are in it."""
        return TASTE in self.parts


class Cause(StrEnum):
    """Why an effect is not modelled separately."""

    NOT_NAMED = "the data do not name its levels"
    ONE_LEVEL = "it has one level only"
    STRICTNESS = "tastes are not told from strictness"
    SYSTEMS = "each system has one level, so it is not told from systems"
    RESIDUAL = "nearly every score has its own level"
    NO_SCREEN = "people judged too few systems of one text, or it is another effect by definition"
    FOLDED = "it holds the same scores together as another effect"

    @property
    def confounded(self) -> bool:
        """Whether standard errors fail to include this effect."""
        return self in (Cause.STRICTNESS, Cause.SYSTEMS)


@dataclass(frozen=True)
class LeftOut:
    """An effect that is not modelled separately, and the reason."""

    effect: str
    reason: str
    cause: Cause = field(metadata=UNWRITTEN)


@dataclass(frozen=True)
class Helper:
    """A metric, or a judge that is a model, whose scores of all outputs helped human scores."""

    name: str
    slope: float
    """How much higher human scores are per standard deviation of the helper's scores, the other helpers held equal."""
    gain: float
    """The helper alone makes differences of systems as precise as this many times the judgments would; 1 where the
    interval includes 1."""
    gain_low: float | None
    gain_high: float | None
    """Its 95% interval; None where too few documents were judged to tell."""
    scored: int
    """Judgments of outputs that have a score by the helper."""
    unscored: int
    """Judgments of outputs that have none."""


@dataclass(frozen=True)
class ScreenEffect:
    """What an output's place on the screen, or the best other output there, does to its scores."""

    name: str
    slope: float
    """In the unit of the scores: for each place, or for each unit that the best other system is better."""
    se: float
    df: float
    p: float
    low: float
    high: float
    meaning: str


@dataclass(frozen=True, eq=False)
class Effect:
    """A random effect of the model: one variance for all its parts (more than one where they are folded)."""

    parts: tuple[str, ...]
    codes: Codes
    levels: int
    implied: tuple[str, ...] = ()
    """Effects that are no other than this one in these data; their known variances belong to it."""
    marked: Bools | None = None
    """For tastes for one system: which levels of the effect of all tastes, whose codes these are, have it besides."""

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
        if self.marked is not None:
            return f"how much annotators part over {self.narrowest.removeprefix(TASTE)[2:-1]}"
        return ", and ".join(MEANINGS[part] for part in self.parts)


@dataclass(frozen=True, eq=False)
class Effects:
    """The random effects of a model, what was left out or folded, and which effects the residual holds."""

    kept: tuple[Effect, ...]
    left_out: tuple[LeftOut, ...]
    in_residual: tuple[str, ...]

    @property
    def plain(self) -> tuple[Effect, ...]:
        """Without what tastes for single systems vary more; that comes last among those kept."""
        return tuple(effect for effect in self.kept if effect.marked is None)

    def ratios(self, known: Mapping[str, float]) -> NDArray[np.float64]:
        """Known ratios of variance to residual variance by part of an effect (`Effect.narrowest`), for those kept here.

        The ratios of folded effects add up. What went into the residual makes the residual larger, and so every ratio
        smaller.
        """
        residual = 1 + sum(known.get(part, 0.0) for part in self.in_residual)
        sums = [sum(known.get(part, 0.0) for part in (*effect.parts, *effect.implied)) for effect in self.kept]
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
    implied: list[tuple[str, str]] = []
    for name, codes in _candidates(design):
        if codes is None:
            unnamed = name.replace("system:", "").replace(":system", "")
            left_out.append(LeftOut(name, f"the data do not name the {unnamed}", Cause.NOT_NAMED))
        elif name in SCREENS and (same := _no_screen(name, codes, design)):
            left_out.append(same[1])
            implied.append((name, same[0]))
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
    for name, home in implied:
        in_residual += [name] if home in ("residual", *in_residual) else []
        kept = [replace(it, implied=(*it.implied, name)) if home in it.parts else it for it in kept]
    return Effects((*kept, *_apart(design, kept)), tuple(left_out), tuple(in_residual))


def _apart(design: MixedDesign, kept: list[Effect]) -> Iterable[Effect]:
    """What tastes for each of the systems that were parted vary more than those for others."""
    tastes = next((effect for effect in kept if TASTE in effect.parts), None)
    if tastes is None or design.apart is None:
        return
    for place, system in enumerate(design.parted, start=1):
        marked = np.zeros(tastes.levels, dtype=bool)
        marked[tastes.codes[design.apart == place]] = True
        if marked.any():
            yield Effect((taste_for(system),), tastes.codes, int(marked.sum()), marked=marked)


def _candidates(design: MixedDesign) -> Iterable[tuple[str, Codes | None]]:
    yield "annotator", design.annotator
    if design.model.taste:
        yield TASTE, design.annotator_system
    yield "task", design.task
    yield "document", design.document
    yield "segment", design.segment
    yield "system:document", None if design.document is None else combine(design.system, design.document)
    if design.segment is not None and not _several_documents(design):
        # Annotators of one output share its luck. Within documents system:document takes that up; where there are no
        # documents, each segment is one.
        yield "system:segment", combine(design.system, design.segment)
    if design.model.taste and design.annotator is not None:
        for name, codes in zip(SCREENS, (design.document, design.segment), strict=True):
            if codes is not None:
                yield name, combine(design.annotator, codes)
    yield "page", design.page


def _no_screen(name: str, codes: Codes, design: MixedDesign) -> tuple[str, LeftOut] | None:
    """What a person's view of texts is part of, where too few judged several systems of one, or it is another effect.

    A part of the rows has the same answer where no level holds two systems, or levels are those of another effect.
    """
    text = name.removeprefix("annotator:")
    own = design.document if text == "document" else design.segment
    levels, outputs = levels_of(codes), levels_of(judged_outputs(codes, design))
    if not is_screen(name, np.array(levels), np.array(outputs), documents=_several_documents(design)):
        home = "page" if text == "document" else "residual"
        reason = f"{'nobody' if levels == outputs else 'hardly anybody'} judged two systems of a {text}"
    elif own is not None and levels == levels_of(own):
        home, reason = text, f"one annotator judged each {text}"
    elif design.annotator is not None and levels == levels_of(design.annotator):
        home, reason = "annotator", f"each annotator judged one {text}"
    else:
        return None
    return home, LeftOut(name, f"{reason}: part of {'the ' * (home == 'residual')}{home}", Cause.NO_SCREEN)


def judged_outputs(codes: Codes, design: MixedDesign) -> Codes:
    """What one annotator judged of one system in each text; systems that were split in two (A/A) are one."""
    return combine(codes, design.system if design.annotator_system is None else design.annotator_system)


def is_screen(name: str, levels: Codes, outputs: Codes, *, documents: bool) -> Bools:
    """Whether people judged several systems of a text, so that they can be told from what they think of the text.

    Some person must have judged two systems. Segments beside documents need two systems for each person and segment on
    average: below that they change errors by up to 2% (`docs/mixed.md`) and take most of the time of a fit.

    Args:
        name: of the effect.
        levels: of the effect, in each of several designs.
        outputs: how many of one system each there are, in all levels.
        documents: whether there are several documents.
    """
    enough: Bools = outputs >= 2 * levels if documents and name == "annotator:segment" else outputs > levels
    return enough


def _several_documents(design: MixedDesign) -> bool:
    return design.document is not None and levels_of(design.document) > 1


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


# Degrees of freedom of every difference of two systems: how well its standard error is known.
#
# Satterthwaite's approximation, and where tastes are in the model never more than the degrees of freedom that tastes
# are estimated with: as many as there are pairs of annotator and system beyond what systems and annotators explain,
# which is (annotators - 1) (systems - 1) where everybody judges every system, and fewer where few do most of the work
# (`Work`). Where the taste is estimated as 0, as in about half of the fits when it truly is, Satterthwaite's formula
# alone would jump to hundreds, however few the annotators. The same holds for how systems do on documents, where
# documents are few.


LEAST_TASTE_RATIO = 0.05
"""Tastes of real campaigns have about this share of the residual variance (`docs/mixed.md`)."""
SYSTEM_ON_TEXT = {"system:document": "document", "system:segment": "segment"}
"""How systems do on texts, with the texts' own effect."""
_EASED = 8
"""With d degrees of freedom of texts, the bound is the larger of d and d^2 / 8: no matter from about 20 on."""
_FLAT = 1e-9
"""Directions in which the likelihood is flatter than this, compared with the steepest, say nothing of the variances."""


def degrees_of_tastes(design: MixedDesign, effects: Effects, ratios: Floats) -> float:
    """The degrees of freedom of tastes, at least 1; no bound where the model has none or one person alone judged.

    Args:
        design: what is judged by whom.
        effects: of the design.
        ratios: of each effect's variance to that of the residual.
    """
    if not design.model.taste or design.annotator is None or levels_of(design.annotator) == 1:
        return np.inf
    strictness, rows = strictness_apart(effects), design.stacked()
    degrees = taste_degrees(rows, strictness=strictness)
    return float(max(degrees * Work.of(rows).share(effects, ratios), 1))


def strictness_apart(effects: Effects) -> bool:
    """Whether annotators have an effect of their own beside tastes."""
    return any("annotator" in effect.parts and TASTE not in effect.parts for effect in effects.kept)


@dataclass(frozen=True, eq=False)
class Work:
    """Who judged how many pages of what: people count by their weight in the estimates, not by heads.

    Of what a person judged of a system (a cell), n pages, the mean is known with the precision 1 / (taste + noise / n):
    for somebody who judged much, the taste is all that is left. Given the person's strictness, the weight of all cells
    is sum(p) - sum(p^2) / sum(p). People who do most of the work then count as few, however many others there are,
    unless tastes are so large that everyone's word is worth the same.
    """

    page: Codes
    """Of each row; where pages are not known, each row is one."""
    cell: Codes
    """Of each page."""
    person: Codes
    """Of each cell."""

    @classmethod
    def of(cls, design: MixedDesign) -> Work:
        """The work in a design whose annotators are named."""
        annotator = np.zeros(len(design), dtype=np.int64) if design.annotator is None else design.annotator
        cells = combine(annotator, design.system) if design.annotator_system is None else design.annotator_system
        person = np.empty(levels_of(cells), dtype=np.int64)
        person[cells] = annotator
        page = np.arange(len(design)) if design.page is None else design.page
        cell = np.empty(levels_of(page), dtype=np.int64)
        cell[page] = cells
        return cls(page, cell, person)

    def share(self, effects: Effects, ratios: Floats) -> float:
        """The part of the degrees of freedom of tastes that is left where people count by weight; 1 for equal work."""
        pages = np.bincount(self.cell, minlength=len(self.person))
        taste, noise = _spread_of_pages(effects, ratios)
        noise += len(self.cell) / len(self.page)
        return self._counted(pages, taste, noise, strictness=strictness_apart(effects))

    def share_without_each(self, effects: Effects, ratios: Floats, unit: Codes) -> Floats:
        """The same without the rows of each unit, for as many units as there are."""
        whole = np.bincount(self.cell, minlength=len(self.person))
        taste, noise = _spread_of_pages(effects, ratios)
        strictness, rows = strictness_apart(effects), len(self.page) - np.bincount(unit)
        owner = np.empty(len(self.cell), dtype=np.int64)
        owner[self.page] = unit
        # A page is gone where all its rows are of the unit.
        inside = np.bincount(self.page, owner[self.page] != unit) == 0
        order = np.argsort(owner[inside], kind="stable")
        ends = np.cumsum(np.bincount(owner[inside], minlength=len(rows)))
        shares = []
        for left, cells in zip(rows, np.split(self.cell[inside][order], ends[:-1]), strict=True):
            pages = whole - np.bincount(cells, minlength=len(whole))
            shares.append(self._counted(pages, taste, noise + pages.sum() / max(left, 1), strictness=strictness))
        return np.array(shares)

    def _counted(self, pages: Codes, taste: float, noise: float, *, strictness: bool) -> float:
        precision = np.where(pages > 0, 1 / (taste + noise / np.maximum(pages, 1)), 0.0)
        sums = np.bincount(self.person, precision)
        degrees = np.bincount(self.person, pages > 0) - strictness
        several = degrees > 0
        weight = sums[several] - strictness * np.bincount(self.person, precision**2)[several] / sums[several]
        people, degrees = int(several.sum()), degrees[several]
        if people < 2:
            return 1.0
        # By heads where everyone judged every system: 1 / sum(h^2) of the shares h of all people in the weight.
        counted = people * weight.sum() ** 2 / (weight**2 / degrees).sum() / degrees.sum()
        return float(np.clip(round((counted - 1) / (people - 1), 9), 0.0, 1.0))


def _spread_of_pages(effects: Effects, ratios: Floats) -> tuple[float, float]:
    """The variance of tastes, and that of a page beyond its residuals, relative to the residual's."""
    taste = noise = 0.0
    for effect, ratio in zip(effects.kept, ratios.tolist(), strict=True):
        if TASTE in effect.parts:
            taste += ratio
        elif {*SYSTEM_ON_TEXT, "page"} & set(effect.parts):
            noise += ratio
    return taste, noise


def most_degrees(design: MixedDesign, effects: Effects, ratios: Floats) -> float:
    """The bound on the degrees of freedom of a difference of two systems."""
    return min(degrees_of_tastes(design, effects, ratios), degrees_of_texts(design, effects))


def degrees_of_part(whole: Floats, most: float) -> Floats:
    """The degrees of freedom in a fit to nearly all of the data, at the variances of the whole.

    How well variances are known does not depend on what they are applied to, so these are the degrees of freedom of
    the whole, bounded by what annotators and texts of the part allow.

    Args:
        whole: the degrees of freedom of the whole, for the systems of the part.
        most: the bound of the part.
    """
    return np.where(np.eye(len(whole), dtype=bool), np.inf, np.minimum(whole, most))


def degrees_of_texts(design: MixedDesign, effects: Effects) -> float:
    """The degrees of freedom of how systems do on documents (or segments), eased where they are many; at least 1.

    No bound where tastes are not in the model, which then is lme4's, or where the residual holds what systems do on
    texts.
    """
    kept = [(effect, part) for effect in effects.kept for part in effect.parts if part in SYSTEM_ON_TEXT]
    if not design.model.taste or not kept:
        return np.inf
    effect, name = kept[0]
    rows = design.stacked()
    text = SYSTEM_ON_TEXT[name]
    codes = rows.document if text == "document" else rows.segment
    own = codes if any(text in other.parts for other in effects.kept if other is not effect) else None
    return eased(crossed_degrees(rows.system, len(rows.systems), effect.codes, own))


def eased(degrees: float) -> float:
    """The bound that follows from the degrees of freedom of texts."""
    return float(max(degrees, degrees**2 / _EASED, 1))


def unknown_strictness(design: MixedDesign, effects: Effects) -> Floats:
    """What strictness adds to the covariance of systems that were judged by one annotator each, who differ.

    Nothing in the data tells a strict annotator from a poor system then. Strictness is taken to vary as much as all
    scores do, a deliberately wide assumption; systems judged by the same annotator are not affected. In units of the
    variance of the scores.
    """
    systems = len(design.systems)
    estimated = any("annotator" in effect.parts for effect in effects.kept)
    if not design.model.taste or estimated or design.annotator is None or levels_of(design.annotator) == 1:
        return np.zeros((systems, systems))
    judge = np.empty(systems, dtype=np.int64)
    judge[design.system] = design.annotator
    one_each = bool((judge[design.system] == design.annotator).all())
    return np.array(judge[:, None] == judge[None, :], dtype=np.float64) * one_each


def unknown_outputs(design: MixedDesign) -> Floats:
    """What unnamed outputs add to the covariance of systems, in units of the residual variance.

    Annotators of one output share its luck. Where neither segments nor documents are named, nothing says who judged the
    same output. As many outputs as one annotator judged of a system there are at least; all others are taken to have
    judged the same ones, and all of the residual to be the outputs' luck. Where nobody judged a system twice, what was
    judged is taken to be the system itself.
    """
    systems = len(design.systems)
    if not outputs_unnamed(design) or design.annotator_system is None:
        return np.zeros((systems, systems))
    judged = np.bincount(design.annotator_system)
    outputs = np.zeros(systems, dtype=np.int64)
    np.maximum.at(outputs, design.system, judged[design.annotator_system])
    rows = np.bincount(design.system, minlength=systems)
    added = np.where(outputs > 1, 1 / np.maximum(outputs, 1) - 1 / np.maximum(rows, 1), 0.0)
    return np.diag(added)


def outputs_unnamed(design: MixedDesign) -> bool:
    """Whether several people judged outputs that neither segments nor documents tell apart."""
    one_text = design.document is None or levels_of(design.document) == 1
    several = design.annotator is not None and levels_of(design.annotator) > 1
    return design.segment is None and one_text and several


def parameter_covariance(information: Floats, ratios: Floats) -> Floats:
    """The covariance of (log residual variance, log ratios...); zero for ratios at their smallest."""
    scale = np.sqrt(np.maximum(np.diag(information), 0.0))
    free = np.append(True, ratios > 2 * SMALLEST_RATIO) & (scale > 0)
    unit = information[np.ix_(free, free)] / np.outer(scale[free], scale[free])
    # The criterion is -2 log likelihood, so its curvature is twice the information.
    # Away from the optimum it may bend the wrong way, and such directions say nothing of the variances either.
    bend, direction = np.linalg.eigh(unit)
    sure = bend > _FLAT * bend.max(initial=0.0)
    inverse = 2 * (direction[:, sure] / bend[sure]) @ direction[:, sure].T
    covariance = np.zeros_like(information)
    covariance[np.ix_(free, free)] = inverse / np.outer(scale[free], scale[free])
    return covariance


def satterthwaite(relative: Floats, crossed: list[Floats], spread: Floats) -> Floats:
    """Satterthwaite's degrees of freedom of every difference of two systems; see `degrees_from_slopes`."""
    degrees = degrees_from_slopes([difference_variances(part) for part in (relative, *crossed)], spread)
    np.fill_diagonal(degrees, np.inf)
    return degrees


def degrees_from_slopes(slopes: list[Floats], spread: Floats) -> Floats:
    """Satterthwaite's degrees of freedom, 2 v^2 / Var(v), for the estimated variance v of a difference; at least 1.

    F. E. Satterthwaite (1946): An approximate distribution of estimates of variance components. Biometrics Bulletin 2,
    110-114. Var(v) by the delta method from the covariance of the variance parameters, as in F. G. Giesbrecht and
    J. C. Burns (1985): Two-stage analysis based on a mixed model. Biometrics 41, 477-486.

    Args:
        slopes: derivatives of the variance of each difference in (log residual variance, log ratios...); the first is
            the variance itself.
        spread: the covariance of these parameters.
    """
    estimated, slope = slopes[0], np.stack(slopes, axis=-1)
    variance = np.einsum("...k,kl,...l->...", slope, spread, slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.maximum(np.where(variance > 0, 2 * estimated**2 / variance, np.inf), 1.0))


@dataclass(frozen=True, eq=False)
class ContrastDegrees:
    """What the degrees of freedom of any contrast of the effects are computed from."""

    slopes: tuple[Floats, ...]
    """Derivatives of the covariance in (log residual variance, log ratios...); the first is the covariance itself."""
    spread: Floats
    """The covariance of these parameters."""
    taste: Floats | None
    """The derivative of the covariance in the ratio of the taste's variance; None where tastes are not estimated."""
    taste_ratio: float
    apart: Floats
    """What the covariance has of tastes for single systems that vary more than others."""
    most: float
    """The degrees of freedom of tastes."""

    @property
    def of_tastes(self) -> Floats | None:
        """What the covariance has of all tastes, relative to the residual variance."""
        return None if self.taste is None else self.taste * self.taste_ratio + self.apart

    def of(self, contrasts: Floats) -> Floats:
        """The degrees of freedom of every contrast (a row each), at least 1.

        Satterthwaite's, and no more than those of the taste's variance as far as tastes have a part in the contrast:
        with a share s of its variance, most / s^2. Contrasts within annotators, where tastes cancel out, are not
        bounded. A taste that is estimated as smaller is counted as `LEAST_TASTE_RATIO` of the residual variance.
        """
        slope = np.stack([np.einsum("ci,ij,cj->c", contrasts, part, contrasts) for part in self.slopes], axis=-1)
        estimated, variance = slope[:, 0], np.einsum("ck,kl,cl->c", slope, self.spread, slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = np.where(variance > 0, 2 * estimated**2 / variance, np.inf)
        if self.taste is not None and np.isfinite(self.most):
            ratio = max(self.taste_ratio, LEAST_TASTE_RATIO)
            by_taste = np.einsum("ci,ij,cj->c", contrasts, self.taste, contrasts) * ratio
            missing = by_taste * max(0.0, 1 - self.taste_ratio / ratio)
            by_taste = by_taste + np.einsum("ci,ij,cj->c", contrasts, self.apart, contrasts)
            share = np.clip(by_taste / np.maximum(estimated + missing, 1e-300), 1e-9, 1.0)
            degrees = np.minimum(degrees, self.most / share**2)
        return np.asarray(np.maximum(degrees, 1.0))

    def of_several(self, contrasts: Floats) -> float:
        """The denominator degrees of freedom of the F test that all contrasts are 0.

        A. H.-T. Fai and P. L. Cornelius (1996): Approximate F-tests of multiple degree of freedom hypotheses.
        Journal of Statistical Computation and Simulation 54, 363-378: the contrasts are rotated to independent ones,
        whose t statistics have the expectation of their squares matched.
        """
        _, axes = np.linalg.eigh(contrasts @ self.slopes[0] @ contrasts.T)
        degrees = self.of(axes.T @ contrasts)
        finite = degrees[np.isfinite(degrees)]
        if not len(finite):
            return np.inf
        if (finite <= 2).any():
            return float(finite.min())
        expected = float((finite / (finite - 2)).sum()) + len(degrees) - len(finite)
        return float(2 * expected / (expected - len(degrees)))


def contrast_degrees(
    effects: Effects, evaluation: Evaluation, relative: Floats, crossed: list[Floats], of_tastes: float
) -> ContrastDegrees:
    """What a fit needs to tell the degrees of freedom of any contrast."""
    ratios = evaluation.equations.ratios
    tastes = next((i for i, effect in enumerate(effects.kept) if TASTE in effect.parts), None)
    return ContrastDegrees(
        slopes=(relative, *crossed),
        spread=parameter_covariance(evaluation.information, ratios),
        taste=None if tastes is None else crossed[tastes] / ratios[tastes],
        taste_ratio=0.0 if tastes is None else float(ratios[tastes]),
        apart=sum(crossed[len(effects.plain) :], start=np.zeros_like(relative)),
        most=of_tastes,
    )
