"""The model with annotators' tastes against R's lme4 on released judgments.

lme4 1.1-31 on R 4.2.2 with nloptwrap, the judgments written as CSV with the codes of the design:

    d$z <- qnorm((rank(d$y) - .5) / nrow(d))
    d$as <- interaction(d$annotator, d$system, drop = TRUE); d$sd <- interaction(d$system, d$document, drop = TRUE)
    m <- lmer(z ~ 0 + system + (1|annotator) + (1|as) + (1|task) + (1|document) + (1|segment) + (1|sd) + (1|page), d,
              control = lmerControl(calc.derivs = FALSE, check.nobs.vs.nlev = "ignore"))
    VarCorr(m); logLik(m); fixef(m); sqrt(diag(vcov(m)))
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import adjudge
from adjudge.mixed.design import design_from
from adjudge.mixed.fit import fit
from adjudge.table.judgments import Judgments
from tests.helpers.released import read_released


@dataclass(frozen=True)
class Expected:
    """Standard deviations by effect, the restricted likelihood, and effects with standard errors of some systems."""

    sd: dict[str, float]
    loglik: float
    systems: dict[str, tuple[float, float]]


EXPECTED = {
    "news cs-en": Expected(
        {
            "annotator": 0.500151, "annotator:system": 0.149629, "task": 0.236031, "document": 0.080200,
            "segment": 0.222033, "system:document": 0.074734, "page": 0.103035, "residual": 0.668857,
        },
        -11681.52,
        {
            "CUNI-DocTransformer.4": (0.2302040, 0.0726720), "Facebook-AI.7": (0.2797554, 0.0689081),
            "HUMAN.0": (-0.0155000, 0.0697883), "Online-Y.3": (0.0505175, 0.0699285),
        },
    ),
    "esa en-ja": Expected(
        {
            "annotator": 0.5501778, "annotator:system": 0.1688423, "task": 0.1410819, "document": 0.0779524,
            "segment": 0.2192782, "system:document": 0.1016699, "page": 0.2332717, "residual": 0.6249142,
        },
        -4882.239,
        {"Aya23": (-0.052058508, 0.175529), "IKUN-C": (-0.442984567, 0.176233), "refA": (0.161219556, 0.175958)},
    ),
    "esa en-zh": Expected(
        {
            "annotator": 0.4730871, "annotator:system": 0.0888709, "task": 0.1707438, "document": 0.1946023,
            "segment": 0.2608440, "system:document": 0.2447012, "page": 0.2025989, "residual": 0.6700116,
        },
        -5262.725,
        {"Aya23": (-0.33223977, 0.147624), "GPT-4": (0.00540601, 0.148110), "refA": (0.00321755, 0.147038)},
    ),
    "study": Expected(
        {
            "annotator": 0.242252, "annotator:system": 0.130626, "task": 0.206716, "document": 0.181495,
            "segment": 0.273828, "system:document": 0.313255, "page": 0.0, "residual": 0.648421,
        },
        -3087.756,
        {"wmt23.AIRC": (-0.7123810, 0.119801), "wmt23.GPT4-5shot": (0.2224096, 0.119354)},
    ),
}  # fmt: skip


def judgments_of(data: Path, name: str) -> Judgments:
    if name == "news cs-en":
        return read_released(data / "wmt21" / "newstest2021-toen", "wmt-da").for_pair("cs-en")
    if name == "study":
        folder = data / "esa-study"
        people = folder / "Annotators_mapping.csv"
        return adjudge.read(folder / "240520rc6ESA.scores.csv", format="appraise", annotators=people)
    folder = data / "wmt24esa"
    people = folder / "annotator_mapping.json"
    file = folder / "esa_generalMT2024_wave3.csv"
    return adjudge.read(file, format="appraise", annotators=people).for_pair(name.removeprefix("esa "))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_variances_effects_and_errors(data: Path, name: str) -> None:
    expected = EXPECTED[name]
    model = fit(design_from(judgments_of(data, name), model="mixed-rank"))
    assert model.converged
    assert {part.effect: part.sd for part in model.components} == pytest.approx(expected.sd, abs=6e-4)
    # The optimum is at least as high as where R's optimiser stopped, and not far from it.
    assert model.loglik is not None
    assert expected.loglik - 0.01 <= model.loglik <= expected.loglik + 0.1
    for system, (effect, error) in expected.systems.items():
        index = model.systems.index(system)
        assert model.effects[index] == pytest.approx(effect, abs=5e-4)
        assert model.se[index] == pytest.approx(error, abs=5e-4)
