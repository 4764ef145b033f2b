"""The table of a mixed model: one row per score, with integer codes of who judged what. Knows nothing of estimation.

`rows` says which scores take part. Calibration items, which several annotators judged so that their scales can be
compared, are kept apart (`linking`). The codes mean:

`annotator`  the person
`task`       a unit of work as done by one person
`document`   the source document; a segment of unknown document is a document of its own
`segment`    the source segment
`page`       what one annotator saw of one system's translation of one document in one go. Where every screen holds a
             single segment, a page is the annotator's work on that system's translation of that document in one task.
`annotator_system`  what one annotator judged of one system
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.judgments import (
    LEFT_BLANK,
    POSITION,
    Judgments,
    SetAside,
    answers_needed,
    codes_of,
    groups,
    in_words,
    number_of_groups,
    renumber,
    weights_of,
)
from adjudge.table.maths import Bools, Codes, Floats, mean_ranks, memoised, normal_quantile
from adjudge.table.protocols import RATED, SCORED
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


# The models of scores by name: which scores are fitted, whether tastes are in the model, and the unit of the effects.
#
# `mixed`         normal scores with tastes, shown in points: the default
# `mixed-rank`    the same model in its own unit, standard deviations of normal scores
# `mixed-points`  the scores themselves, with tastes
# `mixed-plain`   the scores themselves, without tastes: true for these annotators, not for others
#
# Annotators like some systems more than others do (annotator:system). Without that effect, the tastes of a few people
# pass for the quality of the systems. And annotators use the scale differently, which on the scores themselves looks
# like taste. Normal scores take most of that away:
#
#     z = quantile((rank - 1/2) / n),   ranks among all scores of the language pair, ties sharing their mean rank.
#
# They are put back on the scale of the scores by a straight line, mean(y) + b (z - mean(z)) with b = cov(y, z) /
# var(z), so that effects and errors are in points. `docs/evidence.md` compares the models.


DEFAULT_MODEL = "mixed"


@dataclass(frozen=True)
class ScoreModel:
    """What is fitted, and in which unit."""

    name: str
    taste: bool
    """Whether annotator:system is among the effects."""
    normal: bool
    """Whether normal scores are fitted instead of the scores themselves."""
    points: bool
    """Whether effects are in points; otherwise in standard deviations of normal scores."""

    def fitted_scores(self, score: Floats) -> Floats:
        """What the model is fitted to, for scores as the annotators gave them."""
        if not self.normal:
            return score
        quantile = normal_scores(score)
        if not self.points:
            return quantile
        fitted: Floats = score.mean() + points_per_unit(score, quantile) * (quantile - quantile.mean())
        return fitted


MODELS = {
    model.name: model
    for model in (
        ScoreModel("mixed", taste=True, normal=True, points=True),
        ScoreModel("mixed-rank", taste=True, normal=True, points=False),
        ScoreModel("mixed-points", taste=True, normal=False, points=True),
        ScoreModel("mixed-plain", taste=False, normal=False, points=True),
    )
}


def find_model(name: str) -> ScoreModel:
    """The model of this name."""
    if name not in MODELS:
        raise unknown_choice("model", name, MODELS)
    return MODELS[name]


def normal_scores(score: Floats) -> Floats:
    """The normal quantile of each score's rank among all."""
    return normal_quantile((mean_ranks(score) - 0.5) / len(score))


def points_per_unit(score: Floats, quantile: Floats) -> float:
    """The slope of scores on their normal scores: what a standard deviation of normal scores is worth in points."""
    centred = quantile - quantile.mean()
    spread = float(centred @ centred)
    return float((score - score.mean()) @ centred) / spread if spread > 0 else 1.0


# The scores that take part in a mixed model.
#
# Rows of the kinds `system` and `repeat` do; controls (references, degraded items) do not, because as extra systems
# they would widen every error. Nor do annotators who failed the control or never moved the slider, nor copies: where
# everyone gave every output the same score, one row of each output says all.


CONSTANT_SCORES = 20
"""Annotators with so many scores, of several systems and all equal, are left out (z-scores leave them out as well)."""
ROW = "row in the table of last revisions"
COPIES = "everyone gave the same output the same score: copies"


def scored_rows(judgments: Judgments) -> Judgments:
    """All scores of annotators who use the scale, controls among them."""
    last = judgments.final()
    numbered = replace(last, table=last.table.with_row_index(ROW))
    scores = numbered.select(pl.col("protocol").is_in(SCORED) | LEFT_BLANK)
    return _without_constant_annotators(scores.keep(pl.col("score").is_not_null(), otherwise="no score was given"))


