"""What a user can choose about parity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.audit.parity.resampling import RESAMPLES
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.audit.parity.counts import Ties


@dataclass(frozen=True, kw_only=True)
class ParitySettings:
    """What a user can choose."""

    contaminated: frozenset[str] | None = None
    """Segments (or `document:segment`) to look at on their own."""
    keys: Mapping[str, str] | None = None
    """The document of every segment, where the judgments do not say it."""
    ties: Ties = "half"
    margin: float | str | None = None
    """For scores: the largest difference that still counts as parity, in points or as a share of the scale (`5%`)."""
    resamples: int = RESAMPLES
    seed: int = DEFAULT_SEED
