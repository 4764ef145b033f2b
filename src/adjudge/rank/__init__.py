"""Ranking systems: one module per method, the same shape of result for all. `rank` is the main function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.core.errors import DataError, UsageError
from adjudge.core.rng import DEFAULT_SEED
from adjudge.rank.methods import DEFAULTS, METHODS, find_method

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments
    from adjudge.results.rank import Ranking

__all__ = ["METHODS", "RankSettings", "default_method", "rank"]

RELATIVE_PROTOCOLS = ("ranking", "pairwise")


@dataclass(frozen=True)
class RankSettings:
    """Settings that methods share; None leaves the choice to the method."""

    reference: Literal["include", "exclude"] | None = None
    lines: str | None = None
    level: float = 0.05
    significance: Literal["sign", "resample"] | None = None
    resamples: int | None = None
    zero_sd: Literal["drop", "zero"] = "drop"
    """What becomes of annotators whose scores are all equal: no z-score, or z = 0."""
    seed: int = DEFAULT_SEED


def rank(judgments: Judgments, *, method: str | None = None, settings: RankSettings | None = None) -> Ranking:
    """Rank the systems of one language pair.

    Args:
        judgments: the judgments; of one language pair and campaign.
        method: a name from `METHODS`; Bradley-Terry for relative judgments and the mixed model for scores if left out.
        settings: what methods share.

    Returns:
        Systems in rank order with rank sets, clusters, and every pair compared.
    """
    chosen = find_method(method or default_method(judgments))
    settings = settings or RankSettings()
    _check(settings)
    if chosen.judgments == "relative":
        from adjudge.rank.relative import rank_relative

        return rank_relative(judgments, chosen, settings)
    if settings.reference == "exclude":
        raise UsageError(f"{chosen.name} scores every system by itself; --reference exclude is for relative rankings")
    ranking: Ranking = chosen.load()(judgments, chosen, settings)
    return ranking


def default_method(judgments: Judgments) -> str:
    """The method for what the judgments are."""
    if not len(judgments):
        raise DataError("there are no judgments to rank; check the file and the filters")
    relative = any(protocol in RELATIVE_PROTOCOLS for protocol in judgments.protocols)
    return DEFAULTS["relative" if relative else "scores"]


def _check(settings: RankSettings) -> None:
    if not 0 < settings.level < 1:
        raise UsageError(f"--level is {settings.level:g}, it must lie between 0 and 1; the usual value is 0.05")
    if settings.resamples is not None and settings.resamples < 0:
        raise UsageError(f"--resamples is {settings.resamples}, it must be 0 or more")
    if settings.lines is not None:
        from adjudge.rank.lines import check_rule

        check_rule(settings.lines)
