"""Pairs of scores that belong together: a genuine output and its degraded version, or an answer and its repeat.

Tests of these pairs say whether somebody tells genuine outputs from degraded ones. A rule must name its test, because
the tests disagree.

`paired-t` is the one of direct assessment (Graham et al.): one-sided, pair by pair. A test that cannot be computed,
because all differences are equal or there are fewer than two pairs, has no p, and who has no p does not pass.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.people.results import Drift, SameText
from adjudge.table.errors import unknown_choice
from adjudge.table.judgments import Judgments, key_hashes, mark_among, mark_repeated
from adjudge.table.maths import Floats, student_tail
from adjudge.table.protocols import KINDS, RATED

if TYPE_CHECKING:
    from collections.abc import Callable

    Test = Callable[[Floats, Floats], float]


SAME_SHOWING = ("annotator", "task", "system", "document", "segment")
SAME_OUTPUT = ("annotator", "system", "document", "segment")
FEWEST_PAIRS = 2


def control_pairs(judgments: Judgments) -> pl.DataFrame:
    """Columns annotator, genuine, control: each degraded output beside the genuine one of the same task and segment.

    Where the degraded text is a reference, its genuine version is the reference; an output that was shown again is
    represented by its first showing.
    """
    return _pair_with_originals(judgments, "degraded", SAME_SHOWING)


def repeat_pairs(judgments: Judgments, *, within_tasks: bool) -> pl.DataFrame:
    """Columns annotator, genuine, control: each repeated output beside its first showing to the same annotator.

    Args:
        judgments: the judgments.
        within_tasks: both were shown in one task; otherwise in whatever tasks.
    """
    return _pair_with_originals(judgments, "repeat", SAME_SHOWING if within_tasks else SAME_OUTPUT)


def _pair_with_originals(judgments: Judgments, control: str, key: tuple[str, ...]) -> pl.DataFrame:
    genuine = KINDS[control].made_from
    scored = judgments.table.select(*key, "kind", "score").filter(pl.col("score").is_not_null())
    is_control = scored["kind"] == control
    controls = scored.filter(is_control).select(*key, pl.col("score").alias("control"))
    # Most outputs have no control. Only those that seem to have one are put in order and compared by their words.
    hashes = key_hashes(scored, key)
    possible = scored.filter(mark_among(hashes, hashes[is_control.to_numpy()])).filter(pl.col("kind").is_in(genuine))
    order = pl.col("kind").replace_strict(genuine, range(len(genuine)), default=None, return_dtype=pl.Int32)
    originals = (
        possible.sort(order, maintain_order=True)
        .unique(key, keep="first", maintain_order=True)
        .select(*key, pl.col("score").alias("genuine"))
    )
    together = controls.join(originals, on=key, nulls_equal=True, maintain_order="right_left")
    return together.select("annotator", "genuine", "control")


def _paired_t(genuine: Floats, control: Floats) -> float:
    # The same as `ttest_rel` without its checks, because there is one test per annotator.
    difference = genuine - control
    pairs = len(difference)
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(pairs))
    return float(student_tail(t, pairs - 1))


def _paired_t_two_sided(genuine: Floats, control: Floats) -> float:
    greater = _paired_t(genuine, control)
    return 2 * min(greater, 1 - greater)


def _scipy_test(name: str, **settings: Any) -> Test:
    """Make a one-sided test of a function of scipy, which is loaded when it is used."""

    def test(genuine: Floats, control: Floats) -> float:
        from scipy import stats

        return float(getattr(stats, name)(genuine, control, alternative="greater", **settings).pvalue)

    return test


TESTS: dict[str, Test] = {
    "paired-t": _paired_t,
    "paired-t-two-sided": _paired_t_two_sided,
    "welch": _scipy_test("ttest_ind", equal_var=False),
    "signed-rank": _scipy_test("wilcoxon"),
    "rank-sum": _scipy_test("mannwhitneyu", method="asymptotic"),
}


def control_p(name: str, genuine: Floats, control: Floats) -> float | None:
    """The p-value of the named test, None where it cannot be computed."""
    if name not in TESTS:
        raise unknown_choice("test", name, TESTS)
    if len(genuine) < FEWEST_PAIRS or np.ptp(genuine - control) == 0:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        p = TESTS[name](genuine, control)
    return p if np.isfinite(p) else None


# Whether a person's answers stay the same: for identical texts, and from the beginning of the work to its end.
#
# Identical texts that one person ranked or scored apart were a finding of Bojar et al. (2011, Table 9). Tired people
# give other scores, work faster, and agree less with the others: each is regressed on the place in the work, by means
# of screens, because judgments of one page resemble each other.

FEWEST = 15
"""Screens of a person from which on a drift is looked for."""
_TEXTS = ("target_text", "text_hash")
_WORK = ("annotator", "task", "screen", "document", "segment", "system", "active_seconds", "ended")


def same_texts(judgments: Judgments) -> tuple[SameText, ...]:
    """By annotator, the pairs of identical texts shown together, and how many were judged apart.

    Nothing where the data do not say what was shown.
    """
    table = judgments.table
    column = next((name for name in _TEXTS if name in table.columns), None)
    if column is None:
        return ()
    cell = ["annotator", "task", "screen", "segment"]
    shown = table.select(*cell, column, answer=_answer()).drop_nulls(["answer", column, "annotator"])
    shown = shown.filter(mark_repeated(key_hashes(shown, (*cell, column))))
    # Of n identical texts, n (n - 1) / 2 pairs; those with equal answers are counted the same way.
    equal = shown.group_by(*cell, column, "answer").len("equal")
    alike = (
        equal.group_by(*cell, column)
        .agg(pl.col("equal").sum().alias("all"), (pl.col("equal") * (pl.col("equal") - 1) // 2).sum().alias("together"))
        .with_columns(pairs=pl.col("all") * (pl.col("all") - 1) // 2)
    )
    counted = alike.group_by("annotator").agg(pl.col("pairs").sum(), pl.col("together").sum()).sort("annotator")
    return tuple(
        SameText(annotator, pairs, pairs - together)
        for annotator, pairs, together in counted.filter(pl.col("pairs") > 0).rows()
    )


def drifts(judgments: Judgments) -> tuple[Drift, ...]:
    """By annotator, how scores, time and distance from the others change from the first judgment to the last.

    The order of the work is that of the times where every judgment has one, otherwise that of the rows.
    """
    rows = _rated(judgments)
    screens = rows.group_by("annotator").agg(pl.col("screen").n_unique())
    if not (screens["screen"] >= FEWEST).any():
        return ()
    item = ["document", "segment", "system"]
    others = (pl.col("answer").sum().over(item) - pl.col("answer").sum().over([*item, "annotator"])) / (
        pl.len().over(item) - pl.len().over([*item, "annotator"])
    )
    by_time = rows["ended"].null_count() == 0
    ordered = rows.sort("annotator", "ended", maintain_order=True) if by_time else rows
    table = ordered.with_columns(
        deviation=pl.col("answer") - pl.col("answer").mean().over("system"),
        others=pl.when(pl.len().over(item) > pl.len().over([*item, "annotator"])).then(others),
    )
    return tuple(
        _drift(str(name), part)
        for (name,), part in table.sort("annotator", maintain_order=True).group_by("annotator", maintain_order=True)
        if part["screen"].n_unique() >= FEWEST
    )


def _answer() -> pl.Expr:
    """The judgment as a number of which more is better."""
    return pl.coalesce(pl.col("score"), -pl.col("rank").cast(pl.Float64))


def _rated(judgments: Judgments) -> pl.DataFrame:
    """The judgments of systems by known annotators, of which drifts tell; the column answer is the judgment."""
    wanted = pl.col("kind").is_in(RATED) & pl.col("annotator").is_not_null()
    return (
        judgments.table.select(*_WORK, "kind", answer=_answer())
        .filter(wanted & pl.col("answer").is_not_null())
        .drop("kind")
    )


def _drift(name: str, part: pl.DataFrame) -> Drift:
    """The drift of one annotator; rows are in the order of the work, with what is expected of each without a drift."""
    # The distance is taken after the person's own level, which is no matter of the order.
    apart = pl.col("answer") - pl.col("others")
    screens = (
        part.with_columns(
            seconds=pl.when(pl.col("active_seconds") > 0).then(pl.col("active_seconds").log()),
            distance=(apart - apart.mean()).abs(),
        )
        .group_by("task", "screen", maintain_order=True)
        .agg(pl.col("deviation", "seconds", "distance").mean())
    )
    score, time, distance = (_line(screens[column]) for column in ("deviation", "seconds", "distance"))
    return Drift(
        annotator=name,
        judgments=part.height,
        score_change=score[0],
        p_score=score[1],
        time_ratio=None if time[0] is None else float(np.exp(time[0])),
        p_time=time[1],
        distance_change=distance[0],
        p_distance=distance[1],
    )


def _line(values: pl.Series) -> tuple[float | None, float | None]:
    return change(np.linspace(0, 1, len(values)), values.cast(pl.Float64).to_numpy())


def change(position: Floats, value: Floats) -> tuple[float | None, float | None]:
    """The change of a straight line from position 0 to 1, and the two-sided p of no change (t-test of the slope)."""
    known = np.isfinite(value)
    position, value = position[known], value[known]
    if len(value) < FEWEST or np.ptp(value) == 0:
        return None, None
    centred = position - position.mean()
    slope = float(centred @ value / (centred @ centred))
    residual = value - value.mean() - slope * centred
    freedom = len(value) - 2
    error = np.sqrt(residual @ residual / freedom / (centred @ centred))
    if error == 0:
        return slope, None
    return slope, float(2 * student_tail(abs(slope / error), freedom))
