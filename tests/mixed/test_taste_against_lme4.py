"""The model with annotators' tastes and views of texts against R's lme4 on released judgments.

lme4 1.1-31 on R 4.2.2 with nloptwrap, the judgments written as CSV with the codes of the design:

    d$z <- qnorm((rank(d$y) - .5) / nrow(d))
    d$as <- interaction(d$annotator, d$system, drop = TRUE); d$sd <- interaction(d$system, d$document, drop = TRUE)
    d$ad <- interaction(d$annotator, d$document, drop = TRUE); d$ag <- interaction(d$annotator, d$segment, drop = TRUE)
    m <- lmer(z ~ 0 + system + (1|annotator) + (1|as) + (1|task) + (1|document) + (1|segment) + (1|sd) + (1|ad)
              + (1|page), d, control = lmerControl(calc.derivs = FALSE, check.nobs.vs.nlev = "ignore",
              optCtrl = list(xtol_abs = 1e-9, ftol_abs = 1e-10, maxeval = 20000)))
    VarCorr(m); logLik(m); fixef(m); sqrt(diag(vcov(m)))

Of talks, where there are no tasks, the scores themselves (y for z) with (1|ag) for what is judged side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import adjudge
from adjudge.mixed.design import design_from
from adjudge.mixed.fit import prepare
from adjudge.table.judgments import Judgments
from tests.helpers.released import read_released


@dataclass(frozen=True)
class Expected:
    """Standard deviations by effect, the restricted likelihood, and effects with standard errors of some systems."""

    sd: dict[str, float]
    loglik: float
    systems: dict[str, tuple[float, float]]
    model: str = "mixed-rank"


EXPECTED = {
    "news cs-en": Expected(
        {
            "annotator": 0.5017938, "annotator:system": 0.1217187, "task": 0.2350207, "document": 0.0757371,
            "segment": 0.2220690, "system:document": 0.0, "annotator:document": 0.1371097, "page": 0.0609443,
            "residual": 0.6691242,
        },
        -11678.60587,
        {
            "CUNI-DocTransformer.4": (0.2299199, 0.0716212), "Facebook-AI.7": (0.2727983, 0.0683626),
            "HUMAN.0": (-0.0150482, 0.0690287), "Online-Y.3": (0.0528659, 0.0691388),
        },
    ),
    "esa en-ja": Expected(
        {
            "annotator": 0.5525384, "annotator:system": 0.1705304, "task": 0.1394138, "document": 0.0777739,
            "segment": 0.2191283, "system:document": 0.0965319, "annotator:document": 0.0931028, "page": 0.2173504,
            "residual": 0.6248410,
        },
        -4881.70808,
        {"Aya23": (-0.0560461, 0.1762550), "IKUN-C": (-0.4417620, 0.1769670), "refA": (0.1621275, 0.1767047)},
    ),
    "esa en-zh": Expected(
        {
            "annotator": 0.4776193, "annotator:system": 0.0866174, "task": 0.1791143, "document": 0.1786294,
            "segment": 0.2610382, "system:document": 0.1976352, "annotator:document": 0.2434961, "page": 0.0854574,
            "residual": 0.6694657,
        },
        -5249.66603,
        {"Aya23": (-0.3343690, 0.1478603), "GPT-4": (0.0029303, 0.1485456), "refA": (0.0192223, 0.1476231)},
    ),
    "study": Expected(
        {
            "annotator": 0.2435695, "annotator:system": 0.1322545, "task": 0.2078040, "document": 0.1765805,
            "segment": 0.2739462, "system:document": 0.2871080, "annotator:document": 0.1401896, "page": 0.0,
            "residual": 0.6475976,
        },
        -3086.83737,
        {"wmt23.AIRC": (-0.7112668, 0.1203449), "wmt23.GPT4-5shot": (0.2206067, 0.1198871)},
    ),
    "talks": Expected(
        {
            "annotator": 0.5391088, "annotator:system": 0.2396748, "document": 0.2987445, "segment": 1.1376559,
            "system:document": 0.2124877, "annotator:document": 0.0894214, "annotator:segment": 1.0114019,
            "page": 0.3773809, "residual": 2.0384033,
        },
        -16801.9265775,
        {"Facebook-AI": (-0.8491673, 0.3739612), "metricsystem2": (-1.4163743, 0.3751421)},
        "mixed-points",
    ),
}  # fmt: skip


def judgments_of(data: Path, name: str) -> Judgments:
    if name == "news cs-en":
        return read_released(data / "wmt21" / "newstest2021-toen", "wmt-da").for_pair("cs-en")
    if name == "talks":
        return adjudge.read(data / "mqm" / "mqm_ted_ende.tsv", format="mqm")
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
    # With one variance for all tastes, as in the formula that R was given.
    model = prepare(design_from(judgments_of(data, name), model=expected.model)).fit()
    assert model.converged
    assert {part.effect: part.sd for part in model.components} == pytest.approx(expected.sd, abs=6e-4)
    # The optimum is at least as high as where R's optimiser stopped, and not far from it.
    assert model.loglik is not None
    assert expected.loglik - 0.01 <= model.loglik <= expected.loglik + 0.1
    for system, (effect, error) in expected.systems.items():
        index = model.systems.index(system)
        assert model.effects[index] == pytest.approx(effect, abs=5e-4)
        assert model.se[index] == pytest.approx(error, abs=5e-4)
