"""The scores that take part in a mixed model.

Rows of the kinds `system` and `repeat` do; controls (references, degraded items) do not, because as extra systems they
would widen every error. Nor do annotators who failed the control or never moved the slider, nor copies: where everyone
gave every output the same score, one row of each output says all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.comparisons import LEFT_BLANK, answers_needed
from adjudge.core.errors import DataError
from adjudge.core.protocols import RATED, SCORED

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


CONSTANT_SCORES = 20
"""Annotators with so many scores, of several systems and all equal, are left out (z-scores leave them out as well)."""
ROW = "row in the table of last revisions"
COPIES = "everyone gave the same output the same score: copies"


def rows_of_the_model(judgments: Judgments) -> Judgments:
    """The judgments that take part in the model, row for row as in its design."""
    return ranked_rows(judgments, scored_rows(judgments))


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
