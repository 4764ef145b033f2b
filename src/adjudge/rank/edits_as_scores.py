"""Post-edits and judgments of acceptability as scores, so that the mixed model ranks them like any others.

A post-edit scores 100 minus its edit rate (HTER) in percent: 100 where nothing was changed, 0 where as many edits were
made as the edition has words, and below where more were. An output that was too bad to correct scores 0. A judgment of
acceptability scores 100 for yes and 0 for no, so that a system's score is the share of acceptable edits in percent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.edit_rates import edit_rate
from adjudge.core.errors import DataError
from adjudge.core.memoise import memoised
from adjudge.core.protocols import EDITED, PROTOCOLS, RELATIVE, SCORED

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

VERDICTS = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.answer == "verdict")
AS_SCORES = "da"
"""The protocol under which the scores count: points that a person gave to one translation."""
UNCHANGED, HOPELESS, UNANSWERED = "OK", "BAD", "N/A"
_EDIT_NOTE = "scores are 100 minus the edit rate (HTER) in percent: 100 where nothing was changed"
_VERDICT_NOTE = "scores are 100 for an acceptable edit and 0 for another: the share of acceptable edits in percent"


def as_scores(judgments: Judgments) -> Judgments:
    """Post-edits, or else judgments of acceptability, as scores; other judgments as they are."""
    protocols = set(judgments.protocols)
    if protocols & {*RELATIVE, *SCORED} or not protocols & {*EDITED, *VERDICTS}:
        return judgments
    return _made_scores(judgments)


@memoised
def _made_scores(judgments: Judgments) -> Judgments:
    """What post-edits, or judgments of acceptability, are as scores: rankings and audits of a report all ask."""
    if set(judgments.protocols) & set(EDITED):
        only = judgments.keep(
            pl.col("protocol").is_in(EDITED), otherwise="judgment of acceptability, beside post-edits"
        )
        return _edits(only.final())
    return _verdicts(judgments.final())


def _verdicts(judgments: Judgments) -> Judgments:
    answered = judgments.keep(pl.col("score").is_not_null(), otherwise="no judgment of acceptability was given")
    points = answered.table.with_columns(pl.col("score") * 100, pl.lit(AS_SCORES).alias("protocol"))
    return replace(answered, table=points, notes=(*answered.notes, _VERDICT_NOTE))


def _edits(judgments: Judgments) -> Judgments:
    if "action" in judgments.table.columns:
        answered = pl.col("action").fill_null(UNANSWERED) != UNANSWERED
        judgments = judgments.keep(answered, otherwise="output that was not edited: no answer was given")
    else:
        judgments = judgments.keep(pl.col("text").is_not_null(), otherwise="output that was not edited")
    table = judgments.table.with_columns(
        pl.lit(AS_SCORES).alias("protocol"), pl.Series("score", _edit_scores(judgments.table), dtype=pl.Float64)
    )
    return replace(judgments, table=table, notes=(*judgments.notes, _EDIT_NOTE))


def _edit_scores(table: pl.DataFrame) -> list[float]:
    actions = table["action"].to_list() if "action" in table.columns else ["EDIT"] * table.height
    outputs = table["target_text"].to_list() if "target_text" in table.columns else [None] * table.height
    scores = []
    for action, edit, output in zip(actions, table["text"].to_list(), outputs, strict=True):
        if action in (UNCHANGED, HOPELESS):
            scores.append(100.0 if action == UNCHANGED else 0.0)
        elif edit is None or output is None:
            needed = "edit rates need the outputs that were edited"
            raise DataError(f"{needed}; give them in a column 'target_text', as adjudge export writes it")
        else:
            scores.append(100 - 100 * edit_rate([edit], [output]))
    return scores
