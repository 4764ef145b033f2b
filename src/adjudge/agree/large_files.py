"""Agreement in a large table: all judgments of some segments are read at a time, and sums of them are kept.

What is left out because the table is large, the result says.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adjudge.agree.large_file_sums import (
    ScoreSums,
    added_sums,
    correlations_of,
    inter_alpha,
    patterns_of,
    score_sums,
)
from adjudge.agree.options import notes_on, over_resamples, percentile_interval
from adjudge.agree.score_cells import score_cells, usable_scores
from adjudge.agree.scores import (
    RepeatSums,
    annotators_of_scores,
    mean_correlations,
    mean_repeat_correlation,
    typical_difference,
)
from adjudge.core.errors import DataError
from adjudge.formats.native.large_files import PartRecord, large_table, record_of
from adjudge.results.agree import PARTS, Agreement, Coefficients
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.agree.options import AgreeOptions
    from adjudge.formats.native.large_files import LargeTable, PartFile
    from adjudge.formats.options import ReadOptions

LEFT_OUT = (
    "the table is very large, so it was read some segments at a time: Spearman's correlations between annotators were "
    "left out"
)
NO_PAIRS = (
    "so many people judged the same that annotators were not compared two by two: there are no correlations between "
    "annotators, and no interval of their alpha"
)
# Around the middle of the scale, squares lose few digits.
CENTRE = 50.0


class _Seen(NamedTuple):
    """What was seen in a part."""

    sums: dict[str, ScoreSums]
    record: PartRecord


def agree_large_file(path: Path, options: AgreeOptions, reading: ReadOptions) -> Agreement | None:
    """Agreement on the scores of a large judgment table in CSV or Parquet; None where it must be read whole."""
    with large_table(path, ("document", "segment"), reading) as table:
        if table is None or table.is_relative or options.texts is not None:
            return None
        seen = map_tasks(partial(_see, table.annotators), table.parts, what="segments")
        known = [part for part in seen if part is not None]
        return _agreement(table, known, options) if len(known) == len(seen) else None


def _see(annotators: tuple[str, ...], part: PartFile) -> _Seen | None:
    read = part.read()
    if read is None:
        return None
    usable = usable_scores(read.judgments)
    cells = score_cells(usable, annotators=annotators, centre=CENTRE)
    sums = dict(zip(PARTS, map(score_sums, (cells, cells.where(~cells.human))), strict=True))
    return _Seen(sums, replace(read.record, set_aside=usable.set_aside))


def _agreement(table: LargeTable, seen: list[_Seen], options: AgreeOptions) -> Agreement:
    sums = {name: added_sums([part.sums[name] for part in seen]) for name in PARTS}
    number = sums["all"].annotators[0]
    if not number.any():
        raise DataError("no judgment has a score, an annotator and a segment; agreement needs all three")
    weights = options.draws(np.flatnonzero(number), len(number))
    inter = {name: _inter(part, weights) for name, part in sums.items()}
    intra = {name: _intra(part, weights) for name, part in sums.items()}
    set_aside, notes = record_of([part.record for part in seen])
    tables = sums["all"].tables
    told = (LEFT_OUT, NO_PAIRS) if tables is None else (LEFT_OUT,)
    return Agreement(
        settings={"kind": "scores", "resamples": options.resamples, "seed": options.seed},
        data=table.fingerprint,
        set_aside=set_aside,
        notes=(*notes, *notes_on(inter["all"].pairs, intra["all"].pairs, int(np.count_nonzero(number))), *told),
        kind="scores",
        inter=inter,
        intra=intra,
        annotators=annotators_of_scores(
            table.annotators, sums["all"].annotators, None if tables is None else correlations_of(tables)
        ),
    )


def _inter(sums: ScoreSums, weights: NDArray[np.float64] | None) -> Coefficients:
    """What is said of scores by different people, as `score_coefficients` says it."""
    pairs, items, distance = sums.inter[:3]
    interval = {}
    if sums.tables is not None and weights is not None:
        alphas = over_resamples(patterns_of(sums.tables, weights.shape[1]).alpha, weights)
        interval = {"alpha": percentile_interval(alphas)}
    correlation = None if sums.tables is None else correlations_of(sums.tables)
    return Coefficients(
        pairs=int(pairs),
        items=int(items),
        alpha=inter_alpha(sums),
        interval=interval,
        numbers={"difference": typical_difference(distance, pairs), **mean_correlations(correlation)},
    )


def _intra(sums: ScoreSums, weights: NDArray[np.float64] | None) -> Coefficients:
    """What is said of repeats."""
    pairs, items, distance = sums.intra
    repeats = RepeatSums(sums.repeats)
    once = np.ones((1, sums.repeats.shape[1]))
    return Coefficients(
        pairs=int(pairs),
        items=int(items),
        alpha=float(repeats.alpha(once)[0]),
        interval={} if weights is None else {"alpha": percentile_interval(over_resamples(repeats.alpha, weights))},
        numbers={
            "difference": typical_difference(distance, pairs),
            **mean_repeat_correlation(sums.annotators[2:6]),
        },
    )
