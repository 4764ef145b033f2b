"""Where several systems share a screen: does a score depend on the output's place, or on what stands beside it?

Two columns join the systems in the model, both with mean 0:

    position   the place of the output on its screen: 0, 1, ...
    company    the effect of the best other system on the screen, from a fit without these columns

The mean of the others would be no use: within a screen it is nearly the system's own effect with the sign turned. With
the columns B, and P the projection that takes away systems and weighs by the inverse covariance of all other effects,
the slopes are b = inv(B'PB) B'Py with the covariance s^2 inv(B'PB) at the variances of the fit, and Satterthwaite's
degrees of freedom. Effects of systems with the columns in the model are t - G b, with the covariance C + G Var(b) G',
where G is what the systems explain of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.effects import ScreenEffect
from adjudge.mixed.equations import totals
from adjudge.table.judgments import POSITION
from adjudge.table.maths import Codes, Floats, student_quantile, two_sided
from adjudge.table.wording import say_p
from adjudge.work.tasks import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.mixed.design import Screens
    from adjudge.mixed.fit import MixedFit
    from adjudge.mixed.model import Model

COMPANY = "company"
LEVEL = 0.05
_TELLS_NOTHING = 1e-6
"""A column of which systems and the other effects leave less than this share cannot be told from them."""
MEANINGS = {
    POSITION: "how much higher a score is for each place further on the screen",
    COMPANY: "how much higher a score is for each point that the best other system on the screen is better",
}


def company_of(screens: Screens, system: Codes, effects: Floats) -> Floats:
    """The effect of the best other system on the screen of each row; NaN for rows that stood alone."""
    number = len(effects)
    key = np.where(screens.screen >= 0, screens.screen * number + system, -1)
    shown = np.unique(key[key >= 0])
    screen, which = np.divmod(shown, number)
    order = np.lexsort((-effects[which], screen))
    screen, which = screen[order], which[order]
    first = np.flatnonzero(np.diff(screen, prepend=-1))
    best = np.full(int(screens.screen.max()) + 1, -1)
    second = best.copy()
    best[screen[first]], second[screen[first]] = which[first], which[first + 1]
    beside = np.where(best[screens.screen] == system, second[screens.screen], best[screens.screen])
    return np.where(screens.screen >= 0, effects[beside], np.nan)


@dataclass(frozen=True, eq=False)
class ScreenFit:
    """The slopes of the columns in one model, and what they do to the effects of systems."""

    names: tuple[str, ...]
    slope: Floats
    covariance: Floats
    """Of the slopes."""
    df: Floats
    explained: Floats
    """What the systems explain of the columns: (systems, columns)."""

    def effects(self) -> tuple[ScreenEffect, ...]:
        """Each column with its test."""
        error = np.sqrt(np.diag(self.covariance))
        p, half = two_sided(self.slope / error, self.df), error * student_quantile(LEVEL / 2, self.df)
        numbers = np.column_stack([self.slope, error, self.df, p, self.slope - half, self.slope + half]).tolist()
        return tuple(
            ScreenEffect(name, slope, se, df, p_value, low, high, MEANINGS[name])
            for name, (slope, se, df, p_value, low, high) in zip(self.names, numbers, strict=True)
        )

    def corrected(self, fit: MixedFit) -> MixedFit:
        """The fit with the columns in it."""
        return replace(
            fit,
            effects=fit.effects - self.explained @ self.slope,
            covariance=fit.covariance + self.explained @ self.covariance @ self.explained.T,
        )


def fit_screens(model: Model, screens: Screens) -> ScreenFit | None:
    """Fit the slopes in a model at its variances; None where no column can be told from the systems."""
    prepared, fitted = model.prepared, model.fitted
    given = {POSITION: screens.position, COMPANY: company_of(screens, model.design.system, fitted.effects)}
    columns = {name: _centred(column, prepared.layout.rows) for name, column in given.items() if column is not None}
    scale, standard = prepared.standardised(None)
    with one_thread():
        evaluation = prepared.evaluated(standard, fitted.ratios)
        equations, layout = evaluation.equations, prepared.layout
        stacked = np.column_stack([standard, *columns.values()])
        products = equations.quadratic(totals(layout, stacked))
        names, places = _told_apart(tuple(columns), products[1:, 1:], (stacked[:, 1:] ** 2).sum(0))
        if not names:
            return None
        inside, beside = products[np.ix_(places, places)], stacked[:, places]
        inverse: Floats = np.linalg.inv(inside).astype(np.float64)
        explained = equations.solve(totals(layout, beside)).border[: len(model.design.systems)]
        # The variance of a slope moves with the ratio of an effect by the square of the effect in its own direction.
        directions = [equations.solve(totals(layout, (beside @ column)[:, None])) for column in inverse]
        moved = np.array([equations.squares(direction) for direction in directions])
    gradient = np.column_stack([np.ones(len(names)), moved / np.diag(inverse)[:, None]])
    spread = np.einsum("ck,kl,cl->c", gradient, fitted.degrees.spread, gradient)
    degrees = np.clip(2 / np.maximum(spread, 1e-300), 1.0, evaluation.freedom)
    return ScreenFit(
        names,
        inverse @ products[places, 0] * scale.sd,
        inverse * evaluation.residual_variance * scale.sd**2,
        degrees,
        explained,
    )


def _centred(column: Floats, rows: int) -> Floats:
    """A column with mean 0, and 0 where it is not known and for calibration items, which follow the rows."""
    whole = np.zeros(rows)
    whole[: len(column)] = np.nan_to_num(column - np.nanmean(column))
    return whole


def _told_apart(names: tuple[str, ...], inside: Floats, size: Floats) -> tuple[tuple[str, ...], list[int]]:
    """The columns of which enough is left beside systems, and their places behind the scores."""
    kept = [n for n in range(len(names)) if inside[n, n] > _TELLS_NOTHING * size[n] > 0]
    return tuple(names[n] for n in kept), [n + 1 for n in kept]


def notes_on_screens(effects: tuple[ScreenEffect, ...], *, corrected: bool) -> Iterator[str]:
    """Say which column matters."""
    for effect in effects:
        if effect.p >= LEVEL:
            continue
        size = f"{abs(effect.slope):.2f} {'higher' if effect.slope > 0 else 'lower'}"
        done = "the ranking takes this into account" if corrected else "--correct-screens takes this into account"
        known = f"({say_p(effect.p)})"
        if effect.name == POSITION:
            yield f"scores are {size} for each place further on the screen {known}; {done}"
        else:
            beside = "for each point that the best other output on the screen is better"
            yield f"scores are {size} {beside} {known}; {done}"
