"""Coefficients against worked examples from the literature and against other tools."""

from __future__ import annotations

import math

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from adjudge.people.coefficients import (
    above_chance,
    alpha,
    chance_of,
    chance_of_random_clicks,
    cohen_kappa,
    fleiss_kappa,
    kappa_of_table,
)
from adjudge.table.errors import UsageError

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: four observers, twelve units.
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
# Bojar et al. 2011, Table 7: two authors on 63 sentences (rows: author of T; columns: author of B).
BOJAR_TABLE_7 = [[9, 0, 1, 1], [2, 13, 0, 3], [2, 0, 2, 3], [10, 5, 1, 11]]


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_example(level: str, published: float) -> None:
    """Values printed in Krippendorff (2011), sections C to E."""
    values = np.array(KRIPPENDORFF_2011, dtype=float)
    units = np.tile(np.arange(values.shape[1]), len(values))
    assert round(alpha(units, values.ravel(), level=level), 3) == published  # type: ignore[arg-type]


def test_kappa_of_bojars_table_7() -> None:
    """Bojar et al. 2011, section 2.5.2: "their pairwise kappa is 0.387"."""
    assert round(kappa_of_table(BOJAR_TABLE_7), 3) == 0.387


def test_kappa_of_cohens_example() -> None:
    """Cohen (1960), Table 1: P_o = .70, P_c = .41, kappa = .492 (200 judgments)."""
    assert round(kappa_of_table([[88, 14, 18], [10, 40, 10], [2, 6, 12]]), 3) == 0.492


def test_random_clicker_of_five_labels() -> None:
    """Bojar et al. 2011, section 2.2.2: P(E) = 0.36."""
    assert chance_of_random_clicks(5) == pytest.approx(0.36)


def test_s_of_bojars_table_3() -> None:
    """Bojar et al. 2011, Table 3: 7360 of 11180 agree, S = .487."""
    assert round(above_chance(7360 / 11180, 1 / 3), 3) == 0.487


def test_pi_of_a_table_by_hand() -> None:
    # Two annotators, 10 items, 8 agree; of the 20 annotations 12 are x and 8 are y: P(E) = .36 + .16.
    assert above_chance(0.8, chance_of([12, 8])) == pytest.approx((0.8 - 0.52) / (1 - 0.52))


tables = st.integers(2, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
)


@settings(deadline=None)
@given(tables)
def test_cohen_agrees_with_statsmodels(table: list[list[int]]) -> None:
    """statsmodels 0.15, `cohens_kappa`."""
    counts = np.array(table)
    pairs = [(i, j) for (i, j), times in np.ndenumerate(counts) for _ in range(times)]
    ours = cohen_kappa([i for i, _ in pairs], [j for _, j in pairs])
    if counts.sum() == 0 or math.isclose(float(counts.sum(1) @ counts.sum(0)), float(counts.sum()) ** 2):
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(inter_rater.cohens_kappa(counts, return_results=False))


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 8), st.integers(0, 1000))
def test_fleiss_agrees_with_statsmodels(raters: int, categories: int, items: int, seed: int) -> None:
    """statsmodels 0.15, `fleiss_kappa`, every item with as many annotations."""
    chosen = np.random.default_rng(seed).integers(categories, size=(items, raters))
    table = np.stack([(chosen == c).sum(1) for c in range(categories)], axis=1)
    ours = fleiss_kappa(table)
    if (table.sum(0) > 0).sum() == 1:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(inter_rater.fleiss_kappa(table))


def test_fleiss_leaves_out_items_with_one_annotation() -> None:
    table = [[2, 0], [1, 1], [0, 2], [0, 2]]
    assert fleiss_kappa([*table, [1, 0], [0, 0]]) == pytest.approx(fleiss_kappa(table))


ratings = st.integers(2, 5).flatmap(
    lambda units: st.lists(
        st.lists(st.one_of(st.none(), st.integers(-3, 4)), min_size=units, max_size=units), min_size=2, max_size=5
    )
)


@settings(deadline=None)
@given(ratings, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_agrees_with_evalica(table: list[list[int | None]], level: str) -> None:
    """evalica 0.4.2, `alpha` of a table observers x units."""
    values = np.array(table, dtype=float)
    units = np.tile(np.arange(values.shape[1]), len(values))
    ours = alpha(units, values.ravel(), level=level)  # type: ignore[arg-type]
    pairable = [column[~np.isnan(column)] for column in values.T if (~np.isnan(column)).sum() > 1]
    spread = len(np.unique(np.concatenate(pairable))) if pairable else 0
    if spread < 2:
        assert math.isnan(ours)
    else:
        theirs = evalica.alpha(pd.DataFrame(values), distance=level)  # type: ignore[arg-type]
        assert ours == pytest.approx(theirs.alpha, abs=1e-9)


def test_units_and_values_may_be_words() -> None:
    units, values = ["p", "p", "q", "q", "r", "r"], ["yes", "yes", "no", "no", "yes", "no"]
    coded = alpha([0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 1, 0], level="nominal")
    assert alpha(units, values, level="nominal") == pytest.approx(coded)


def test_far_apart_and_fractional_values_are_told_apart() -> None:
    units = [0, 0, 10**15, 10**15, 7, 7]
    values = [0.5, 0.5, 1e300, 0.25, -1e300, -1e300]
    assert alpha(units, values, level="nominal") == pytest.approx(
        alpha([0, 0, 1, 1, 2, 2], [2, 2, 3, 1, 0, 0], level="nominal")
    )


def test_a_shift_of_all_scores_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    units, values = rng.integers(0, 30, 100), rng.integers(0, 101, 100)
    assert alpha(units, values + 1e8) == pytest.approx(alpha(units, values), abs=1e-9)


def test_wrong_calls_are_explained() -> None:
    with pytest.raises(UsageError, match="level 'ratio'"):
        alpha([1], [1], level="ratio")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="2 units and 1 values"):
        alpha([1, 2], [1])
    with pytest.raises(UsageError, match="1 and 2 annotations"):
        cohen_kappa(["a"], ["a", "b"])