def ranked_rows(judgments: Judgments, scored: Judgments) -> Judgments:
    """The scores of outputs that are ranked."""
    calibration = pl.col("kind") == "calibration"
    used = scored.keep(
        pl.col("kind").is_in(RATED) | calibration, otherwise="control or tutorial items, not outputs to rank"
    )
    used = used.keep(~calibration, otherwise="calibration items: they link the annotators and count for no system")
    if used.table.schema.get("passed") == pl.Boolean:
        used = used.keep(pl.col("passed").fill_null(value=True), otherwise="the annotator did not pass the control")
    if len(used) == 0:
        raise _nothing_to_rank(judgments, scored)
    return _without_copies(used)


def _without_copies(used: Judgments) -> Judgments:
    """One row of each output, where everyone gave every output the same score: the others say it again.

    Such annotators are copies of each other, or of a score that they agreed upon; the residual would be empty.
    """
    output = ["system", "document", "segment"]
    scores = used.table.group_by(output).agg(pl.col("score").n_unique())
    if used.table["segment"].null_count() or scores.height == len(used) or scores["score"].max() != 1:
        return used
    return used.keep(pl.int_range(pl.len()).over(output) == 0, otherwise=COPIES)


def _nothing_to_rank(judgments: Judgments, scored: Judgments) -> DataError:
    """Why no row is left: what the data hold instead."""
    kinds = scored.table["kind"].unique().sort().to_list()
    if not kinds:
        return answers_needed("scores of systems", judgments, "choose a method for rankings")
    if "calibration" in kinds:
        return DataError("the data hold calibration items only; read them together with the campaign's other judgments")
    if set(kinds) & set(RATED):
        return DataError("no annotator passed the control, so no score is left; look at them with adjudge check")
    return DataError(f"the data hold controls only ({', '.join(kinds)}) and no output to rank; read the other rows too")


def _without_constant_annotators(scored: Judgments) -> Judgments:
    """Leave out annotators who never move the slider: they compare nothing, and have no place on the others' scale."""
    varied = (
        (pl.col("score").n_unique().over("annotator") > 1)
        | (pl.len().over("annotator") < CONSTANT_SCORES)
        | (pl.col("system").n_unique().over("annotator") == 1)
        | pl.col("annotator").is_null()
    )
    kept = scored.keep(varied, otherwise="the annotator gave one and the same score throughout")
    return kept if len(kept) else scored


# Calibration items in the mixed model: what several annotators judged tells how strict each of them is.
#
# They say nothing of the systems' quality, because someone chose them: in the equations their outputs are those of
# further systems, one for each system shown, whose effects nobody asks for. Annotators and their tastes are the same as
# elsewhere, so that two people who never judged the same system can still be compared.


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
            apart=None if design.apart is None else np.append(design.apart, self._apart(design.parted)),
            **codes,
        )

    def _apart(self, parted: tuple[str, ...]) -> Codes:
        """The place of each item's system among those parted, from 1."""
        place = {name: number for number, name in enumerate(parted, start=1)}
        return np.array([place.get(name, 0) for name in self.systems], dtype=np.int64)[self.system]

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


ALMOST_ALL = 0.98
"""A partition this close to "every row by itself" (or to another one) cannot be told from it."""


