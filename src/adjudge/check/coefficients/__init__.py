"""Coefficients of agreement, one file each. All have the form (observed - expected) / (1 - expected)."""

from adjudge.check.coefficients.bennett import bennett_s, random_clicker
from adjudge.check.coefficients.chance import above_chance
from adjudge.check.coefficients.cohen import cohen_kappa, pooled_cohen_kappa
from adjudge.check.coefficients.fleiss import fleiss_kappa
from adjudge.check.coefficients.krippendorff import alpha, nominal_alpha
from adjudge.check.coefficients.scott import scott_pi

__all__ = [
    "above_chance",
    "alpha",
    "bennett_s",
    "cohen_kappa",
    "fleiss_kappa",
    "nominal_alpha",
    "pooled_cohen_kappa",
    "random_clicker",
    "scott_pi",
]
