"""Panels of the organisers' page come out of a process of their own as they are computed here."""

from __future__ import annotations

import pytest

from adjudge import simulate
from adjudge.planning.simulated_scores import ScoreCampaign
from adjudge.shell.panels import agreement_panels, annotator_panels, compute_apart
from adjudge.table.errors import DataError

JUDGMENTS = simulate(ScoreCampaign(systems=3, annotators=4, tasks=4), seed=1).judgments


@pytest.mark.slow
def test_a_process_of_its_own_computes_the_same_panels() -> None:
    panels = compute_apart(JUDGMENTS, {"what": "annotators", "least_seconds": 1.0})
    assert panels
    assert panels == annotator_panels(JUDGMENTS, least_seconds=1.0)
    assert compute_apart(JUDGMENTS, {"what": "agreement"}) == agreement_panels(JUDGMENTS)


def test_what_cannot_be_computed_is_told_in_the_words_of_the_process() -> None:
    nothing = type(JUDGMENTS)(JUDGMENTS.table.clear())
    with pytest.raises(DataError, match="judgments"):
        compute_apart(nothing, {"what": "annotators", "least_seconds": 1.0})
