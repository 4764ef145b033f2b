"""What a fit to a part of the data should be, from a fit to its rows alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adjudge.mixed.design import MixedDesign
from adjudge.mixed.effects import identify, most_degrees
from adjudge.mixed.fit import MixedFit
from adjudge.mixed.model import Refit


def check_alike(fitted: Refit, expected: MixedFit) -> None:
    assert fitted.systems == expected.systems
    assert fitted.effects == pytest.approx(expected.effects, abs=1e-8)
    assert fitted.covariance == pytest.approx(expected.covariance, abs=1e-8)
    assert fitted.df == pytest.approx(expected.df, rel=1e-6)


def with_degrees_of_whole(part: MixedFit, whole: MixedFit, rest: MixedDesign) -> MixedFit:
    """A fit to some rows with the degrees of freedom of the whole, pair by pair, bounded by those of the part."""
    effects, df = identify(rest), np.full_like(part.df, np.inf)
    most = most_degrees(rest, effects, effects.ratios(whole.ratios))
    for i, first in enumerate(part.systems):
        for j, second in enumerate(part.systems):
            if i != j:
                df[i, j] = min(whole.df[whole.systems.index(first), whole.systems.index(second)], most)
    return replace(part, df=df)
