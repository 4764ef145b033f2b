"""Identical systems judged by people and looked at by the mixed model: hardly ever is anything settled."""

from __future__ import annotations

import pytest
from bench.bench_look import false_claims
from bench.look_campaigns import GrowingCampaign
from scipy.stats import binom

from adjudge.look.decide import Mode


@pytest.mark.slow
@pytest.mark.parametrize(
    ("looks", "spending", "annotators", "page"),
    [(5, "kim-demets", 5, 4), (10, "pocock", 10, 1), (4, "anytime", 8, 2)],
)
def test_identical_systems_are_hardly_ever_told_apart(looks: int, spending: Mode, annotators: int, page: int) -> None:
    """Of 40 campaigns, more with a false claim than chance at 5% allows (one in ten thousand) would be a fault."""
    campaign = GrowingCampaign(systems=3, annotators=annotators, page=page, pages=240 // page)
    false, covered = false_claims(campaign, looks, spending, 40)
    assert round(40 * false) <= binom.isf(1e-4, 40, 0.05)
    assert not covered < 0.75
