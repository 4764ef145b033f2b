"""Which annotators to keep: controls, repeats, pace, runs, rejected work. All is reported, one rule decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.check.consistency import drifts, same_texts
from adjudge.check.control_pairs import TESTS, control_p, control_pairs, repeat_pairs
from adjudge.check.twins import find_twins
from adjudge.core.errors import DataError, UsageError, unknown_choice
from adjudge.core.protocols import KINDS
from adjudge.core.quality import LEAST_SECONDS, Work
from adjudge.results.check import AnnotatorCheck, Checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments


_CONTROLS = tuple(kind.name for kind in KINDS.values() if kind.control or not kind.judged)
"""Kinds of outputs whose answers are no judgments of systems, as exports and the organisers' page count them."""


@dataclass(frozen=True)
class CheckRule:
    """Who is kept. A limit of None does not decide, but is reported all the same."""

    test: str = "paired-t"
    level: float = 0.05
    least_seconds: float | None = LEAST_SECONDS
    longest_run: int | None = None
    drop_rejected: bool = True

    def in_words(self, *, controls: bool) -> str:
        """The rule as one sentence."""
        parts = [f"genuine above degraded by {self.test} with p <= {self.level:g}"] if controls else []
        if self.least_seconds:
            seconds = "1 second" if self.least_seconds == 1 else f"{self.least_seconds:g} seconds"
            parts.append(f"at least {seconds} per judgment on average, where time was measured")
        if self.longest_run is not None:
            parts.append(f"no more than {self.longest_run} equal answers in a row")
        if self.drop_rejected:
            parts.append("no rejected work")
        return "kept: " + ("; ".join(parts) if parts else "everybody")


def check(judgments: Judgments, *, rule: CheckRule | None = None) -> Checked:
    """Check the annotators of one language pair.

    Args:
        judgments: the judgments, controls included.
        rule: who is kept; the default is the rule of direct assessment.
    """
    rule = rule or CheckRule()
    if rule.test not in TESTS:
        raise unknown_choice("test", rule.test, TESTS)
    if not 0 < rule.level < 1:
        raise UsageError(f"--level is {rule.level:g}, it must lie between 0 and 1; the usual value is 0.05")
    final = judgments.final()
    if final.table["annotator"].null_count() == len(final):
        raise DataError("the data do not say who judged, so annotators cannot be checked; see the column 'annotator'")
    controls, repeats = _by_annotator(control_pairs(final)), _by_annotator(repeat_pairs(final))
    checks = tuple(
        _checked(row, controls.get(row["annotator"]), repeats.get(row["annotator"]), rule, has_controls=bool(controls))
        for row in _counts(final).iter_rows(named=True)
    )
    kept, dropped = _totals(final, {checked.annotator for checked in checks if checked.passed})
    return Checked(
        settings={
            "test": rule.test,
            "level": rule.level,
            "least_seconds": rule.least_seconds,
            "longest_run": rule.longest_run,
            "drop_rejected": rule.drop_rejected,
        },
        data=judgments.fingerprint,
        set_aside=final.set_aside,
        notes=final.notes + _notes(controls) + _released(final, checks) + _impossible_pace(checks, rule),
        rule=rule.in_words(controls=bool(controls)),
        annotators=checks,
        twins=find_twins(final),
        kept=kept,
        dropped=dropped,
        same_texts=same_texts(final),
        drifts=drifts(final),
    )


_Pairs = dict[str, tuple["NDArray[np.float64]", "NDArray[np.float64]"]]


def _by_annotator(pairs: pl.DataFrame) -> _Pairs:
    return {
        str(name): (part["genuine"].to_numpy(), part["control"].to_numpy())
        for (name,), part in pairs.drop_nulls("annotator").group_by("annotator")
    }


def _counts(judgments: Judgments) -> pl.DataFrame:
    table = judgments.table.filter(pl.col("annotator").is_not_null())
    rejected = pl.col("rejected").fill_null(False).any() if "rejected" in table.columns else pl.lit(False)
    counted = table.group_by("annotator").agg(
        pl.len().alias("judgments"),
        pl.col("kind").is_in(_CONTROLS).sum().alias("controls"),
        pl.col("task").n_unique().alias("tasks"),
        rejected.alias("rejected"),
    )
    return counted.join(_pace(judgments), on="annotator", how="left").sort("annotator")


def _pace(judgments: Judgments) -> pl.DataFrame:
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
    measured = bool((ordered["active_seconds"].fill_null(0) > 0).any())
    seconds = ordered.group_by("annotator").agg(
        time.median().alias("seconds"),
        (time.count() if measured else pl.lit(0)).alias("timed"),
        time.sum().alias("active"),
    )
    return seconds.join(longest, on="annotator", nulls_equal=True)


