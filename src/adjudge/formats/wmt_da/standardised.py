"""Standardised scores turned back into the scores that people gave: raw = z * sd + mean of the worker.

Workers whose scores have no spread cannot be standardised, so their judgments are missing from such files although
they count in the official raw means. Where the segment means lie beside, those judgments are put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.wording import agreeing, counted
from adjudge.formats.parsing.bad_rows import SCORE_SCALE

if TYPE_CHECKING:
    from pathlib import Path

# Raw scores are whole numbers; the files print z with 15 digits, so undone scores miss them by 1e-12 at most.
_WHOLE = 1e-9
# The files print means with 7 digits.
_SAME_MEAN = 1e-4


def undo(rows: pl.DataFrame, means: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[str]]:
    """The rows with raw scores, and notes on what did not come out as it should."""
    joined = rows.join(means, on="annotator", how="left", maintain_order="left")
    unknown = joined.filter(pl.col("mean").is_null() | pl.col("sd").is_null())
    if unknown.height:
        who, line = unknown["annotator"][0], unknown["line"][0]
        problem = f"the file of means has no mean and spread for worker '{who}'; the files do not belong together"
        raise InputError(problem, file=path, line=line)
    exact = pl.col("score") * pl.col("sd") + pl.col("mean")
    joined = joined.with_columns(exact.alias("exact"), exact.round().alias("whole"))
    deviation = joined.select((pl.col("exact") - pl.col("whole")).abs().alias("deviation"))["deviation"]
    score = pl.when((pl.col("exact") - pl.col("whole")).abs() <= _WHOLE).then("whole").otherwise("exact")
    joined = joined.with_columns(score.alias("score"))
    low, high = SCORE_SCALE
    outside = joined.filter((pl.col("score") < low - _WHOLE) | (pl.col("score") > high + _WHOLE))
    if outside.height:
        value, line = outside["score"][0], outside["line"][0]
        problem = f"the score is {value:g} once standardisation is undone, outside 0 to 100; check the file of means"
        raise InputError(problem, file=path, line=line)
    notes = []
    if broken := int((deviation > _WHOLE).sum()):
        largest = float(str(deviation.max()))
        are = agreeing(broken, "is", "are")
        problem = f"{broken} of {counted(len(deviation), 'score')} {are} not whole once standardisation is undone"
        notes.append(f"{path.name}: {problem} (off by up to {largest:.2g}); the means may be of another version")
    notes += _changed_means(joined, path)
    return joined.drop("mean", "sd", "exact", "whole"), notes


def _changed_means(joined: pl.DataFrame, path: Path) -> list[str]:
    """A note where a worker's mean is not that of the rows: then the file lacks some of the worker's judgments."""
    own_judgments = joined.filter(~pl.col("copy")).group_by("annotator")
    workers = own_judgments.agg(pl.col("score").mean(), pl.col("mean").first())
    differing = workers.filter((pl.col("score") - pl.col("mean")).abs() > _SAME_MEAN).height
    if not differing:
        return []
    problem = f"the released means of {differing} of {workers.height} workers are not those of their judgments here"
    return [f"{path.name}: {problem}; z-scores will differ from the released ones"]


def restore_constant_workers(
    rows: pl.DataFrame, segments: pl.DataFrame, means: pl.DataFrame, good: frozenset[str] | None, path: Path
) -> tuple[pl.DataFrame, list[str]]:
    """The judgments that the segment means count but the rows lack, and a note about them.

    Args:
        rows: the judgments at hand, raw.
        segments: the released segment means and counts.
        means: every worker's mean and spread.
        good: the workers who passed, where that is known.
        path: the file of the segment means.
    """
    missing = _find_lacking(rows, segments)
    if not missing.height:
        return rows.clear(), []
    constant = _workers_without_spread(means, good, frozenset(rows["annotator"].unique()))
    explained = missing.filter(pl.col("score").is_in(constant["mean"].to_list()))
    total, back = int(missing["copies"].sum()), int(explained["copies"].sum())
    put_back, are = counted(back, "judgment"), agreeing(back, "is", "are")
    notes = [f"{path.name}: {put_back} of workers without spread {are} put back from the segment means"]
    if total > back:
        lost, are = counted(total - back, "judgment"), agreeing(total - back, "is", "are")
        notes.append(f"{path.name}: {lost} that the segment means count {are} in no file")
    restored = explained.select(pl.exclude("copies").repeat_by("copies").explode())
    restored = restored.with_columns(
        _who_gave(restored["score"], constant),
        pl.lit("system").alias("kind"),
        pl.lit(value=True).alias("passed"),
        pl.lit(value=False).alias("copy"),
    )
    return pl.concat([rows.clear(), restored], how="diagonal"), notes if back else notes[1:]


def _find_lacking(rows: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """Segments with fewer rows than the released means count: how many are lacking, and their mean score."""
    scored = rows.filter(pl.col("kind").is_in(["system", "repeat"])).group_by("system", "sid")
    counts_here = scored.agg(pl.len().alias("here"), pl.col("score").sum().alias("sum"))
    joined = segments.join(counts_here, on=["system", "sid"], how="left")
    joined = joined.with_columns(pl.col("here", "sum").fill_null(0))
    lacking = (pl.col("n") - pl.col("here")).cast(pl.Int64)
    value = ((pl.col("score") * pl.col("n") - pl.col("sum")) / (pl.col("n") - pl.col("here"))).round(6)
    return joined.filter(pl.col("n") > pl.col("here")).select(
        "source_lang", "target_lang", "system", "sid", value.alias("score"), lacking.alias("copies")
    )


def _workers_without_spread(means: pl.DataFrame, good: frozenset[str] | None, seen: frozenset[str]) -> pl.DataFrame:
    """Workers whose scores cannot be standardised, with the score that they always gave."""
    constant = means.filter((pl.col("sd").is_null() | (pl.col("sd") == 0)) & ~pl.col("annotator").is_in(seen))
    return constant if good is None else constant.filter(pl.col("annotator").is_in(good))


def _who_gave(scores: pl.Series, constant: pl.DataFrame) -> pl.Series:
    """The worker who always gave that score, where it is one worker only."""
    single = constant.group_by("mean").agg(pl.len(), pl.col("annotator").first()).filter(pl.col("len") == 1)
    named = scores.replace_strict(single["mean"], single["annotator"], default=None, return_dtype=pl.String)
    return named.alias("annotator")
