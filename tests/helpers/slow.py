"""A slow, obviously right REML: the whole covariance matrix, textbook formulas (Searle, Casella, McCulloch 1992)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from adjudge.mixed.design import MixedDesign
from adjudge.mixed.effects import Effect

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SlowModel:
    y: Floats
    X: Floats
    shared: tuple[Floats, ...]
    """For every effect the matrix that is 1 where two rows have the same level."""

    def variance(self, components: Floats) -> Floats:
        V: Floats = components[-1] * np.eye(len(self.y))
        for component, matrix in zip(components[:-1], self.shared, strict=True):
            V = V + component * matrix
        return V

    def criterion(self, components: Floats) -> float:
        """-2 log restricted likelihood for variances (effects..., residual)."""
        return self.criterion_and_slope(components)[0]

    def criterion_and_slope(self, components: Floats) -> tuple[float, Floats]:
        """The criterion and its derivatives in the variances: tr(P V_k) - y' P V_k P y."""
        V = self.variance(components)
        inverse = np.linalg.inv(V)
        information = self.X.T @ inverse @ self.X
        P = inverse - inverse @ self.X @ np.linalg.solve(information, self.X.T @ inverse)
        Py = P @ self.y
        freedom = self.X.shape[0] - self.X.shape[1]
        logs = np.linalg.slogdet(V)[1] + np.linalg.slogdet(information)[1]
        matrices = (*self.shared, np.eye(len(self.y)))
        slope = np.array([np.vdot(P, matrix) - Py @ matrix @ Py for matrix in matrices])
        return float(logs + self.y @ Py + freedom * np.log(2 * np.pi)), slope

    def effects(self, components: Floats) -> Floats:
        inverse = np.linalg.inv(self.variance(components))
        return np.asarray(np.linalg.solve(self.X.T @ inverse @ self.X, self.X.T @ inverse @ self.y), dtype=np.float64)

    def covariance(self, components: Floats) -> Floats:
        information = self.X.T @ np.linalg.inv(self.variance(components)) @ self.X
        return np.asarray(np.linalg.inv(information), dtype=np.float64)

    def residual_variance(self, ratios: Floats) -> float:
        """The residual variance that fits best when the ratios are known."""
        inverse = np.linalg.inv(self.variance(np.append(ratios, 1.0)))
        rest = self.y - self.X @ self.effects(np.append(ratios, 1.0))
        return float(rest @ inverse @ rest / (self.X.shape[0] - self.X.shape[1]))

    def lowest(self, starts: list[Floats]) -> float:
        """The lowest criterion that a search over log variances finds from any of the starts."""

        def at(logs: Floats) -> tuple[float, Floats]:
            criterion, slope = self.criterion_and_slope(np.exp(logs))
            return criterion, slope * np.exp(logs)

        minima = [
            minimize(
                at,
                np.log(start),
                jac=True,
                method="L-BFGS-B",
                bounds=[(-15, 12)] * len(start),
                options={"maxiter": 200, "ftol": 1e-12, "gtol": 1e-6},
            )
            for start in starts
        ]
        return min(float(item.fun) for item in minima)


def slow_model(design: MixedDesign, effects: tuple[Effect, ...]) -> SlowModel:
    X = (design.system[:, None] == np.arange(len(design.systems))).astype(float)
    shared = tuple((effect.codes[:, None] == effect.codes[None, :]).astype(float) for effect in effects)
    return SlowModel(design.score, X, shared)
