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

from adjudge.core.errors import unknown_choice
from adjudge.core.integer_codes import are_among, key_hashes
from adjudge.core.maths import student_tail
from adjudge.core.protocols import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments

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
    possible = scored.filter(are_among(hashes, hashes[is_control.to_numpy()])).filter(pl.col("kind").is_in(genuine))
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
