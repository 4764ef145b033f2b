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

from adjudge.core.errors import DataError
from adjudge.core.inclusion_weights import weights_of
from adjudge.core.integer_codes import renumber
from adjudge.core.memoise import memoised
from adjudge.rank.connected_groups import groups, in_words, number_of_groups
from adjudge.rank.mixed.linking import FACTORS, Linking, link, linked_rows
from adjudge.rank.mixed.models import DEFAULT_MODEL, MODELS, ScoreModel, find_model
from adjudge.rank.mixed.rows import ROW, ranked_rows, scored_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Codes, Floats
    from adjudge.core.judgments import Judgments, SetAside


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

    def __len__(self) -> int:
        return len(self.score)

    @property
    def people(self) -> int:
        """How many annotators are named; 0 where none is."""
        return 0 if self.annotator is None else levels_of(self.annotator) - self.strangers

    def subset(self, rows: NDArray[np.bool_]) -> MixedDesign:
        """The marked rows with the scores fitted as they are; systems without rows are gone."""
        left, system = np.unique(self.system[rows], return_inverse=True)
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
            system=system,
            row=self.row[rows],
            linking=linking,
            weight=None if self.weight is None else self.weight[rows],
            strangers=0,
            **renumbered,
        )

    def with_systems(self, system: Codes, systems: tuple[str, ...], human: NDArray[np.bool_]) -> MixedDesign:
        """The same scores attributed to other systems (for A/A tests); tastes stay those for the real systems."""
        return replace(self, system=system, systems=systems, human=human)

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
        model: a name from `models.MODELS`.
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
