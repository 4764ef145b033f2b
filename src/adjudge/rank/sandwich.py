"""A covariance from the residuals of clusters (annotators), with corrections for small numbers of them.

The sandwich of Liang and Zeger is too small where clusters are few or unequal. "CR2" of Bell and McCaffrey (2002)
multiplies each cluster's residual by a matrix that makes the sandwich unbiased under a working covariance, and gives
every contrast degrees of freedom by Satterthwaite's rule. As in Pustejovsky and Tipton (2018), for weighted fits:

    r_g = u_g - W_g delta,    Var(r_g) = W_g - W_g A+ W_g = B_g,    K_g B_g K_g = W_g,
    C = A+ (sum K_g r_g r_g' K_g) A+,

where u_g is the weighted score of cluster g with variance W_g, A the sum of all W_g and A+ its inverse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats


SMALLEST_SHARE = 1e-8
# Contrasts are taken in slices of about this many numbers, to bound memory.
SLICE = 4_000_000


def clustered_covariance(
    weights: Floats, residuals: Floats, inverse: Floats, contrasts: Floats
) -> tuple[Floats, Floats]:
    """The covariance by clusters, and the degrees of freedom of each contrast.

    Args:
        weights: W_g (clusters, n, n).
        residuals: r_g (clusters, n).
        inverse: A+ (n, n).
        contrasts: (contrasts, n), whose rows add up to 0.
    """
    correction = corrections(weights, inverse)
    corrected = np.einsum("gij,gj->gi", correction, residuals)
    covariance = inverse @ (corrected.T @ corrected) @ inverse
    step = max(1, SLICE // max(1, residuals.size))
    df = [
        _degrees(weights, correction, inverse, contrasts[start : start + step])
        for start in range(0, len(contrasts), step)
    ]
    return covariance, np.concatenate(df)


def corrections(weights: Floats, inverse: Floats) -> Floats:
    """K_g (clusters, n, n): symmetric, with K_g B_g K_g = W_g where B_g is the variance of the residual."""
    root = _power(weights, 0.5)
    left = weights - weights @ inverse @ weights
    return root @ _power(root @ left @ root, -0.5) @ root


def _power(matrices: Floats, exponent: float) -> Floats:
    """A power of symmetric matrices, of what is not 0 of them."""
    value, vector = np.linalg.eigh(matrices)
    seen = value > SMALLEST_SHARE * np.maximum(value[..., -1:], 1e-12)
    power = np.where(seen, np.maximum(value, 1e-300) ** exponent, 0.0)
    result: Floats = (vector * power[..., None, :]) @ np.swapaxes(vector, -1, -2)
    return result


def _degrees(weights: Floats, correction: Floats, inverse: Floats, contrasts: Floats) -> Floats:
    """Satterthwaite's degrees of freedom: (sum of variances)^2 / sum of squared covariances of p_g' r_g.

    With p_g = K_g A+ c the covariance of two clusters is d_g - q_g' q_g on the diagonal and -q_g' q_h off it, where
    d_g = p_g' W_g p_g and q_g = (A+)^(1/2) W_g p_g; so nothing of clusters times clusters is needed.
    """
    direction = np.einsum("gij,cj->cgi", correction, contrasts @ inverse)
    weighted = np.einsum("gij,cgj->cgi", weights, direction)
    own = (direction * weighted).sum(-1)
    shared = weighted @ _power(inverse, 0.5)
    length = (shared**2).sum(-1)
    crossed = np.einsum("cgi,cgj->cij", shared, shared, optimize=True)
    above = (own - length).sum(-1) ** 2
    below = (own**2 - 2 * own * length).sum(-1) + (crossed**2).sum((1, 2))
    degrees: Floats = np.maximum(above / np.maximum(below, 1e-300), 1.0)
    return degrees
