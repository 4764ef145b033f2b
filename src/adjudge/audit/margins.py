"""The margin of equivalence in points: the largest difference at which two systems count as equally good.

Three points are a convention of scales from 0 to 100. On a scale from 1 to 5 they would be most of it, so that any two
systems would be at parity: on another scale there is no margin unless the user gives one, in points or as a share of
the scale's spread (`5%`), which is the distance between its ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POINTS_OF_100 = 3.0
"""The margin where the scale is from 0 to 100 and none is given."""


@dataclass(frozen=True)
class Scale:
    """The ends of the scale on which scores were given."""

    low: float
    high: float

    @property
    def hundred(self) -> bool:
        """Whether the scale is from 0 to 100."""
        return (self.low, self.high) == (0.0, 100.0)

    @property
    def spread(self) -> float:
        """The distance between the ends."""
        return self.high - self.low


def scale_of(scores: NDArray[np.float64]) -> Scale:
    """The scale of the scores: 0 to 100 where they lie in it and reach above its middle, else their own ends."""
    low, high = float(scores.min()), float(scores.max())
    return Scale(0.0, 100.0) if low >= 0 and 50 < high <= 100 else Scale(low, high)


def check_margin(margin: float | str | None) -> None:
    """Refuse what is no margin."""
    if margin is not None:
        _parsed(margin)


def margin_in_points(margin: float | str | None, scores: NDArray[np.float64], *, default: bool = True) -> float | None:
    """The margin in points; None where none is given and the scale has no customary one.

    Args:
        margin: points, or a share of the scale's spread such as `5%`; None for the customary one.
        scores: all scores that were given, which tell the scale.
        default: whether there is a customary margin on a scale from 0 to 100.
    """
    scale = scale_of(scores)
    if margin is None:
        return POINTS_OF_100 if default and scale.hundred else None
    number, share = _parsed(margin)
    return number / 100 * scale.spread if share else number


def _parsed(margin: float | str) -> tuple[float, bool]:
    """The number, and whether it is a share of the scale's spread in percent."""
    text = str(margin).strip()
    share = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise UsageError(
            f"--margin is {margin}, it must be above 0: points such as 3, or a share of the scale such as 5%"
        )
    return number, share