def _checked(
    row: dict[str, object],
    controls: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    repeats: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    rule: CheckRule,
    *,
    has_controls: bool,
) -> AnnotatorCheck:
    p_controls = control_p(rule.test, *controls) if controls else None
    checked = AnnotatorCheck(
        annotator=str(row["annotator"]),
        judgments=_whole(row["judgments"]),
        tasks=_whole(row["tasks"]),
        p_controls=p_controls,
        control_pairs=len(controls[0]) if controls else 0,
        control_difference=float((controls[0] - controls[1]).mean()) if controls else None,
        p_repeats=control_p("paired-t-two-sided", *repeats) if repeats else None,
        repeat_pairs=len(repeats[0]) if repeats else 0,
        repeat_difference=float(np.abs(repeats[0] - repeats[1]).mean()) if repeats else None,
        seconds=None if row["seconds"] is None else float(str(row["seconds"])),
        mean_seconds=_mean_seconds(row),
        constant=_whole(row["constant"]),
        controls=_whole(row["controls"]),
        rejected=bool(row["rejected"]),
        passed=True,
        reasons=(),
    )
    reasons = _reasons(checked, rule, has_controls=has_controls)
    return AnnotatorCheck(**{**checked.__dict__, "passed": not reasons, "reasons": reasons})


def _mean_seconds(row: dict[str, object]) -> float | None:
    timed = _whole(row["timed"])
    return float(str(row["active"])) / timed if timed else None


def _whole(value: object) -> int:
    return int(str(value)) if value is not None else 0


def _reasons(checked: AnnotatorCheck, rule: CheckRule, *, has_controls: bool) -> tuple[str, ...]:
    reasons: list[str] = []
    if rule.drop_rejected and checked.rejected:
        reasons.append("some work was rejected")
    if has_controls and checked.p_controls is None:
        reasons.append("controls cannot be tested" if checked.control_pairs else "judged no controls")
    elif checked.p_controls is not None and checked.p_controls > rule.level:
        reasons.append(f"does not tell degraded from genuine outputs (p = {checked.p_controls:.3f})")
    if rule.least_seconds and is_too_fast(checked, rule.least_seconds):
        reasons.append(f"{checked.mean_seconds:.1f} seconds per judgment on average")
    if rule.longest_run is not None and checked.constant > rule.longest_run:
        reasons.append(f"{checked.constant} equal answers in a row")
    return tuple(reasons)


def is_too_fast(checked: AnnotatorCheck, least_seconds: float) -> bool:
    """Whether somebody judged faster than anybody can, by the rule of completion codes and of the organisers' page."""
    if checked.mean_seconds is None:
        return False
    return Work(checked.judgments, checked.judgments * checked.mean_seconds).is_too_fast(least_seconds)


def _impossible_pace(checks: tuple[AnnotatorCheck, ...], rule: CheckRule) -> tuple[str, ...]:
    """Who is kept though nobody can read so fast, where the rule asks for less time than that."""
    fast = [checked.annotator for checked in checks if checked.passed and is_too_fast(checked, LEAST_SECONDS)]
    if not fast or (rule.least_seconds or 0) >= LEAST_SECONDS:
        return ()
    names = ", ".join(fast[:5]) + (" and others" if len(fast) > 5 else "")
    return (f"less than {LEAST_SECONDS:g} second per judgment on average, faster than one can read: {names}",)


def _totals(judgments: Judgments, passing: set[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Annotators, and judgments in all and by kind, that are kept and dropped."""
    table = judgments.table.with_columns(kept=pl.col("annotator").is_in(list(passing)))
    kept: dict[str, int] = {}
    dropped: dict[str, int] = {}
    for counts, part in (
        (kept, table.filter(pl.col("kept"))),
        (dropped, table.filter(~pl.col("kept").fill_null(False))),
    ):
        counts["annotators"] = part["annotator"].drop_nulls().n_unique()
        counts["judgments"] = part.height
        for kind in table["kind"].unique().sort():
            counts[kind] = part.filter(pl.col("kind") == kind).height
    return kept, dropped


def _released(judgments: Judgments, checks: tuple[AnnotatorCheck, ...]) -> tuple[str, ...]:
    """Who failed here and passed when the data were released: that control saw the work in all language pairs."""
    if "passed" not in judgments.table.columns:
        return ()
    kept = set(judgments.table.filter(pl.col("passed"))["annotator"].drop_nulls().unique())
    differing = [checked.annotator for checked in checks if not checked.passed and checked.annotator in kept]
    if not differing:
        return ()
    what = (
        "do not pass here but passed the control of the release, which may rest on their work in other language pairs"
    )
    return (f"{len(differing)} annotators {what}; rankings go by the release",)


def _notes(controls: _Pairs) -> tuple[str, ...]:
    if controls:
        return ()
    return ("there are no degraded outputs beside genuine ones, so nobody can be tested on controls",)
