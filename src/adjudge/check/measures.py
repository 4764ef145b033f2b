"""What the judgments of annotators show: controls, repeats, pace, runs of equal answers, drifts. Nothing is decided.

Repeats are those within tasks, or, where nobody got any, those across tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.check.consistency import drifts, same_texts
from adjudge.check.control_pairs import control_p, control_pairs, repeat_pairs
from adjudge.core.comparisons import no_answer
from adjudge.core.judgments import SetAside
from adjudge.core.protocols import EDITED, KINDS, RELATIVE
from adjudge.results.check import AnnotatorCheck

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments
    from adjudge.results.check import Drift, SameText

_CONTROLS = tuple(kind.name for kind in KINDS.values() if kind.control or not kind.judged)
"""Kinds of outputs whose answers are no judgments of systems, as exports and the organisers' page count them."""


@dataclass(frozen=True)
class Measured:
    """What was seen of all annotators; nothing is decided yet."""

    annotators: tuple[AnnotatorCheck, ...]
    kinds: pl.DataFrame
    """Columns annotator, kind, len: all judgments, those of nobody known among them; without blank rows."""
    released: frozenset[str]
    """Who passed the control of the release."""
    same_texts: tuple[SameText, ...]
    drifts: tuple[Drift, ...]


def measure(final: Judgments, test: str) -> Measured:
    """What the judgments, in their last revision, show of their annotators.

    Args:
        final: all judgments.
        test: on controls.
    """
    within = repeat_pairs(final, within_tasks=True)
    repeats = _by_annotator(within if within.height else repeat_pairs(final, within_tasks=False))
    controls = _by_annotator(control_pairs(final))
    marked = final.table.schema.get("passed") == pl.Boolean
    released = final.table.filter(pl.col("passed"))["annotator"].drop_nulls().unique() if marked else ()
    kinds = final.table.filter(~no_answer(final.table)).group_by("annotator", "kind").len()
    return Measured(
        tuple(
            _measured(row, controls.get(row["annotator"]), repeats.get(row["annotator"]), test)
            for row in _counts(final, kinds, timed=_is_timed(final)).iter_rows(named=True)
        ),
        kinds,
        frozenset(released),
        same_texts(final),
        drifts(final),
    )


def without_answers(final: Judgments) -> tuple[SetAside, ...]:
    """What was set aside of the judgments, and the rows that hold no answer."""
    held = set(final.protocols)
    what = "score" if not held else "rank" if held <= {*RELATIVE} else "post-edit" if held <= {*EDITED} else "score"
    rows = final.table.select(no_answer(final.table).sum()).item()
    return (*final.set_aside, *[SetAside(f"no {what} was given", rows)] * bool(rows))


def _is_timed(final: Judgments) -> bool:
    """Whether time was measured at all: where it is 0 everywhere, it was not."""
    answered = final.table["score"].is_not_null() | final.table["rank"].is_not_null()
    return bool((final.table["active_seconds"].filter(answered).fill_null(0) > 0).any())


_Pairs = dict[str, tuple["Floats", "Floats"]]


def _by_annotator(pairs: pl.DataFrame) -> _Pairs:
    grouped = pairs.drop_nulls("annotator").group_by("annotator").agg("genuine", "control")
    return {
        name: (genuine.to_numpy(), control.to_numpy())
        for name, genuine, control in zip(grouped["annotator"], grouped["genuine"], grouped["control"], strict=True)
    }


def _counts(judgments: Judgments, kinds: pl.DataFrame, *, timed: bool) -> pl.DataFrame:
    # Work that was rejected may be so because it was left blank.
    columns = {"tasks": pl.col("task").filter(~no_answer(judgments.table)).n_unique()}
    columns["rejected"] = pl.lit(value=False)
    if judgments.table.schema.get("rejected") == pl.Boolean:
        columns["rejected"] = pl.col("rejected").fill_null(value=False).any()
    by_kind = kinds.group_by("annotator").agg(
        pl.col("len").sum().alias("judgments"),
        pl.col("len").filter(pl.col("kind").is_in(_CONTROLS)).sum().alias("controls"),
    )
    return (
        judgments.table.group_by("annotator")
        .agg(**columns)
        .drop_nulls("annotator")
        .join(by_kind, on="annotator")
        .join(_pace(judgments, timed=timed), on="annotator", how="left")
        .sort("annotator")
    )


def _pace(judgments: Judgments, *, timed: bool) -> pl.DataFrame:
    """Columns annotator, seconds (median), timed and active (for the mean), constant (longest run of equal answers).

    Runs follow the order of the rows, which is that of showing in every format that knows it. Time that is 0 everywhere
    was not measured.
    """
    answer = pl.coalesce(pl.col("score"), pl.col("rank").cast(pl.Float64))
    ordered = judgments.table.select("annotator", "active_seconds", answer=answer).drop_nulls("answer")
    time = pl.col("active_seconds")
    seconds = ordered.group_by("annotator").agg(
        time.median().alias("seconds"),
        (time.count() if timed else pl.lit(0)).alias("timed"),
        time.sum().alias("active"),
    )
    return seconds.join(_longest_runs(ordered), on="annotator", nulls_equal=True)


def _longest_runs(ordered: pl.DataFrame) -> pl.DataFrame:
    """Columns annotator and constant: by annotator, the longest run of equal answers."""
    # Rows of others may stand between those of one person.
    ordered = ordered.sort("annotator", maintain_order=True)
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in ("annotator", "answer"))
    starts = ordered.select(differs).to_series().to_numpy().copy()
    starts[:1] = True
    first = np.flatnonzero(starts)
    lengths = np.diff(first, append=ordered.height)
    runs = ordered.select(pl.col("annotator").gather(first)).with_columns(constant=pl.Series(lengths))
    return runs.group_by("annotator").agg(pl.col("constant").max())


def _measured(
    row: dict[str, object], controls: tuple[Floats, Floats] | None, repeats: tuple[Floats, Floats] | None, test: str
) -> AnnotatorCheck:
    p_controls = control_p(test, *controls) if controls else None
    return AnnotatorCheck(
        annotator=str(row["annotator"]),
        judgments=_number(row["judgments"]),
        tasks=_number(row["tasks"]),
        p_controls=p_controls,
        control_pairs=len(controls[0]) if controls else 0,
        control_difference=float((controls[0] - controls[1]).mean()) if controls else None,
        p_repeats=control_p("paired-t-two-sided", *repeats) if repeats else None,
        repeat_pairs=len(repeats[0]) if repeats else 0,
        repeat_difference=float(np.abs(repeats[0] - repeats[1]).mean()) if repeats else None,
        seconds=None if row["seconds"] is None else float(str(row["seconds"])),
        mean_seconds=_mean_seconds(row),
        constant=_number(row["constant"]),
        controls=_number(row["controls"]),
        rejected=bool(row["rejected"]),
        passed=True,
        reasons=(),
    )


def _mean_seconds(row: dict[str, object]) -> float | None:
    timed = _number(row["timed"])
    return float(str(row["active"])) / timed if timed else None


def _number(value: object) -> int:
    return int(str(value)) if value is not None else 0
