"""Breakdowns by a column: does a system fare better on some of the judgments than on others?

`scores` asks the mixed model, `relative` permutes the subsets among documents. Holm corrects for the number of columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.audit.breakdown.relative import Randomness, relative_breakdown
from adjudge.audit.breakdown.scores import score_breakdown
from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.rank.edits_as_scores import as_scores
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.rank.methods import DEFAULTS, METHODS
from adjudge.ranking.estimator import ScoreEstimator, is_relative
from adjudge.results.audit.breakdown import Breakdown, ColumnBreakdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.audit.breakdown.subsets import ColumnTest
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.results.rank import Ranking

__all__ = ["breakdown", "section", "with_breakdown"]

_STREAM = 47


def section(judgments: Judgments, settings: AuditSettings) -> Breakdown:
    """The section of an audit."""
    if not settings.by:
        raise DataError("it needs a column of the judgments, which --by names")
    return breakdown(judgments, settings.by, seed=settings.seed)


def breakdown(judgments: Judgments, by: Sequence[str], *, seed: int = DEFAULT_SEED) -> Breakdown:
    """Every system in every subset by each of the columns, and the test of the interaction.

    Args:
        judgments: of one language pair and campaign, relative or scores (post-edits and verdicts count as scores).
        by: columns of the judgments, or `source_length`.
        seed: of the permutations for relative judgments.
    """
    judgments = as_scores(judgments)
    if is_relative(judgments):
        kind: Literal["relative", "scores"] = "relative"
        tests = _relative(judgments, by, seed)
    else:
        design, table = ScoreEstimator(judgments, check=False).design, judgments.final().table
        kind, tests = "scores", [score_breakdown(design, table, column) for column in by]
    corrected = holm(np.array([test.p for test in tests]))
    columns = tuple(
        ColumnBreakdown(column, test.levels, test.scores, test.p, float(p_holm), test.name, test.unknown)
        for column, test, p_holm in zip(by, tests, corrected, strict=True)
    )
    return Breakdown(columns, METHODS[DEFAULTS[kind]].unit)


def with_breakdown(ranking: Ranking, judgments: Judgments, by: Sequence[str], *, seed: int = DEFAULT_SEED) -> Ranking:
    """The ranking with a breakdown of its judgments; as it is where no column is asked for."""
    if not by:
        return ranking
    settings = {**ranking.settings, "by": ",".join(by)}
    notes = (*ranking.notes, "the breakdown is of human scores alone, without helpers") if ranking.helpers else None
    made = breakdown(judgments, by, seed=seed)
    return replace(ranking, settings=settings, breakdown=made, notes=notes or ranking.notes)


def _relative(judgments: Judgments, by: Sequence[str], seed: int) -> list[ColumnTest]:
    return [
        relative_breakdown(judgments, column, Randomness(generator(seed, _STREAM, number)))
        for number, column in enumerate(by)
    ]
