"""The mixed model against R's lme4 and lmerTest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.mixed.design import design_from
from adjudge.mixed.fit import fit
from tests.helpers.mixed_make import campaign
from tests.helpers.released import read_released

LME4: dict[tuple[str, int], dict[str, Any]] = {
    ("pages", 11): {
        "sd": [6.2215922, 3.1569725, 0.0, 2.3676229, 4.4184325, 1.8055838, 6.3707949],
        "effects": [61.6595725, 60.2587317, 61.1023883, 53.6362365],
        "se": [2.87081379, 2.86979034, 2.87744538, 2.87582606],
        "loglik": -1820.89959196,
        "difference se": 2.22470876,
        "df": 31.61584,
    },
    ("segments", 12): {
        "sd": [6.8985397, 2.2618127, 2.7418814, 2.6476496, 3.5743373, 0.0, 6.1700876],
        "effects": [57.2379871, 60.9648212, 58.7079395, 60.3838488],
        "se": [3.04093905, 3.02403761, 3.04093725, 3.02249844],
        "loglik": -1412.86105129,
        "difference se": 1.89893035,
        "df": 28.31191,
    },
}


@pytest.mark.parametrize(("shape", "seed"), LME4)
def test_small_campaigns(shape: str, seed: int) -> None:
    """lme4 1.1-31 and lmerTest 3.1-3 on R 4.2.2, the judgments written as CSV:

    d <- read.csv("judgments.csv", colClasses = c("numeric", rep("character", 6)))
    d$task <- paste(d$annotator, d$task)
    d$segment <- paste(d$document, d$segment)
    d$page <- paste(d$task, d$screen)                      # pages
    d$page <- paste(d$task, d$document, d$system)          # segments: screens hold one segment each
    d$sd <- paste(d$system, d$document)
    m <- lmer(score ~ 0 + system + (1|annotator) + (1|task) + (1|document) + (1|segment) + (1|sd) + (1|page), d,
              control = lmerControl(calc.derivs = FALSE, optCtrl = list(xtol_abs = 1e-10, ftol_abs = 1e-12)))
    VarCorr(m); fixef(m); sqrt(diag(vcov(m))); logLik(m); contest1D(m, c(1, -1, 0, 0))

    lmerTest takes the observed information for the degrees of freedom, adjudge the average information.
    """
    expected = LME4[shape, seed]
    fitted = fit(design_from(campaign(shape, seed, systems=4, annotators=8, documents=10), model="mixed-plain"))
    assert fitted.converged
    np.testing.assert_allclose([component.sd for component in fitted.components], expected["sd"], atol=5e-4)
    np.testing.assert_allclose(fitted.effects, expected["effects"], atol=1e-4)
    np.testing.assert_allclose(fitted.se, expected["se"], atol=1e-4)
    assert fitted.loglik == pytest.approx(expected["loglik"], abs=1e-6)
    spread = fitted.covariance
    assert np.sqrt(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]) == pytest.approx(expected["difference se"], abs=1e-4)
    assert fitted.df[0, 1] == pytest.approx(expected["df"], rel=0.03)


GERMAN_ENGLISH = {
    "Borderline.4": (78.9451555, 1.40408869), "Facebook-AI.16": (78.8453095, 1.38408541),
    "HUMAN.0": (75.6394860, 1.40388836), "HuaweiTSC.6": (74.9146167, 1.39260370), "ICL.5": (78.5698566, 1.38157086),
    "Manifold.2": (77.2448761, 1.39891426), "Nemo.7": (76.9693229, 1.36569111),
    "Online-A.12": (78.7093788, 1.38337795), "Online-B.11": (77.6354108, 1.38240226),
    "Online-G.14": (78.5874957, 1.40954896), "Online-W.3": (78.8381241, 1.40296550),
    "Online-Y.1": (75.8801779, 1.37304895), "P3AI.18": (77.0926104, 1.40252838), "SMU.17": (75.7965288, 1.40788272),
    "UEdin.9": (76.3458374, 1.36864525), "UF.15": (78.5432507, 1.38201053), "VolcTrans-AT.0": (78.9937905, 1.37410290),
    "VolcTrans-GLAT.10": (76.9032850, 1.40217760), "Watermelon.13": (76.2173016, 1.40174976),
    "happypoet.8": (74.6674026, 1.39746123),
}  # fmt: skip


@pytest.mark.slow
def test_german_english_2021(data: Path) -> None:
    """lme4 1.1-31 on R 4.2.2, on the 25,645 undone scores of ad-deen-good-stnd-redup.csv, with

    d$page <- paste(d$annotator, d$task, d$screen)         # worker, HITId, rid
    d$sd <- paste(d$system, d$document)                    # documents: connected ranges of segments
    m <- lmer(score ~ 0 + system + (1|annotator) + (1|task) + (1|document) + (1|segment) + (1|sd) + (1|page), d,
              control = lmerControl(calc.derivs = FALSE, optCtrl = list(xtol_abs = 1e-10, ftol_abs = 1e-10)))

    which took 10.7 s of CPU and ended at REMLcrit(m) = 225828.768454.
    """
    judgments = read_released(data / "wmt21" / "newstest2021-toen", "wmt-da").for_pair("de-en")
    design = design_from(judgments, model="mixed-plain")
    assert len(design) == 25_645
    fitted = fit(design)
    assert fitted.converged
    expected = {"annotator": 10.91169, "task": 5.75766, "document": 2.05396, "segment": 6.16699,
                "system:document": 4.38735, "page": 3.17023, "residual": 18.52870}  # fmt: skip
    assert {component.effect: component.sd for component in fitted.components} == pytest.approx(expected, abs=0.001)
    names = tuple(GERMAN_ENGLISH)
    assert fitted.systems == names
    np.testing.assert_allclose(fitted.effects, [GERMAN_ENGLISH[name][0] for name in names], atol=0.001)
    np.testing.assert_allclose(fitted.se, [GERMAN_ENGLISH[name][1] for name in names], atol=0.001)
    # A criterion at most lme4's: the same optimum, or a slightly better one.
    assert fitted.loglik is not None
    assert -0.001 < 225828.768454 + 2 * fitted.loglik < 0.001