@dataclass(frozen=True, eq=False)
class MixedDesign:
    """Scores and codes. A code is None where the data say nothing of it; codes run from 0 without gaps.

    `score` is what the model is fitted to, `given` the scores as the annotators gave them (the same if left out).
    `row` is the row of each score in the table of last revisions (`Judgments.final`).
    """

    score: Floats
    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    system: Codes
    annotator: Codes | None
    task: Codes | None
    document: Codes | None
    segment: Codes | None
    page: Codes | None
    row: Codes
    set_aside: tuple[SetAside, ...] = ()
    annotator_system: Codes | None = None
    model: ScoreModel = MODELS["mixed-plain"]
    given: Floats | None = None
    linking: Linking | None = None
    """Calibration items: they link the annotators, and count for no system."""
    weight: Floats | None = None
    """1 / probability of each row's segment, where segments were chosen with unequal ones."""
    strangers: int = 0
    """Annotators that stand for scores without a name; parts of a design do not tell them from others."""
    parted: tuple[str, ...] = ()
    """Systems over which people part more than over others, so that tastes for them have a variance of their own."""
    apart: Codes | None = None
    """The place of each row's system among them, from 1; 0 for all others."""

    def __len__(self) -> int:
        return len(self.score)

    @property
    def people(self) -> int:
        """How many annotators are named; 0 where none is."""
        return 0 if self.annotator is None else levels_of(self.annotator) - self.strangers

    def subset(self, rows: NDArray[np.bool_]) -> MixedDesign:
        """The marked rows with the scores fitted as they are; systems without rows are gone."""
        left = np.flatnonzero(np.bincount(self.system[rows]))
        codes: dict[str, Any] = {name: getattr(self, name) for name in FACTORS}
        linking = None if self.linking is None else self.linking.part(linked_rows(self, rows), codes, rows)
        renumbered: dict[str, Any] = {
            name: None if code is None else renumber(code[rows]) for name, code in codes.items()
        }
        return replace(
            self,
            score=self.score[rows],
            given=None if self.given is None else self.given[rows],
            systems=tuple(self.systems[i] for i in left),
            human=self.human[left],
            system=renumber(self.system[rows]),
            row=self.row[rows],
            linking=linking,
            weight=None if self.weight is None else self.weight[rows],
            strangers=0,
            apart=None if self.apart is None else self.apart[rows],
            **renumbered,
        )

    def with_systems(self, system: Codes, systems: tuple[str, ...], human: NDArray[np.bool_]) -> MixedDesign:
        """The same scores attributed to other systems (for A/A tests); tastes stay those for the real systems."""
        return replace(self, system=system, systems=systems, human=human)

    def parting(self, system: str) -> MixedDesign:
        """The same scores with a variance of its own for tastes for this system, as for those parted before."""
        apart = np.zeros(len(self), dtype=np.int64) if self.apart is None else self.apart.copy()
        apart[self.system == self.systems.index(system)] = len(self.parted) + 1
        return replace(self, parted=(*self.parted, system), apart=apart)

    def with_scores(self, score: Floats) -> MixedDesign:
        """The same judgments with other scores, as if the annotators had given these."""
        return _with_fitted_scores(replace(self, given=score))

    def with_model(self, model: str) -> MixedDesign:
        """The same judgments for another model."""
        return _with_fitted_scores(replace(self, model=find_model(model), given=self.as_given))

    @property
    def as_given(self) -> Floats:
        """The scores as the annotators gave them."""
        return self.score if self.given is None else self.given

    def stacked(self) -> MixedDesign:
        """One table of all rows: calibration items follow, as outputs of systems of their own."""
        if self.linking is None:
            return self
        return self.linking.below(self)

    def check(self) -> None:
        """Refuse what no model can answer."""
        if len(self.systems) < 2:
            held = ", ".join(self.systems) or "no system"
            raise DataError(f"at least two systems are needed for a ranking, the data hold {held}; nothing to compare")
        if len(self) <= len(self.systems):
            raise DataError(
                f"{len(self)} scores for {len(self.systems)} systems are too few to estimate variation; collect more"
            )
        if np.ptp(self.as_given) == 0:
            raise DataError(
                f"every score is {self.as_given[0]:g}, so systems cannot be compared; check the score column"
            )
        _check_connected(self.stacked())


@memoised
def design_from(judgments: Judgments, *, model: str = DEFAULT_MODEL) -> MixedDesign:
    """The table of a model: the last revision of every scored judgment that counts.

    Args:
        judgments: scores of one language pair and campaign.
        model: a name from `MODELS`.
    """
    chosen = find_model(model)
    scored = scored_rows(judgments)
    used = ranked_rows(judgments, scored)
    shared = used.table["annotator"].unique()
    calibration = scored.table.filter(
        (pl.col("kind") == "calibration") & pl.col("annotator").is_in(shared.drop_nulls().implode())
    )
    coded = _coded(pl.concat([used.table, calibration]), used.set_aside)
    linked = link(replace(coded, model=chosen, given=coded.score), used.table.height)
    return _with_fitted_scores(replace(linked, weight=weights_of(used.table)))


def _with_fitted_scores(design: MixedDesign) -> MixedDesign:
    """With the scores that the model is fitted to; calibration items take part in ranks among all scores."""
    given, linking = design.as_given, design.linking
    if linking is None:
        return replace(design, score=design.model.fitted_scores(given))
    fitted = design.model.fitted_scores(np.append(given, linking.given))
    return replace(design, score=fitted[: len(given)], linking=replace(linking, score=fitted[len(given) :]))


