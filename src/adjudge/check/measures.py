"""What the judgments of annotators show: controls, repeats, pace, runs of equal answers, drifts. Nothing is decided.

Almost all of it is seen in each annotator's own judgments; `WholeTable` holds what is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.check.consistency import answers_by_system, drifts, is_ordered_by_time, most_screens, same_texts
from adjudge.check.control_pairs import control_p, control_pairs, has_repeats_within_tasks, repeat_pairs
from adjudge.core.protocols import KINDS
from adjudge.results.check import AnnotatorCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments
    from adjudge.results.check import Drift, SameText

_CONTROLS = tuple(kind.name for kind in KINDS.values() if kind.control or not kind.judged)
"""Kinds of outputs whose answers are no judgments of systems, as exports and the organisers' page count them."""


@dataclass(frozen=True, eq=False)
class WholeTable:
    """What the judgments of one annotator do not tell."""

    repeats_within_tasks: bool
    """Whether somebody got an output twice in one task; otherwise repeats are looked for across tasks."""
    timed: bool
    """Whether time was measured at all: where it is 0 everywhere, it was not."""
    by_time: bool
    """Whether every judgment says when it was made."""
    system_means: pl.DataFrame | None = None
    """Columns system and expected, for a part of a table: the answers of all annotators."""


def traits_of(final: Judgments) -> WholeTable:
    """What a whole table shows."""
    return WholeTable(has_repeats_within_tasks(final), _is_timed(final), is_ordered_by_time(final))


@dataclass(frozen=True, eq=False)
class PartTraits:
    """What a part of a table adds to the whole."""

    traits: WholeTable
    systems: pl.DataFrame
    """Columns system, total and len: the answers."""
    screens: int
    """The most screens that anybody saw."""


def part_traits(final: Judgments) -> PartTraits:
    """What the judgments of some annotators add."""
    return PartTraits(traits_of(final), answers_by_system(final), most_screens(final))


def whole_table(parts: Sequence[PartTraits]) -> WholeTable:
    """What all parts show together."""
    systems = pl.concat(part.systems for part in parts).group_by("system").agg(pl.col("total", "len").sum())
    return WholeTable(
        any(part.traits.repeats_within_tasks for part in parts),
        any(part.traits.timed for part in parts),
        all(part.traits.by_time for part in parts),
        systems.select("system", (pl.col("total") / pl.col("len")).alias("expected")),
    )


def _is_timed(final: Judgments) -> bool:
    answered = final.table["score"].is_not_null() | final.table["rank"].is_not_null()
    return bool((final.table["active_seconds"].filter(answered).fill_null(0) > 0).any())


@dataclass(frozen=True)
class Measured:
    """What was seen of some annotators, all of whose judgments were there; nothing is decided yet."""

    annotators: tuple[AnnotatorCheck, ...]
    kinds: pl.DataFrame
    """Columns annotator, kind, len: all judgments, those of nobody known among them."""
    released: frozenset[str]
    """Who passed the control of the release."""
    same_texts: tuple[SameText, ...]
    drifts: tuple[Drift, ...]


def measure(final: Judgments, test: str, *, whole: WholeTable | None = None) -> Measured:
    """What the judgments, in their last revision, show of their annotators.

    Args:
        final: all judgments of these annotators.
        test: on controls.
        whole: what the whole table shows, where this is a part of it.
    """
    traits = whole or traits_of(final)
    repeats = _by_annotator(repeat_pairs(final, within_tasks=traits.repeats_within_tasks))
    controls = _by_annotator(control_pairs(final))
    marked = final.table.schema.get("passed") == pl.Boolean
    released = final.table.filter(pl.col("passed"))["annotator"].drop_nulls() if marked else ()
    return Measured(
        tuple(
            _measured(row, controls.get(row["annotator"]), repeats.get(row["annotator"]), test)
            for row in _counts(final, timed=traits.timed).iter_rows(named=True)
        ),
        final.table.group_by("annotator", "kind").len(),
        frozenset(released),
        same_texts(final),
        drifts(final, by_time=traits.by_time, system_means=traits.system_means),
    )


_Pairs = dict[str, tuple["NDArray[np.float64]", "NDArray[np.float64]"]]


def _by_annotator(pairs: pl.DataFrame) -> _Pairs:
    return {
        str(name): (part["genuine"].to_numpy(), part["control"].to_numpy())
        for (name,), part in pairs.drop_nulls("annotator").group_by("annotator")
    }


def _counts(judgments: Judgments, *, timed: bool) -> pl.DataFrame:
    table = judgments.table.filter(pl.col("annotator").is_not_null())
    rejected = (
        pl.col("rejected").fill_null(False).any() if table.schema.get("rejected") == pl.Boolean else pl.lit(False)
    )
    counted = table.group_by("annotator").agg(
        pl.len().alias("judgments"),
        pl.col("kind").is_in(_CONTROLS).sum().alias("controls"),
        pl.col("task").n_unique().alias("tasks"),
        rejected.alias("rejected"),
    )
    return counted.join(_pace(judgments, timed=timed), on="annotator", how="left").sort("annotator")


def _pace(judgments: Judgments, *, timed: bool) -> pl.DataFrame:
    """Columns annotator, seconds (median), timed and active (for the mean), constant (longest run of equal answers).

    Runs follow the order of the rows, which is that of showing in every format that knows it. Time that is 0 everywhere
    was not measured.
    """
    answer = pl.coalesce(pl.col("score"), pl.col("rank").cast(pl.Float64))
    ordered = judgments.table.with_columns(answer=answer).filter(pl.col("answer").is_not_null())
    runs = ordered.select("annotator", "answer").with_columns(
        run=pl.struct("annotator", "answer").rle_id(),
    )
    longest = runs.group_by("annotator", "run").len().group_by("annotator").agg(pl.col("len").max().alias("constant"))
    time = pl.col("active_seconds")
    seconds = ordered.group_by("annotator").agg(
        time.median().alias("seconds"),
        (time.count() if timed else pl.lit(0)).alias("timed"),
        time.sum().alias("active"),
    )
    return seconds.join(longest, on="annotator", nulls_equal=True)


def _measured(
    row: dict[str, object],
    controls: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    repeats: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    test: str,
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
