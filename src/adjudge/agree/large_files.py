"""Agreement in a large table: all judgments of some segments are read at a time, and sums of them are kept.

What is left out because the table is large, the result says.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adjudge.agree.large_file_sums import (
    PairTables,
    ScoreSums,
    StoredTables,
    added_sums,
    added_tables,
    correlations_of,
    inter_alpha,
    patterns_of,
    score_sums,
    store_tables,
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
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.agree.options import AgreeOptions
    from adjudge.formats.native.large_files import LargeTable, PartFile
    from adjudge.formats.options import ReadOptions

LEFT_OUT = "the table is very large, so it was read in parts: Spearman's correlations between annotators were left out"
NO_PAIRS = (
    "too many people judged the same items to compare them two by two: correlations between annotators and the "
    "interval of alpha were left out"
)
# Around the middle of the scale, squares lose few digits.
CENTRE = 50.0


class _Seen(NamedTuple):
    """What was seen in a part."""

    sums: dict[str, ScoreSums]
    """Those without references are left out where there is no reference."""
    tables: dict[str, StoredTables | None]
    record: PartRecord


class _Total(NamedTuple):
    """What all parts show together."""

    sums: ScoreSums
    tables: PairTables | None


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
    every = score_cells(usable, annotators=annotators, centre=CENTRE)
    cells = dict(zip(PARTS, (every, every.where(~every.human)), strict=True))
    different = {name: chosen for name, chosen in cells.items() if name == PARTS[0] or chosen is not every}
    return _Seen(
        {name: score_sums(chosen) for name, chosen in different.items()},
        {name: store_tables(chosen, part.kept_file(name)) for name, chosen in different.items()},
        replace(read.record, set_aside=usable.set_aside),
    )


def _totals(seen: Sequence[_Seen]) -> dict[str, _Total]:
    """All parts together; twice the same object where there is no reference."""
    totals: dict[str, _Total] = {}
    for name in PARTS:
        if not any(name in part.sums for part in seen):
            totals[name] = totals[PARTS[0]]
            continue
        names = [name if name in part.sums else PARTS[0] for part in seen]
        sums = added_sums([part.sums[held] for part, held in zip(seen, names, strict=True)])
        tables = added_tables([part.tables[held] for part, held in zip(seen, names, strict=True)])
        totals[name] = _Total(sums, tables)
    return totals


def _agreement(table: LargeTable, seen: list[_Seen], options: AgreeOptions) -> Agreement:
    totals = _totals(seen)
    whole, without = (totals[name] for name in PARTS)
    number = whole.sums.annotators[0]
    if not number.any():
        raise DataError("no judgment has a score, an annotator and a segment (or document); agreement needs all three")
    weights = options.draws(np.flatnonzero(number), len(number))
    inter, intra = _inter(whole, weights), _intra(whole.sums, weights)
    set_aside, notes = record_of([part.record for part in seen])
    left_out_notes = (LEFT_OUT, NO_PAIRS) if whole.tables is None else (LEFT_OUT,)
    return Agreement(
        settings={"kind": "scores", "resamples": options.resamples, "seed": options.seed},
        data=table.fingerprint,
        set_aside=set_aside,
        notes=(*notes, *notes_on(inter.pairs, intra.pairs, int(np.count_nonzero(number))), *left_out_notes),
        kind="scores",
        inter=dict(zip(PARTS, (inter, inter if without is whole else _inter(without, weights)), strict=True)),
        intra=dict(zip(PARTS, (intra, intra if without is whole else _intra(without.sums, weights)), strict=True)),
        annotators=annotators_of_scores(
            table.annotators, whole.sums.annotators, None if whole.tables is None else correlations_of(whole.tables)
        ),
    )


def _inter(total: _Total, weights: NDArray[np.float64] | None) -> Coefficients:
    """What is said of scores by different people, as `score_coefficients` says it."""
    pairs, items, distance = total.sums.inter[:3]
    interval = {}
    if total.tables is not None and weights is not None:
        alphas = over_resamples(patterns_of(total.tables, weights.shape[1]).alpha, weights)
        interval = {"alpha": percentile_interval(alphas, weights)}
    correlation = None if total.tables is None else correlations_of(total.tables)
    return Coefficients(
        pairs=int(pairs),
        items=int(items),
        alpha=inter_alpha(total.sums),
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
        interval={}
        if weights is None
        else {"alpha": percentile_interval(over_resamples(repeats.alpha, weights), weights)},
        numbers={
            "difference": typical_difference(distance, pairs),
            **mean_repeat_correlation(sums.annotators[2:6]),
        },
    )