def _coded(table: pl.DataFrame, set_aside: tuple[SetAside, ...]) -> MixedDesign:
    """Codes of every column. What is partly unknown is filled so that no two strangers become one where that is known.

    An annotator without a name is one person per task; a segment without a document is a document of its own; a
    judgment of a document without a segment is a judgment of the whole.
    """
    raw = {name: _base(table[name]) for name in ("annotator", "task", "document", "segment", "screen")}
    annotator = _filled(raw["annotator"], raw["task"], np.zeros(table.height, dtype=np.int64))
    document = _filled(raw["document"], raw["segment"], np.arange(table.height))
    systems = table["system"].unique().sort()
    system = systems.search_sorted(table["system"]).cast(pl.Int64).to_numpy()
    seen = [system] + [codes for name, codes in (("document", document),) if _known(raw[name])]
    shown = combine(annotator, raw["task"], *seen)
    screens = _known(raw["screen"])
    return MixedDesign(
        score=table["score"].to_numpy(),
        systems=tuple(systems.to_list()),
        human=table.group_by("system").agg(pl.col("human").any()).sort("system")["human"].to_numpy(),
        system=system,
        annotator=renumber(annotator) if _known(raw["annotator"]) else None,
        task=combine(annotator, raw["task"]) if _known(raw["task"]) else None,
        document=renumber(document) if _known(raw["document"]) else None,
        segment=combine(document, raw["segment"]) if _known(raw["segment"]) else None,
        page=_page(shown, combine(shown, raw["screen"]) if screens else None) if screens or len(seen) > 1 else None,
        annotator_system=combine(annotator, system) if _known(raw["annotator"]) else None,
        row=table[ROW].cast(pl.Int64).to_numpy(),
        set_aside=set_aside,
        strangers=len(np.unique(annotator[raw["annotator"] < 0])),
    )


def _base(column: pl.Series) -> Codes:
    """Codes of a column, -1 where it is null."""
    return column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1


def _known(codes: Codes) -> bool:
    return bool((codes >= 0).any())


def _filled(codes: Codes, other: Codes, last: Codes) -> Codes:
    """Where codes are unknown, a stranger for each level of `other`; where that is unknown too, one for each `last`."""
    strangers = np.where(other >= 0, other, levels_of(other) + last)
    return np.where(codes >= 0, codes, levels_of(codes) + strangers)


def combine(*codes: Codes) -> Codes:
    """The partition in which two rows are together where all codes agree; an unknown code (-1) counts as a level."""
    combined = codes[0] + 1
    for other in codes[1:]:
        combined = renumber(combined * (levels_of(other) + 1) + other + 1)
    return renumber(combined)


def _page(shown: Codes, screens: Codes | None) -> Codes:
    """The screens, unless nearly every screen holds a single row: then they say nothing of what was seen together."""
    if screens is None:
        return shown
    return screens if levels_of(screens) < ALMOST_ALL * len(screens) else shown


def levels_of(codes: Codes) -> int:
    """The number of levels of codes without gaps."""
    return int(codes.max(initial=-1)) + 1


def _check_connected(design: MixedDesign) -> None:
    """Systems that share no annotator, task, document or segment with the others have no common scale."""
    several = [codes for codes in (design.annotator, design.task, design.document, design.segment) if codes is not None]
    if not several or number_of_groups(design.system, several[0], len(design.systems)) == 1:
        return
    # The levels of all effects as those of one.
    before = np.cumsum([0, *(levels_of(codes) for codes in several[:-1])])
    levels = np.concatenate([codes + start for codes, start in zip(several, before, strict=True)])
    apart = groups(np.tile(design.system, len(several)), levels, len(design.systems))
    if len(apart) > 1:
        listed = in_words(apart, design.systems)
        raise DataError(
            f"the systems fall into {len(apart)} groups that share no annotator, task, document or segment: {listed}; "
            "rank each group alone, or collect judgments that connect them"
        )


# Screens that show several systems, as in contrastive evaluation.


@dataclass(frozen=True, eq=False)
class Screens:
    """On which screen with several systems each row of a design stood, and where."""

    screen: Codes
    """-1 where the screen shows one system, or is not known."""
    position: Floats | None
    """NaN where it is not known; None where it is known of no row."""


def screens_of(judgments: Judgments, design: MixedDesign) -> Screens | None:
    """The screens with several systems; None where there are none, or where segments are weighted."""
    table = judgments.final().table
    if design.weight is not None or table["screen"].null_count() == table.height:
        return None
    rows = table[design.row]
    screen = codes_of(rows, ["annotator", "task", "screen", "document"])[0]
    shown = combine(screen, design.system)
    owner = np.empty(levels_of(shown), dtype=np.int64)
    owner[shown] = screen
    several = (np.bincount(owner)[screen] > 1) & rows["screen"].is_not_null().to_numpy()
    return Screens(np.where(several, screen, -1), _positions(rows, several)) if several.any() else None


def _positions(rows: pl.DataFrame, several: Bools) -> Floats | None:
    """The place of each output on its screen, where places differ."""
    if POSITION not in rows.columns:
        return None
    place = rows[POSITION].cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    place = np.where(several, place, np.nan)
    known = place[~np.isnan(place)]
    return place if len(known) and np.ptp(known) > 0 else None
