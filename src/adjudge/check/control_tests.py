"""Tests of whether somebody tells genuine outputs from degraded ones. The rule must name the test: they disagree.

`paired-t` is the one of direct assessment (Graham et al.): one-sided, pair by pair. A test that cannot be computed,
because all differences are equal or there are fewer than two pairs, has no p, and who has no p does not pass.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import unknown_choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Test = Callable[[NDArray[np.float64], NDArray[np.float64]], float]

FEWEST_PAIRS = 2


def _paired_t(genuine: NDArray[np.float64], control: NDArray[np.float64]) -> float:
    # As `ttest_rel` has it, without its checks: there are as many of these as annotators.
    from scipy.special import stdtr

    difference = genuine - control
    pairs = len(difference)
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(pairs))
    return float(stdtr(pairs - 1, -t))


def _paired_t_two_sided(genuine: NDArray[np.float64], control: NDArray[np.float64]) -> float:
    greater = _paired_t(genuine, control)
    return 2 * min(greater, 1 - greater)


def _welch(genuine: NDArray[np.float64], control: NDArray[np.float64]) -> float:
    from scipy.stats import ttest_ind

    return float(ttest_ind(genuine, control, equal_var=False, alternative="greater").pvalue)


def _signed_rank(genuine: NDArray[np.float64], control: NDArray[np.float64]) -> float:
    from scipy.stats import wilcoxon

    return float(wilcoxon(genuine, control, alternative="greater").pvalue)


def _rank_sum(genuine: NDArray[np.float64], control: NDArray[np.float64]) -> float:
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(genuine, control, alternative="greater", method="asymptotic").pvalue)


TESTS: dict[str, Test] = {
    "paired-t": _paired_t,
    "paired-t-two-sided": _paired_t_two_sided,
    "welch": _welch,
    "signed-rank": _signed_rank,
    "rank-sum": _rank_sum,
}


def control_p(name: str, genuine: NDArray[np.float64], control: NDArray[np.float64]) -> float | None:
    """The p-value of the named test, None where it cannot be computed."""
    if name not in TESTS:
        raise unknown_choice("test", name, TESTS)
    if len(genuine) < FEWEST_PAIRS or np.ptp(genuine - control) == 0:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        p = TESTS[name](genuine, control)
    return p if np.isfinite(p) else None
